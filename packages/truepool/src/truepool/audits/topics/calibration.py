"""Whether agents and pool are calibrated: numbers, a test and a diagram."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from truepool.audits import miscalibration
from truepool.audits.attribution import AGENT_FAULTS
from truepool.audits.candidate import Candidate
from truepool.audits.cross_validation import recalibrate
from truepool.audits.discrimination import discrimination
from truepool.audits.evidence import Evidence
from truepool.audits.feed_runs import past_runs, single_reports
from truepool.audits.miscalibration import (
    UNDER,
    class_bias,
    describe,
    is_reversed,
    matters,
    measure,
    share_gone,
)
from truepool.audits.reliability import calibration, worst_group
from truepool.audits.severity import LIKELY, RUN
from truepool.audits.topic import Topic
from truepool.audits.topics.comparison import (
    correcting_pool,
    costs_more,
    paired_comparisons,
    recommended_pool,
    surely_cheaper,
)
from truepool.audits.topics.reversal import (
    CHANCE,
    outcome_doubt,
    relation_p_value,
)
from truepool.audits.values import Calibration, Finding
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray
from truepool.measures.losses import Loss

FAINT = 0.25
"""An agent claims at least four times what it knows where its slope is below this."""

# Evidence


def calibrations(evidence: Evidence) -> tuple[Calibration, ...]:
    """Calibration of every agent, of the pool and of the pool recalibrated."""
    panel = evidence.panel
    agents = [
        _calibration(evidence, agent, panel.values[:, i], np.arange(len(panel)))
        for i, agent in enumerate(panel.agents)
    ]
    pools = [(evidence.label, evidence.pooled)]
    if not evidence.shortage:
        p = evidence.compute(recalibrated_pool)
        pools.append((f"{evidence.label}, recalibrated", p))
    cases = evidence.cases
    return (*agents, *(_calibration(evidence, who, p, cases) for who, p in pools))


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
    if evidence.shortage or own.compute(outcome_doubt):
        return {}
    single = own.compute(single_reports)
    return {
        i: discrimination(own, i)
        for i in range(len(own.panel.agents))
        if i in single or _is_unrelated(own, i, evidence.compute(calibrations)[i])
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


# Check


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test per agent and one of the pool: intercept 0 and slope 1 together."""
    *agents, pool = evidence.compute(calibrations)[: len(evidence.panel.agents) + 1]
    unrelated = evidence.compute(unrelated_agents)
    for i, found in enumerate(agents):
        if found.p_value is not None and i not in unrelated:
            yield _agent(evidence, i, found)
    if pool.p_value is None:
        return
    if _lags(pool, evidence.panel.classes) and not is_reversed(pool):
        yield _under_confident(evidence, agents, pool)
    else:
        yield _miscalibrated(evidence, pool)


def _lags(pool: Calibration, classes: int) -> bool:
    """Whether a pool is under-confident, as means are; of K classes, in its mean."""
    code, _ = describe(pool, classes)
    low = pool.bias is not None and pool.bias.value < 0
    return code == "under-confident" or (classes > 2 and code == "biased" and low)


def _agent(evidence: Evidence, i: int, found: Calibration) -> Candidate:
    code, words = describe(found, evidence.panel.classes)
    where = worst_group(found, evidence.panel.classes, evidence.typical_line)
    if code == "biased" and evidence.panel.classes > 2:
        words, where = class_bias(evidence.panel, i) or (words, where)
    number, unit = measure(found)
    return Candidate(
        code,
        (found.who,),
        f"{found.who} {words}: {where}.",
        f"Ask whoever runs {found.who} to recalibrate it.",
        p_value=found.p_value,
        matters=matters(found),
        number=number,
        unit=unit,
        price=partial(recalibration_saving, evidence, i),
        figure="reliability",
        share=partial(_share_since, evidence, i),
        backfires=miscalibration.BACKFIRES,
        indifferent=miscalibration.INDIFFERENT,
        tail=partial(name_stacking, evidence),
    )


def _under_confident(
    evidence: Evidence, agents: Sequence[Calibration], found: Calibration
) -> Candidate:
    """Averaging causes under-confidence: a warning where a better pool costs less."""
    sound = all(one.p_value is None or one.p_value >= LIKELY for one in agents)
    if sound and evidence.pool.name == "mean":
        start = f"Every agent is calibrated, yet their mean {UNDER}"
    else:
        start = f"The pool ({evidence.pool.name}) {UNDER}"
    where = worst_group(found, evidence.panel.classes, evidence.typical_line)
    number, unit = measure(found)
    last = recommended_pool(evidence) == evidence.in_use
    return Candidate(
        "under-confident-pool",
        (),
        f"{start}: {where}.",
        _cure(
            evidence,
            "Recalibrate the pool: `platt` or `beta` around the mean learn how far to "
            "move it (Ranjan & Gneiting 2010), as in `truepool fit --pool platt`.",
        ),
        p_value=found.p_value,
        matters=False,
        most="warning" if last or surely_cheaper(evidence) else "note",
        number=number,
        unit=unit,
        price=partial(_pool_saving, evidence),
        figure="reliability",
        **_otherwise(evidence),
    )


