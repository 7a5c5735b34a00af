"""How the pool and the agents do within groups of cases: who fails where."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.checks.calibration import levelled_pool
from truepool.audits.evidence import Evidence
from truepool.audits.findings import scaled
from truepool.audits.kinds import LIKELY
from truepool.audits.miscalibration import bias_matters
from truepool.audits.reliability import calibration
from truepool.audits.skill_by_segment import SkillBySegment
from truepool.audits.values import PER_THOUSAND, Calibration, Segment
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.groups import describe_uneven, divide
from truepool.measures.inference import holm

Groups: TypeAlias = Sequence[tuple[str, IntArray]]
"""Groups by name, each with the places of its cases among the tested ones."""


def segments(evidence: Evidence) -> tuple[Segment, ...]:
    """How pool and agents do on the tested cases of each group, the largest first."""
    found = evidence.compute(skill_by_segment)
    agents = range(len(evidence.panel.agents))
    return tuple(
        replace(
            _segment(name, evidence.part(cases)),
            agents=tuple(found.summarize(i, g) for i in agents if found.judged[g]),
        )
        for g, (name, cases) in enumerate(_groups(evidence))
    )


def skill_by_segment(evidence: Evidence) -> SkillBySegment:
    """How well the agents do on the tested cases of each group."""
    groups = _groups(evidence)
    segment = np.zeros(len(evidence.cases), dtype=np.int64)
    for g, (_, cases) in enumerate(groups):
        segment[cases] = g
    judged = [describe_few(evidence.part(cases)) is None for _, cases in groups]
    return SkillBySegment(evidence, segment, np.array(judged, dtype=np.bool_))


def calibrate(part: Evidence) -> Calibration:
    """Calibration of the pool on the tested cases of a group."""
    panel = part.panel
    return calibration(
        part.label,
        part.pooled,
        panel.outcomes,
        part.level,
        panel.case_weights(),
        panel.groups,
        panel.questions,
        panel.propensity,
    )


def describe_few(part: Evidence) -> str | None:
    """Say why a group has too few cases to be judged; None if it has enough."""
    if part.shortage is not None or part.panel.propensity is None:
        return part.shortage
    return describe_uneven(part.outcomes, part.panel.propensity[part.cases])


def _segment(name: str, part: Evidence) -> Segment:
    outcomes = part.panel.outcomes[part.panel.one_row_each(part.cases)]
    counts = (name, len(outcomes), int((outcomes > 0).sum()))
    few = describe_few(part)
    if few:
        return Segment(*counts, few, weighted_share=part.unsplit.weighted_share)
    found = calibrate(part)
    return Segment(
        *counts,
        None,
        scaled(part.estimate(part.decision_cost), PER_THOUSAND),
        part.recall(part.decisions),
        found.bias,
        found.slope,
        part.unsplit.weighted_share,
    )


def _groups(evidence: Evidence) -> Groups:
    """Groups of the tested cases, the largest first."""
    if evidence.by is None:
        return []
    return divide(evidence.panel.columns[evidence.by][evidence.cases])


def check_pool(evidence: Evidence) -> Iterator[Candidate]:
    """One test of the pool: a bias within groups that recalibration as a whole leaves.

    It is the smallest p-value over the groups that have enough cases, after Holm's
    adjustment for their number. With more than two classes the bias of each is tested.
    """
    groups = _judged(evidence)
    if len(groups) < 2:
        return
    gaps = evidence.compute(levelled_pool) - _happened(evidence)
    tests = [evidence.part(cases).p_value(gap[cases]) for _, cases in groups
             for gap in gaps.T]  # fmt: skip
    adjusted = holm(np.array(tests)).reshape(len(groups), -1)
    worst = int(np.argmin(adjusted.min(axis=1)))
    found = np.flatnonzero(adjusted.min(axis=1) < LIKELY).tolist() or [worst]
    classes = adjusted.argmin(axis=1)
    rows = {g: _class_calibration(evidence, groups[g][1], classes[g]) for g in found}
    name, cases = groups[worst]
    part, k = evidence.part(cases), int(classes[worst])
    yield Candidate(
        "biased-segment",
        facts={
            "form": "two" if gaps.shape[1] == 1 else "many",
            "by": evidence.by,
            "segment": name,
            "name": str(evidence.panel.labels.names[k]),
            "said": part.mean(part.pooled[:, k]),
            "happened": part.mean(_happened(part)[:, k]),
            "others": tuple(groups[g][0] for g in found if g != worst),
        },
        p_value=float(adjusted.min()),
        matters=any(bias_matters(row) for row in rows.values()),
        number=rows[worst].bias,
        unit="bias-there",
        segments=tuple(groups[g][0] for g in found),
    )


def _judged(evidence: Evidence) -> Groups:
    """Groups that have enough cases."""
    judged = evidence.compute(skill_by_segment).judged
    return [group for g, group in enumerate(_groups(evidence)) if judged[g]]


def _happened(evidence: Evidence) -> FloatArray:
    """Whether what each coordinate of a report stands for happened, (T', C)."""
    if evidence.panel.classes == 2:
        return evidence.outcomes[:, None].astype(np.float64)
    return np.eye(evidence.panel.classes)[evidence.outcomes]


def _class_calibration(
    evidence: Evidence, cases: IntArray, coordinate: int
) -> Calibration:
    """Calibration of one coordinate of the pool on the tested cases of a group."""
    panel = evidence.panel.take(evidence.cases[cases])
    return calibration(
        evidence.label,
        evidence.pooled[cases][:, [coordinate]],
        _happened(evidence)[cases, coordinate].astype(np.int64),
        evidence.level,
        panel.case_weights(),
        panel.groups,
        panel.questions,
        panel.propensity,
    )


def check_agents(evidence: Evidence) -> Iterator[Candidate]:
    """One test per agent: does it do worse in some groups than elsewhere."""
    if len(_judged(evidence)) < 2:
        return
    found = evidence.compute(skill_by_segment)
    names = [name for name, _ in _groups(evidence)]
    for i, agent in enumerate(evidence.panel.agents):
        weak = found.find_weak(i)
        failing = tuple(name for name, w in zip(names, weak.failing, strict=True) if w)
        others = tuple(name for name in names if name not in failing)
        cases = np.flatnonzero(weak.failing[found.segment])
        yield Candidate(
            "fails-in-segment",
            (agent,),
            {
                "form": "only" if weak.only else weak.measure,
                "by": evidence.by,
                "there": weak.there,
                "elsewhere": weak.elsewhere,
                "failing": failing,
                "others": others,
            },
            p_value=weak.p_value,
            number=weak.change,
            unit="auc-there" if weak.measure == "AUC" else "skill-there",
            price=partial(evidence.saving_without, i, evidence.cases[cases]),
            segments=others if weak.only else failing,
        )


checks = (
    Check("segments", check_agents, few_cases=True),
    Check("bias within segments", check_pool, about="pool", few_cases=True),
)
