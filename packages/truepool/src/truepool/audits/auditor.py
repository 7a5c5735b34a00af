"""The audit: collect the evidence, run the check of every topic, sort the findings."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from truepool.audits import late_outcomes, leaks, topics
from truepool.audits.candidate import Candidate
from truepool.audits.cross_validation import CrossValidation
from truepool.audits.evidence import Evidence
from truepool.audits.findings import select_findings
from truepool.audits.late_outcomes import (
    find_late_outcomes,
    without_late_outcomes,
)
from truepool.audits.leaks import (
    check_trusted,
    find_suspects,
    without_suspects,
)
from truepool.audits.operation import cases_per_month, operations, scaled
from truepool.audits.priorities import in_order
from truepool.audits.progress import check_earlier, compare_audits
from truepool.audits.recommendation import is_outcome_in_doubt, recommend
from truepool.audits.severity import LATE, MINOR
from truepool.audits.topics import outcome_rate
from truepool.audits.topics import threshold as threshold_topic
from truepool.audits.topics.calibration import calibrations
from truepool.audits.topics.capacity import at_capacity
from truepool.audits.topics.comparison import (
    compare_pools,
    paired_comparisons,
    recommended_pool,
    try_pools,
)
from truepool.audits.topics.credit import summarize_agents
from truepool.audits.topics.drift import drift_over_time
from truepool.audits.topics.segments import segments
from truepool.audits.topics.threshold import cost_curve
from truepool.audits.values import AgentSummary, Audit, Finding, Recommendation
from truepool.audits.worth import agent_worth
from truepool.core.engine import Engine, one_blas_thread
from truepool.core.errors import AgentError, PanelError
from truepool.core.formatting import pluralize
from truepool.core.seeds import check_seed
from truepool.measures.capacity import Capacity
from truepool.measures.decisions import check_threshold
from truepool.measures.diversity import effective_agents
from truepool.measures.groups import check_column
from truepool.measures.inference import Resamples
from truepool.measures.inference.bootstrap import check_level
from truepool.panel.costs import Costs
from truepool.panel.labels import format_labels, format_names
from truepool.panel.panel import Panel, check_panel
from truepool.pools import Pool
from truepool.pools.interface import configure
from truepool.pools.persistence import digest

PER_THOUSAND = 1000.0
"""Cases by which worth is counted."""

FEWER = "Use truepool compare, or leave out agents or cases."


def audit(
    panel: Panel,
    *,
    costs: Costs | None = None,
    threshold: float | None = None,
    pool: str | Pool = "mean",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    source: str = "",
    since: Mapping[str, Any] | None = None,
    by: str | None = None,
    capacity: str | int | None = None,
    trusted: Collection[str] = (),
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
    engine: Engine | None = None,
) -> Audit:
    """Check whether a pool can be trusted and, if not, what is wrong.

    Parameters
    ----------
    panel : Panel
        With times, drift is looked for. Feeds are always checked, in the order of the
        cases where there are no times, and including cases without an outcome
        (`Panel.with_pending`).
    costs, threshold : Costs, float, optional
        What errors cost, and where decisions are made now (``costs.threshold`` by
        default); findings are stated in these costs.
    pool : str or Pool
        The rule in use: any pool. It is tested on cases it did not learn from: by
        cross-validation, or, if it is fitted (`truepool.load_pool`), as it is.
    level, resamples, seed
        Level of the intervals; bootstrap resamples; same seed, same numbers.
    source : str
        Name of the table, for the header of the page.
    since : mapping, optional
        An earlier audit in its JSON form (`Audit.to_dict`), to report what got better
        and worse since then.
    by : str, optional
        Column of the panel that divides the cases into segments, to find who fails
        where.
    capacity : str or int, optional
        How many cases can be decided positive, as in 200, "5%" or "200/day".
    trusted : collection of str
        Agents that are known to report before the outcome: one that seems to know it
        is asked about otherwise, and every figure is without it.
    progress : callable
        Called with the name of the current part, the number of parts done and their
        total.
    engine : Engine, optional
        Where the pools of the comparison are fitted; by default in this process.

    Examples
    --------
    >>> from truepool.datasets import example
    >>> result = audit(example(), costs=Costs(fn=10, fp=1))
    >>> result.findings[0].severity, result.findings[0].code
    ('warning', 'over-confident')
    """
    check_panel(panel, "an audit")
    if since is not None:
        check_earlier(since)
    check_trusted(trusted, panel.agents)
    saved = isinstance(pool, Pool) and pool.is_fitted
    if isinstance(pool, Pool) and saved:
        panel = _for_saved(panel, pool)
        costs = costs if costs is not None else pool.costs
        threshold = threshold if threshold is not None else pool.threshold
    given: Any = (costs, threshold, pool, level, resamples, seed, by, capacity, engine)
    suspects = find_suspects(panel, trusted, level)
    kept = panel if saved else without_suspects(panel, suspects)
    evidence = _evidence(kept, *given)
    questions = [
        leaks.question(one, panel.agents, removed=one.agent not in kept.agents)
        for one in suspects
    ]
    with one_blas_thread():  # the same bits on any machine
        late = find_late_outcomes(evidence)
        if late is not None:
            evidence = _evidence(without_late_outcomes(kept, late), *given)
            questions.append(late_outcomes.question(late))
        result = _audit(evidence, source, progress, tuple(questions))
    if since is None:
        return result
    return replace(result, changes=compare_audits(since, result))


def _audit(
    evidence: Evidence,
    source: str,
    progress: Callable[[str, int, int], None],
    questions: tuple[Finding, ...] = (),
) -> Audit:
    """Run all checks on the evidence; ``questions`` come before what they find."""
    panel = evidence.panel
    if panel.pending is not None:
        waiting = len(panel.unsplit().pending or ())
        count, has = pluralize(waiting, "case"), "has" if waiting == 1 else "have"
        only = "only" if evidence.capacity is None else "and the capacity only"
        evidence.sampling.note(
            f"{count} {has} no outcome yet: used for feed checks {only}."
        )
    if evidence.capacity is not None:
        what = "Pools" if evidence.by is None else "Pools and segments"
        evidence.sampling.note(
            f"{what} are judged within the capacity of {evidence.capacity}; "
            "what agents, recalibration, thresholds, drift and failures cost or save "
            "is without it."
        )
    if panel.propensity is not None:
        evidence.sampling.note(
            "Each case counts by its weight over its propensity, the chance that its "
            "outcome became known: figures are those of all cases, reviewed or not."
        )
    # What later steps save is measured after the first one, at the threshold left then.
    planned = evidence.planned
    if planned is not evidence:
        planned.adopt(evidence, try_pools, compare_pools, paired_comparisons)
    every = topics.every()
    parts = (*every, "credit", "advice")
    candidates: list[Candidate] = []
    for done, topic in enumerate(every.values()):
        progress(topic.name, done, len(parts))
        if topic.timed and panel.times is None:
            continue
        if topic is outcome_rate.topic and any(q.code == LATE for q in questions):
            continue  # a change of the share is what is asked about
        if evidence.shortage is None or topic.few_cases:
            judged = evidence if topic is threshold_topic.topic else planned
            candidates += topic.check(judged.unsplit if topic.unsplit else judged)
        else:
            evidence.sampling.withhold(topic.name, evidence.shortage)
    doubt = is_outcome_in_doubt(evidence, questions)
    findings = tuple(
        replace(f, date=f.date or evidence.unsplit.date(f.since))
        for f in select_findings(_with_minor(candidates, panel), doubt=doubt)
    )
    findings = (*questions, *findings)
    if is_outcome_in_doubt(evidence, findings):
        evidence.sampling.withhold(
            "findings, tables and figures that depend on outcomes",
            "an agent of the pool may know the outcome"
            if doubt
            else "the outcome or its positive label is in doubt",
        )
    progress("credit", len(parts) - 2, len(parts))
    summaries = summarize_agents(evidence)
    if evidence.shortage is not None:
        evidence.sampling.withhold("credit and weights", evidence.shortage)
    progress("advice", len(parts) - 1, len(parts))
    plan = recommend(planned, findings)
    if planned is not evidence:
        plan = replace(plan, threshold_moves=True)
    monthly = evidence.compute(cases_per_month)
    summaries = _with_worth(planned, summaries, plan, monthly)
    named = [plan.in_use, plan.pool, plan.alternative]
    return Audit(
        findings=in_order(findings, plan),
        pool=evidence.in_use,
        costs=asdict(evidence.costs),
        threshold=evidence.line,
        level=evidence.level,
        cases=panel.size,
        positives=panel.size - panel.counts[0],
        classes=panel.classes,
        agents=panel.agents,
        missing=panel.missing,
        seed=evidence.seed,
        calibration=evidence.compute(calibrations),
        agent_summaries=summaries,
        correlation=evidence.correlation,
        effective_agents=effective_agents(evidence.correlation),
        curve=cost_curve(evidence),
        comparison=evidence.compute(compare_pools),
        significance=evidence.compute(paired_comparisons),
        drift=None if evidence.shortage else drift_over_time(evidence.unsplit),
        recommendation=replace(plan, fixes=in_order(plan.fixes, plan)),
        withheld=tuple(evidence.sampling.withheld),
        sampled=tuple(evidence.sampling.sampled),
        labels=panel.labels,
        label_cases=panel.counts,
        source=source,
        date=datetime.now(UTC).date().isoformat(),
        weighted_share=evidence.unsplit.weighted_share,
        by=evidence.by,
        segments=evidence.compute(segments),
        capacity=evidence.unsplit.compute(at_capacity),
        weighting=_weighting(evidence.unsplit.panel),
        operations=operations(evidence, [name for name in named if name]),
        cases_per_month=monthly,
        pool_digest=digest(evidence.pool) if evidence.validation.saved else "",
    )


def _with_worth(
    evidence: Evidence,
    summaries: tuple[AgentSummary, ...],
    plan: Recommendation,
    monthly: float | None,
) -> tuple[AgentSummary, ...]:
    """Add what each agent is worth in the recommended pool, if there is one."""
    if plan.pool is None:
        return summaries
    saved = evidence.validation.saved and plan.pool == plan.in_use
    pool = recommended_pool(evidence) if saved else plan.pool
    found = agent_worth(evidence, pool)
    if found is None:
        return summaries
    return tuple(
        replace(
            one,
            worth=scaled(worth, PER_THOUSAND),
            worth_per_month=scaled(worth, monthly),
        )
        for one, worth in zip(summaries, found, strict=True)
    )


def _weighting(panel: Panel) -> tuple[str, ...]:
    given = {"weight": panel.weights, "propensity": panel.propensity}
    return tuple(name for name, values in given.items() if values is not None)


def _with_minor(candidates: list[Candidate], panel: Panel) -> list[Candidate]:
    """Mark what is about one of many agents who gives few of the reports."""
    counts = panel.report_counts
    few = counts < MINOR * counts.sum()
    names = {name for name, minor in zip(panel.agents, few, strict=True) if minor}
    return [replace(c, minor=bool(names.intersection(c.who))) for c in candidates]


def _evidence(
    panel: Panel,
    costs: Costs | None,
    threshold: float | None,
    pool: str | Pool,
    level: float,
    resamples: int,
    seed: int,
    by: str | None,
    capacity: str | int | None,
    engine: Engine | None = None,
) -> Evidence:
    """Check every setting before anything is computed."""
    check_seed(seed)
    panel.check_classes_occur("an audit")
    if panel.sparse is not None:
        panel.sparse.check_cells("an audit", FEWER)
    panel, costs = (costs or Costs()).attach(panel)
    costs.check_classes(panel.classes)
    costs.resolve(panel.columns, panel.ids)
    check_threshold(threshold, panel.classes)
    check_level(level)
    Resamples(len(panel), resamples)
    if by is not None:
        check_column(panel, by)
    limit = None
    if capacity is not None:
        limit = Capacity.parse(capacity)
        limit.check(panel)
    if isinstance(pool, Pool) and pool.is_fitted:
        evidence = Evidence(
            panel, pool, costs, threshold, level, resamples, seed, by, limit, engine
        )
        return _with_saved(evidence)
    rule = configure(pool, costs=costs, threshold=threshold, seed=seed)
    return Evidence(
        panel, rule, costs, threshold, level, resamples, seed, by, limit, engine
    )


def _with_saved(evidence: Evidence) -> Evidence:
    """Judge a pool that was fitted before, on the cases that it did not learn from."""
    panel, pool = evidence.panel, evidence.pool
    if pool.labels_.names != panel.labels.names:
        raise PanelError(
            f"the pool knows the outcomes {format_labels(pool.labels_.names)}; the "
            f"panel has {format_labels(panel.labels.names)}"
        )
    seen = None if pool.habits_ is None else pool.habits_.is_seen(panel)
    if seen is None:
        evidence.sampling.note(
            "Whether the pool learned from some of these cases is not known: it does "
            "not remember its own. If it did, it looks better than it is."
        )
    elif seen.all():
        raise PanelError(
            f"a saved pool is judged on cases that it did not learn from; it learned "
            f"from all {len(panel):,} of these. Give newer cases, or the name of the "
            f"pool ({pool.name}) to have it fitted on part of them."
        )
    elif seen.any():
        evidence.sampling.note(
            f"{seen.sum():,} cases that the pool learned from, or that are no later "
            "than these, are not tested."
        )
    validation = CrossValidation(panel, pool, evidence.sampling, seen)
    vars(evidence)["validation"] = validation
    return evidence


def _for_saved(panel: Panel, pool: Pool) -> Panel:
    """Return the panel with the agents of a saved pool, in its order."""
    missing = [name for name in pool.agents_ if name not in panel.agents]
    if missing:
        raise AgentError(
            f"the pool needs reports of {format_names(pool.agents_)}; the panel has "
            f"none of {format_names(missing)}"
        )
    part = panel.select_agents(pool.agents_)
    if part is None:
        raise PanelError(
            "every case needs a report of an agent of the pool "
            f"({format_names(pool.agents_)}); some have none"
        )
    return part
