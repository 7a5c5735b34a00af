"""How the pool and the agents do within groups of cases: who fails where."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.special import stdtr

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.miscalibration import bias_matters
from truepool.audits.severity import LIKELY
from truepool.audits.topic import Topic
from truepool.audits.topics.calibration import calibration, recalibrated_pool
from truepool.audits.values import Calibration, Segment
from truepool.core.arrays import BoolArray, FloatArray, IntArray
from truepool.core.formatting import percent
from truepool.measures.groups import FEWEST_CASES, divide
from truepool.measures.inference import holm, independent_units
from truepool.measures.losses import Loss

Groups: TypeAlias = Sequence[tuple[str, IntArray]]
"""Groups by name, each with the places of its cases among the tested ones."""


def segments(evidence: Evidence) -> tuple[Segment, ...]:
    """How the pool does on the tested cases of each group, the largest first."""
    return tuple(
        _segment(name, evidence.part(cases)) for name, cases in _groups(evidence)
    )


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
    )


def _segment(name: str, part: Evidence) -> Segment:
    outcomes = part.panel.outcomes[part.panel.one_row_each(part.cases)]
    counts = (name, len(outcomes), int((outcomes > 0).sum()))
    if part.shortage:
        return Segment(
            *counts, part.shortage, weighted_share=part.unsplit.weighted_share
        )
    found = calibrate(part)
    return Segment(
        *counts,
        None,
        part.estimate(part.cost),
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
    adjustment for their number.
    """
    known = {s.group for s in evidence.compute(segments) if s.shortage is None}
    groups = [(name, cases) for name, cases in _groups(evidence) if name in known]
    if len(groups) < 2:
        return
    yield from _pool(evidence, groups)
    yield from _agents(evidence, groups)


def _pool(evidence: Evidence, groups: Groups) -> Iterator[Candidate]:
    """Suspect the pool of a bias within groups that recalibration as a whole leaves.

    With more than two classes the bias of each class is tested.
    """
    gaps = evidence.compute(recalibrated_pool) - _happened(evidence)
    tests = [evidence.part(cases).p_value(gap[cases]) for _, cases in groups
             for gap in gaps.T]  # fmt: skip
    adjusted = holm(np.array(tests)).reshape(len(groups), -1)
    worst = int(np.argmin(adjusted.min(axis=1)))
    found = np.flatnonzero(adjusted.min(axis=1) < LIKELY).tolist() or [worst]
    classes = adjusted.argmin(axis=1)
    told = [_bias(evidence, *groups[g], classes[g]) for g in found]
    rows = {g: _class_calibration(evidence, groups[g][1], classes[g]) for g in found}
    what = "positives" if gaps.shape[1] == 1 else _name(evidence, classes[worst])
    yield Candidate(
        "biased-segment",
        (),
        f"The pool is biased within segments of {evidence.by}: {'; '.join(told)}.",
        f"Fit one pool for each segment of {evidence.by} (`truepool fit` on its rows), "
        "or give the agents what sets these cases apart.",
        p_value=float(adjusted.min()),
        matters=any(bias_matters(row) for row in rows.values()),
        most="warning",
        number=rows[worst].bias,
        unit=f"mean report minus share of {what} in {groups[worst][0]}",
        figure="segments",
        explained_by=("fails-in-segment",),
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
    )


def _bias(evidence: Evidence, name: str, cases: IntArray, coordinate: int) -> str:
    part = evidence.part(cases)
    said = percent(part.mean(part.pooled[:, coordinate]))
    rate = percent(part.mean(_happened(part)[:, coordinate]))
    if evidence.panel.classes == 2:
        return f"in {name} it says {said} on average, {rate} were positive"
    what = _name(evidence, coordinate)
    return f"in {name} it gives {what} {said} on average, {rate} were {what}"


