"""How the pool and the agents do within groups of cases: who fails where."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.cross_validation import recalibrate
from truepool.audits.evidence import Evidence
from truepool.audits.miscalibration import bias_matters
from truepool.audits.reliability import calibration
from truepool.audits.severity import LIKELY
from truepool.audits.skill_by_segment import SkillBySegment, WeakSegments
from truepool.audits.topic import Topic
from truepool.audits.topics.calibration import levelled_pool
from truepool.audits.values import Calibration, Segment
from truepool.core.arrays import FloatArray, IntArray, case_mean
from truepool.core.formatting import join_names, number, percent
from truepool.measures.groups import describe_uneven, divide
from truepool.measures.inference import holm

EMPTY = (
    "of the table to fit and of every table to score: an empty cell is a missing "
    "report, and the pool goes by the other agents there."
)
"""How an agent is left out in some segments only."""

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
        part.estimate(part.decision_cost),
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


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test of the pool and one of each agent, of a difference between groups.

    Each is the smallest p-value over the groups that have enough cases, after Holm's
    adjustment for their number, and that of the measures.
    """
    judged = evidence.compute(skill_by_segment).judged
    groups = [group for g, group in enumerate(_groups(evidence)) if judged[g]]
    if len(groups) < 2:
        return
    yield from _pool(evidence, groups)
    yield from _agents(evidence)


def _pool(evidence: Evidence, groups: Groups) -> Iterator[Candidate]:
    """Suspect the pool of a bias within groups that recalibration as a whole leaves.

    With more than two classes the bias of each class is tested. Agents are named who
    are biased there themselves, unless all are: then the segment is what is special.
    """
    gaps = evidence.compute(levelled_pool) - _happened(evidence)
    tests = [evidence.part(cases).p_value(gap[cases]) for _, cases in groups
             for gap in gaps.T]  # fmt: skip
    adjusted = holm(np.array(tests)).reshape(len(groups), -1)
    worst = int(np.argmin(adjusted.min(axis=1)))
    found = np.flatnonzero(adjusted.min(axis=1) < LIKELY).tolist() or [worst]
    classes = adjusted.argmin(axis=1)
    places = [(*groups[g], int(classes[g])) for g in found]
    off: list[list[int]] = [[] for _ in found]
    if adjusted.min() < LIKELY:
        off = _biased_agents(evidence, gaps, places)
    told = [
        _bias(evidence, *place, own) for place, own in zip(places, off, strict=True)
    ]
    rows = {g: _class_calibration(evidence, groups[g][1], classes[g]) for g in found}
    what = "positives" if gaps.shape[1] == 1 else _name(evidence, classes[worst])
    agents = sorted({i for own in off for i in own})
    where = {
        evidence.panel.agents[i]: [
            name for (name, _, _), own in zip(places, off, strict=True) if i in own
        ]
        for i in agents
    }
    yield Candidate(
        "biased-segment",
        tuple(where) if len(where) == 1 else (),
        f"The pool is biased within segments of {evidence.by}: {'; '.join(told)}.",
        _advise(str(evidence.by), where),
        p_value=float(adjusted.min()),
        matters=any(bias_matters(row) for row in rows.values()),
        most="warning",
        number=rows[worst].bias,
        unit=f"mean report minus share of {what} in {groups[worst][0]}",
        figure="segments",
        explained_by=("fails-in-segment",),
        segments=tuple(groups[g][0] for g in found),
    )


def _happened(evidence: Evidence) -> FloatArray:
    """Whether what each coordinate of a report stands for happened, (T', C)."""
    if evidence.panel.classes == 2:
        return evidence.outcomes[:, None].astype(np.float64)
    return np.eye(evidence.panel.classes)[evidence.outcomes]


def _name(evidence: Evidence, coordinate: int) -> str:
    return str(evidence.panel.labels.names[coordinate])


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


def _biased_agents(
    evidence: Evidence, gaps: FloatArray, places: Sequence[tuple[str, IntArray, int]]
) -> list[list[int]]:
    """Agents who are biased in each of these segments in the same way as the pool.

    Both as they report and, like the pool, recalibrated as a whole: what is wrong
    everywhere is another finding, and correcting it biases them elsewhere. Tests are
    adjusted for the number of agents and segments (Holm). None where all are biased.
    """
    panel, happened = evidence.panel, _happened(evidence)
    tests = np.ones((len(places), len(panel.agents)))
    for i in range(len(panel.agents)):
        levelled = recalibrate(panel.values[:, i], panel, evidence.seed)
        for row, (_, cases, k) in enumerate(places):
            known = cases[~np.isnan(levelled[evidence.cases[cases], k])]
            part = evidence.part(known)
            if part.shortage is not None:
                continue
            sign = evidence.part(cases).mean(gaps[cases, k])
            own = [reports[evidence.cases[known], k] - happened[known, k]
                   for reports in (panel.values[:, i], levelled)]  # fmt: skip
            if all(part.mean(gap) * sign > 0 for gap in own):
                tests[row, i] = max(part.p_value(gap) for gap in own)
    found = holm(tests.ravel()).reshape(tests.shape) < LIKELY
    return [[] if row.all() else np.flatnonzero(row).tolist() for row in found]


