"""Whether agents and pool are calibrated: numbers, a test and a diagram."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.checks.reversal import (
    CHANCE,
    is_outcome_unrelated,
    relation_p_value,
)
from truepool.audits.comparison import (
    paired_comparisons,
    recommended_pool,
    surely_cheaper,
)
from truepool.audits.cross_validation import recalibrate
from truepool.audits.discrimination import discrimination
from truepool.audits.evidence import Evidence
from truepool.audits.feed_runs import single_reports
from truepool.audits.kinds import LIKELY
from truepool.audits.miscalibration import (
    class_bias,
    code_of,
    is_high,
    is_reversed,
    matters,
    measure,
)
from truepool.audits.reliability import calibration, worst_group
from truepool.audits.values import Calibration
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray

FAINT = 0.25
"""An agent claims at least four times what it knows where its slope is below this."""

# Evidence


def calibrations(evidence: Evidence) -> tuple[Calibration, ...]:
    """Calibration of every agent, of the pool and of the pool recalibrated."""
    pools = [(evidence.label, evidence.pooled)]
    if not evidence.shortage:
        p = evidence.compute(recalibrated_pool)
        pools.append((f"{evidence.label}, recalibrated", p))
    found = (_calibration(evidence, who, p, evidence.cases) for who, p in pools)
    return (*evidence.compute(agent_calibrations), *found)


def agent_calibrations(evidence: Evidence) -> tuple[Calibration, ...]:
    """Calibration of every agent, on all cases."""
    panel = evidence.panel
    return tuple(
        _calibration(evidence, agent, panel.values[:, i], np.arange(len(panel)))
        for i, agent in enumerate(panel.agents)
    )


def pool_calibration(evidence: Evidence) -> Calibration:
    """Calibration of the pool in use, on the tested cases."""
    return _calibration(evidence, evidence.label, evidence.pooled, evidence.cases)


def _calibration(
    evidence: Evidence, who: str, reports: FloatArray, cases: IntArray
) -> Calibration:
    """Compare probabilities of these cases with their outcomes, by their weights."""
    panel = evidence.panel.take(cases)
    return calibration(
        who,
        reports,
        panel.outcomes,
        evidence.level,
        panel.case_weights(),
        panel.groups,
        panel.questions,
        panel.propensity,
    )


def recalibrated_pool(evidence: Evidence) -> FloatArray:
    """Pooled probabilities, recalibrated as a pool would have been in use, (T', C).

    With times, by the cases that the comparison of pools learns from: earlier ones.
    """
    panel, validation = evidence.panel, evidence.validation
    if panel.times is None:
        return evidence.compute(levelled_pool)
    pooled = validation.pooled_everywhere
    moved = recalibrate(pooled, panel, evidence.seed, validation.folds)
    return moved[evidence.cases]


def levelled_pool(evidence: Evidence) -> FloatArray:
    """Pooled probabilities, recalibrated by random folds: right on the whole, (T', C).

    What is off after that is off in a part of the cases, and not in all of them.
    """
    tested = evidence.panel.take(evidence.cases)
    return recalibrate(evidence.pooled, tested, evidence.seed)


def unrelated_agents(evidence: Evidence) -> dict[int, Estimate]:
    """AUC of each agent that shows no relation to the outcome, by its number.

    It reports the same in all cases, or, with two classes, it does not rank cases
    significantly better or worse than chance, and either its AUC is surely near 1/2
    (below `CHANCE`), or it claims much more than it knows: the interval of its slope
    holds 0 and ends below `FAINT`. A weak agent that says no more than it knows has
    neither. There are none where the outcome itself is in doubt.
    """
    own = evidence.unsplit
    if evidence.shortage or own.compute(is_outcome_unrelated):
        return {}
    single = own.compute(single_reports)
    found = evidence.compute(agent_calibrations)
    return {
        i: discrimination(own, i)
        for i in range(len(own.panel.agents))
        if i in single or _is_unrelated(own, i, found[i])
    }


def _is_unrelated(evidence: Evidence, i: int, agent: Calibration) -> bool:
    panel = evidence.panel
    if (
        panel.classes > 2
        or agent.p_value is None
        or relation_p_value(panel, panel.values[:, i]) < LIKELY
    ):
        return False
    area, slope = discrimination(evidence, i, 1 - LIKELY), agent.slope
    none = 1 - CHANCE < area.low and area.high < CHANCE
    little = slope is not None and slope.low <= 0 and slope.high < FAINT
    return none or little


# Checks


def check_agents(evidence: Evidence) -> Iterator[Candidate]:
    """One test per agent: intercept 0 and slope 1 together."""
    unrelated = evidence.compute(unrelated_agents)
    for i, found in enumerate(evidence.compute(agent_calibrations)):
        if found.p_value is None or i in unrelated:
            continue
        code = code_of(found, evidence.panel.classes)
        facts = _facts(evidence, found)
        if code == "biased" and evidence.panel.classes > 2:
            by_class = class_bias(evidence.panel, i)
            facts |= {} if by_class is None else by_class | {"form": "class"}
        number, unit = measure(found)
        yield Candidate(
            code,
            (found.who,),
            facts,
            p_value=found.p_value,
            matters=matters(found),
            number=number,
            unit=unit,
            price=partial(recalibration_saving, evidence, i),
        )


def check_pool(evidence: Evidence) -> Iterator[Candidate]:
    """The same test of the pool.

    That it is under-confident, as means are, is no error: a better pool answers it.
    """
    found = evidence.compute(pool_calibration)
    if found.p_value is None:
        return
    code, (number, unit) = code_of(found, evidence.panel.classes), measure(found)
    if evidence.panel.classes > 2 and code == "biased" and not is_high(found):
        code = "under-confident"
    if is_reversed(found):
        code, number, unit = "reversed", found.slope, "slope"
    answered = recommended_pool(evidence) == evidence.in_use or surely_cheaper(evidence)
    low = code == "under-confident"
    yield Candidate(
        f"{code}-pool",
        facts=_facts(evidence, found) | {"pool": evidence.pool.name},
        p_value=found.p_value,
        most="note" if low and not answered else "error",
        matters=not low and matters(found),
        number=number,
        unit=unit,
        price=partial(_pool_saving, evidence),
    )


def _facts(evidence: Evidence, found: Calibration) -> dict[str, Any]:
    """What the reports of a group say, and how often it happened there."""
    classes = evidence.panel.classes
    form = "two" if classes == 2 else "many"
    shown = worst_group(found, classes, evidence.typical_line)
    return {"form": form, "high": is_high(found), **shown}


def recalibration_saving(evidence: Evidence, agent: int) -> Estimate | None:
    """What recalibrating this agent would save per case."""
    panel = evidence.panel
    pairs = None if panel.times is None else evidence.validation.all_pairs
    fixed = recalibrate(panel.values[:, agent], panel, evidence.seed, pairs)
    changed = evidence.with_reports(agent, fixed)
    return evidence.saving(evidence.cost - evidence.cost_of(changed))


def _pool_saving(evidence: Evidence) -> Estimate | None:
    """What recalibrating the pool would save per case; of a saved one, a new fit.

    Both decide at the threshold that the costs imply: another threshold is a separate
    finding, and the two savings add up.
    """
    if evidence.validation.saved:
        tests = {one.pool: one for one in evidence.compute(paired_comparisons)}
        again = tests.get(evidence.pool.name)
        return None if again is None else again.saved
    loss = evidence.implied_loss
    as_is, fixed = (
        loss.evaluate(pooled, evidence.outcomes)
        for pooled in (evidence.pooled, evidence.compute(recalibrated_pool))
    )
    return evidence.saving(as_is - fixed)


checks = (
    Check("calibration", check_agents),
    Check("calibration of the pool", check_pool, about="pool"),
)