def _miscalibrated(evidence: Evidence, found: Calibration) -> Candidate:
    code, words = describe(found, evidence.panel.classes)
    where = worst_group(found, evidence.panel.classes, evidence.typical_line)
    advice = _cure(
        evidence,
        "Recalibrate the pool: `truepool fit --pool platt` (or `isotonic`) learns how "
        "far to move the mean.",
    )
    number, unit = measure(found)
    otherwise = _otherwise(evidence)
    if is_reversed(found):
        otherwise = {}
        code, words, advice = "reversed", "is reversed", miscalibration.REVERSED_POOL
        where = "the higher its probability, the less likely the event"
        number, unit = found.slope, "calibration slope"
    return Candidate(
        f"{code}-pool",
        (),
        f"The pool ({evidence.pool.name}) {words}: {where}.",
        advice,
        p_value=found.p_value,
        matters=matters(found),
        number=number,
        unit=unit,
        price=partial(_pool_saving, evidence),
        figure="reliability",
        explained_by=AGENT_FAULTS,
        share=partial(_share_of_agents, evidence),
        joint=True,
        **otherwise,
    )


def _cure(evidence: Evidence, usual: str) -> str:
    """Say how a pool is corrected: one that was saved is fitted again."""
    if not evidence.validation.saved:
        return usual
    name = evidence.pool.name
    return f"Fit {name} again, on cases up to now: `truepool fit --pool {name}`."


def _otherwise(evidence: Evidence) -> dict[str, Any]:
    """Say what to do where correcting the pool would not save anything."""
    if evidence.validation.saved:
        kept = "Fitting it again makes no significant difference to the cost."
        return {"backfires": kept, "indifferent": kept}
    return {
        "backfires": miscalibration.POOL_BACKFIRES,
        "indifferent": miscalibration.POOL_INDIFFERENT,
        "tail": partial(_platt, evidence),
    }


def name_stacking(evidence: Evidence, saving: Estimate | None) -> str:
    """Name a pool that corrects agents, if it costs no more and is not in use."""
    pool = correcting_pool(evidence)
    return "" if pool is None else miscalibration.ALL_AT_ONCE.format(pool)


def _platt(evidence: Evidence, saving: Estimate | None) -> str:
    """Say what recalibration does for the probabilities where it saves nothing."""
    if saving is None or saving.value > 0:
        return miscalibration.keep_pool(evidence.pool, costs_more(evidence, "platt"))
    before, after = (
        evidence.mean(Loss("log").evaluate(pooled, evidence.outcomes))
        for pooled in (evidence.pooled, evidence.compute(recalibrated_pool))
    )
    return miscalibration.CORRECTED if after < before else miscalibration.NOT_CORRECTED


def _share_since(evidence: Evidence, agent: int, causes: Sequence[Finding]) -> float:
    """Share of the agent's miscalibration that was not there before these causes.

    All of it where a cause has no date, or too few cases came before it. Of a run that
    is over, what is not there outside the run.
    """
    panel = evidence.panel
    who = panel.agents[agent]
    if all(cause.code == RUN for cause in causes):
        run = evidence.compute(past_runs)[who]
        sound = np.setdiff1d(np.arange(len(panel)), run)
    else:
        sound = evidence.before(min(cause.since or 0 for cause in causes))
    without = _calibration(evidence, who, panel.values[sound, agent], sound)
    return share_gone(evidence.compute(calibrations)[agent], without)


def _share_of_agents(evidence: Evidence, causes: Sequence[Finding]) -> float:
    """Share of the pool's miscalibration that recalibrating these agents removes.

    The pools stay as they are; for linear ones this is weight times bias. Of an agent
    whose feed was constant for a while, the reports of that time are left out instead.
    """
    panel, cases = evidence.panel, evidence.cases
    values = panel.values.copy()
    for who in dict.fromkeys(cause.who[0] for cause in causes):
        agent = panel.agents.index(who)
        if all(cause.code == RUN for cause in causes if cause.who[0] == who):
            values[evidence.compute(past_runs)[who], agent] = np.nan
        else:
            values[:, agent] = recalibrate(values[:, agent], panel, evidence.seed)
    pooled = evidence.validation.predict(values[cases], cases)
    now = evidence.compute(calibrations)[len(panel.agents)]
    return share_gone(now, _calibration(evidence, now.who, pooled, cases))


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


topic = Topic("calibration", check)