def _bias(
    evidence: Evidence, name: str, cases: IntArray, coordinate: int, off: Sequence[int]
) -> str:
    """Say how biased the pool is in a segment, and which agents are."""
    part = evidence.part(cases)
    said = percent(part.mean(part.pooled[:, coordinate]))
    rate = percent(part.mean(_happened(part)[:, coordinate]))
    own = ""
    if off:
        agents = [
            f"{evidence.panel.agents[i]} says {_mean_report(part, i, coordinate)}"
            for i in off
        ]
        one = len(evidence.panel.agents) - len(off) == 1
        rest = "the other agent is" if one else "the other agents are"
        own = f" ({join_names(agents)}; {rest} not significantly biased there)"
    if evidence.panel.classes == 2:
        return f"in {name} it says {said} on average, {rate} were positive{own}"
    what = _name(evidence, coordinate)
    return f"in {name} it gives {what} {said} on average, {rate} were {what}{own}"


def _mean_report(part: Evidence, agent: int, coordinate: int) -> str:
    """Mean report of an agent on the cases of a segment."""
    reports = part.panel.values[:, agent, coordinate]
    known = np.flatnonzero(~np.isnan(reports))
    return percent(float(case_mean(reports[known], part.weights_of(known))))


def _advise(by: str, where: Mapping[str, Sequence[str]]) -> str:
    """Advise on a biased segment: first on the agents who are biased there, if any."""
    whole = f"it one pool for each segment of {by} (`truepool fit` on its rows)"
    if not where:
        return f"F{whole}, or give the agents what sets these cases apart."
    asked = " ".join(
        f"Have whoever runs {agent} look at what it reports where {by} is "
        f"{join_names(names)}."
        for agent, names in where.items()
    )
    return f"{asked} Until that is fixed, or if it cannot be, f{whole}."


def _agents(evidence: Evidence) -> Iterator[Candidate]:
    """Suspect an agent of doing worse in some groups than elsewhere."""
    found = evidence.compute(skill_by_segment)
    names = [name for name, _ in _groups(evidence)]
    for i in range(len(evidence.panel.agents)):
        weak = found.find_weak(i)
        failing = [name for name, w in zip(names, weak.failing, strict=True) if w]
        others = [name for name in names if name not in failing]
        words = _only(evidence, i, weak, others) if weak.only else None
        sentence, advice, backfires = words or _worse(evidence, i, weak, failing)
        cases = np.flatnonzero(weak.failing[found.segment])
        yield Candidate(
            "fails-in-segment",
            (evidence.panel.agents[i],),
            sentence,
            advice,
            p_value=weak.p_value,
            number=weak.change,
            unit=f"{weak.measure} where it fails minus elsewhere",
            price=partial(evidence.saving_without, i, evidence.cases[cases]),
            backfires=backfires,
            figure="segments",
            segments=tuple(others if weak.only else failing),
        )


def _worse(
    evidence: Evidence, agent: int, weak: WeakSegments, failing: Sequence[str]
) -> tuple[str, str, str]:
    """Sentence, advice, and the advice where that would cost more."""
    who, by = evidence.panel.agents[agent], evidence.by
    where = f"where {by} is {join_names(failing)}"
    what = (
        "AUC is"
        if weak.measure == "AUC"
        else f"{weak.measure}, after recalibration on the other segments, is"
    )
    others = "agents" if len(evidence.panel.agents) > 2 else "agent"
    return (
        f"{who} does worse {where} than elsewhere, compared with the other {others} on "
        f"the same cases: its {what} {number(weak.there)} there and "
        f"{number(weak.elsewhere)} elsewhere.",
        f"Have whoever runs {who} fix it {where}. Until then, leave its reports empty "
        f"in those rows, {EMPTY} Or fit one pool per segment of {by}.",
        f"Have whoever runs {who} look at it {where}. Do not just leave it out there: "
        "on these cases that alone would cost more.",
    )


def _only(
    evidence: Evidence, agent: int, weak: WeakSegments, good: Sequence[str]
) -> tuple[str, str, str]:
    """Say the same of an agent that is good in few groups, and no use elsewhere."""
    who, by = evidence.panel.agents[agent], evidence.by
    where = f"{by} is {join_names(good)}"
    return (
        f"{who} tells positives from negatives only where {where}: its AUC is "
        f"{number(weak.elsewhere)} there and {number(weak.there)} elsewhere, and 0.5 "
        "is chance.",
        f"Keep {who} where {where}, and leave its reports empty in all other rows, "
        f"{EMPTY} Do not leave it out altogether, and do not recalibrate it as a "
        f"whole. Or fit one pool per segment of {by}.",
        f"Have whoever runs {who} look at the cases outside of where {where}. Do not "
        "just leave it out there: on these cases that alone would cost more.",
    )


topic = Topic("segments", check, few_cases=True)