def _agents(evidence: Evidence, groups: Groups) -> Iterator[Candidate]:
    """Suspect an agent of doing worse against the others in some groups than outside.

    What is found first is left out of the comparison before the others are judged: they
    would look better there, and so worse everywhere else.
    """
    losses = evidence.compute(_losses)
    p_values = np.ones((losses.shape[1], len(groups)))
    fine = np.ones(p_values.shape, dtype=np.bool_)
    reference = losses.copy()
    while True:
        tests = _tests(evidence, losses, reference, groups)
        p_values[fine] = tests[fine]
        i, g = divmod(int(np.argmin(np.where(fine, tests, 1.0))), len(groups))
        if tests[i, g] * tests.size >= LIKELY or not fine[i, g]:
            break
        fine[i, g] = False
        reference[groups[g][1], i] = np.nan
    for i, who in enumerate(evidence.panel.agents):
        adjusted = holm(p_values[i])
        found = [g for g, p in enumerate(adjusted) if p < LIKELY]
        chosen = found or [int(np.argmin(adjusted))]
        where = " and ".join(groups[g][0] for g in chosen)
        cases = np.concatenate([groups[g][1] for g in chosen])
        yield Candidate(
            "fails-in-segment",
            (who,),
            f"{who} does worse where {evidence.by} is {where} than elsewhere, compared "
            "with the other agents on the same cases.",
            f"Have whoever runs {who} fix it where {evidence.by} is {where}. Until "
            "then, leave its reports empty in those rows, of the table to fit and of "
            "every table to score: an empty cell is a missing report, and the pool "
            "goes by the other agents there. Or fit one pool per segment of "
            f"{evidence.by}.",
            p_value=float(adjusted.min()),
            price=partial(evidence.saving_without, i, evidence.cases[cases]),
            backfires=f"Have whoever runs {who} look at it where {evidence.by} is "
            f"{where}. Do not just leave it out there: on these cases that alone would "
            "cost more.",
            figure="segments",
        )


def _losses(evidence: Evidence) -> FloatArray:
    """Brier loss of each agent on each tested case, (T', N); NaN: no report."""
    values, loss = evidence.panel.values[evidence.cases], Loss("brier")
    agents = range(values.shape[1])
    return np.stack(
        [loss.evaluate(values[:, i], evidence.outcomes) for i in agents], axis=1
    )


def _tests(
    evidence: Evidence, losses: FloatArray, reference: FloatArray, groups: Groups
) -> FloatArray:
    """P-values (N, G) of agents whose lead over the others shrinks in a group.

    1 where the agent's own loss is not higher there than elsewhere. Cases count by
    their weights, and those of one customer together.
    """
    known = ~np.isnan(reference)
    others = known.sum(axis=1, keepdims=True) - known
    total = np.nansum(reference, axis=1, keepdims=True) - np.nan_to_num(reference)
    mean = np.where(others > 0, total / np.maximum(others, 1), np.nan)
    gaps = losses - mean
    tests = np.ones((losses.shape[1], len(groups)))
    for g, (_, cases) in enumerate(groups):
        inside = np.zeros(len(losses), dtype=np.bool_)
        inside[cases] = True
        for i in range(losses.shape[1]):
            known = ~np.isnan(gaps[:, i])
            parts = inside & known, ~inside & known
            if min(part.sum() for part in parts) < FEWEST_CASES:
                continue
            series = np.stack([losses[:, i], gaps[:, i]], axis=1)
            there, elsewhere = (_units(evidence, series, part) for part in parts)
            if there[:, 0].mean() > elsewhere[:, 0].mean():
                tests[i, g] = _welch(there[:, 1], elsewhere[:, 1])
    return tests


def _units(evidence: Evidence, series: FloatArray, part: BoolArray) -> FloatArray:
    """Independent parts (U, M) of the means of series (T', M) over some cases."""
    weights, together = evidence.panel.case_weights(), evidence.panel.groups
    cases = evidence.cases[part]
    return independent_units(
        series[part],
        None if weights is None else weights[cases],
        None if together is None else together[cases],
    )


def _welch(first: FloatArray, second: FloatArray) -> float:
    """One-sided p-value of a higher mean in the first series (Welch 1947)."""
    errors = np.array([x.var(ddof=1) / len(x) for x in (first, second)])
    total = float(errors.sum())
    gap = float(first.mean() - second.mean())
    if total == 0:
        return 1.0 if gap <= 0 else 0.0
    freedom = total**2 / (errors**2 / (np.array([len(first), len(second)]) - 1)).sum()
    return float(stdtr(freedom, -gap / np.sqrt(total)))


topic = Topic("segments", check, few_cases=True)
