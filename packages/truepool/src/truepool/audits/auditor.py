"""The audit: evidence, checks, one diagnosis each, one plan."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from truepool.audits import checks, kinds, late_outcomes, leaks
from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.checks.calibration import calibrations
from truepool.audits.checks.capacity import at_capacity
from truepool.audits.checks.credit import summarize_agents
from truepool.audits.checks.drift import drift_over_time
from truepool.audits.checks.segments import segments
from truepool.audits.checks.threshold import cost_curve
from truepool.audits.comparison import (
    compare_pools,
    paired_comparisons,
    share_comparison,
)
from truepool.audits.cross_validation import CrossValidation
from truepool.audits.diagnosis import allow_for_selection, diagnose, explain_drift
from truepool.audits.evidence import Evidence, cases_per_month
from truepool.audits.feed_runs import without_past_runs
from truepool.audits.findings import minor_agents, select_findings
from truepool.audits.late_outcomes import find_late_outcomes, without_late_outcomes
from truepool.audits.leaks import check_trusted, find_suspects, without_suspects
from truepool.audits.operation import operations
from truepool.audits.plan import (
    MOST_STEPS,
    Cures,
    Treated,
    ask,
    cures,
    make_plan,
    treat_agents,
)
from truepool.audits.since import check_earlier, compare_audits
from truepool.audits.tradeoff import tradeoff
from truepool.audits.values import SEVERITIES, Audit, Diagnosis, Finding, Subject
from truepool.audits.worth import add_worth, best_set, check_prices, judging_pool
from truepool.core.engine import Engine, one_blas_thread
from truepool.core.errors import AgentError, PanelError
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
    prices: Mapping[str, float] | None = None,
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
    prices : mapping of str to float, optional
        What one report of an agent costs, to find out whom it pays to ask.
    progress : callable
        Called with the name of the current part, the number of parts done and their
        total.
    engine : Engine, optional
        Where the pools of the comparison are fitted; by default in this process.

    Examples
    --------
    >>> from truepool.datasets import example
    >>> result = audit(example(), costs=Costs(fn=10, fp=1))
    >>> [(one.who, one.code) for one in result.agents if one.severity is not None]
    [('forest', 'over-confident')]
    """
    check_panel(panel, "an audit")
    if since is not None:
        check_earlier(since)
    check_trusted(trusted, panel.agents)
    prices = prices or {}
    check_prices(prices, panel.agents)
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
        leaks.question(one, removed=one.agent not in kept.agents) for one in suspects
    ]
    with one_blas_thread():  # the same bits on any machine
        late = find_late_outcomes(evidence)
        if late is not None:
            evidence = _evidence(without_late_outcomes(kept, late), *given)
            questions.append(late_outcomes.question(late))
        result = _Auditor(panel.agents, evidence, questions, prices, progress, given)
        found = result.audit(source)
    if since is None:
        return found
    return replace(found, changes=compare_audits(since, found))


class _Auditor:
    """One run: the checks of outcome and agents, then those of the pool without them.

    ``sent`` is the evidence with all reports, ``given`` that without reports of feeds
    that were stuck and work again, and ``base`` the same at the threshold that is left
    after the plan.
    """

    def __init__(
        self,
        agents: tuple[str, ...],
        sent: Evidence,
        questions: Sequence[Finding],
        prices: Mapping[str, float],
        progress: Callable[[str, int, int], None],
        settings: tuple[Any, ...],
    ) -> None:
        self.agents, self.sent, self.given = agents, sent, sent
        self.questions, self.prices, self.progress = questions, prices, progress
        self.sampling = sent.sampling
        if sent.panel.sparse is None:
            working = without_past_runs(sent)
            if working is not sent.panel:
                self.given = _evidence(working, *settings)
                vars(self.given)["sampling"] = self.sampling
        self.base = self.given.planned
        self.minor = minor_agents(sent.panel)
        self.checks = list(checks.every().values())
        self.done = 0

    def audit(self, source: str) -> Audit:
        """Return the whole audit."""
        self._note_counting()
        found = self._run("outcome", self.base) + self._run("agent", self.base)
        share_comparison(self.base, self.given)
        first = self._select(found)
        treated = self._treat(first)
        share_comparison(treated.evidence, treated.evidence.planned)
        found += self._run("pool", treated.evidence.planned)
        findings = self._select(found)
        if self._cures(findings).keys() != self._cures(first).keys():
            treated = self._treat(findings)  # fewer: adjusted for all tests now
        return self._report(source, treated, findings)

    def _treat(self, findings: Sequence[Finding]) -> Treated:
        """Take the plan's steps about agents; one place is left for the pool."""
        asked = ask(
            self._diagnose("outcome", "", findings), self._diagnose_agents(findings)
        )
        most = max(MOST_STEPS - 1 - len(asked), 1)
        measured = not self._in_doubt(findings)
        return treat_agents(
            self.given, self._cures(findings), most=most, measured=measured
        )

    def _cures(self, findings: Sequence[Finding]) -> Cures:
        return cures(self._diagnose_agents(findings))

    def _run(self, subject: Subject, evidence: Evidence) -> list[Candidate]:
        """Run the checks of a subject; those that need more outcomes are withheld."""
        found: list[Candidate] = []
        for check in self.checks:
            if check.about != subject:
                continue
            self.progress(check.name, self.done, len(self.checks) + 2)
            self.done += 1
            if check.timed and evidence.panel.times is None:
                continue
            if evidence.shortage is not None and not check.few_cases:
                self.sampling.withhold(check.name, evidence.shortage)
                continue
            found += check.run(self._seen_by(check, evidence))
        return found

    def _seen_by(self, check: Check, evidence: Evidence) -> Evidence:
        if check.as_sent:
            evidence = self.sent.planned
        if check.as_decided:
            evidence = self.given
        return evidence.unsplit if check.unsplit else evidence

    def _select(self, candidates: Sequence[Candidate]) -> list[Finding]:
        """Return the findings, the questions first."""
        pairs = select_findings(candidates, minor=self.minor, doubt=self._unanswered)
        dated = (
            replace(f, date=f.date or self.given.unsplit.date(f.since))
            for f in explain_drift(pairs)
        )
        questioned = kinds.having((q.code for q in self.questions), "selects")
        return allow_for_selection(
            [
                *self.questions,
                # Another share of positives is what is asked about.
                *(f for f in dated if not (questioned and _is_of_outcome(f))),
            ]
        )

    @property
    def _unanswered(self) -> bool:
        """Whether an agent of the pool may know the outcome: nothing can be judged."""
        kept = self.given.panel.agents
        return any(q.who and q.who[0] in kept for q in self.questions)

    def _in_doubt(self, findings: Sequence[Finding]) -> bool:
        """Whether what depends on outcomes may be wrong: nothing is said of it."""
        return self._unanswered or kinds.having((f.code for f in findings), "doubts")

    def _diagnose(
        self, subject: Subject, who: str, findings: Sequence[Finding]
    ) -> Diagnosis:
        untested = self.given.shortage is not None or self._in_doubt(findings)
        return diagnose(subject, who, findings, untested=untested)

    def _diagnose_agents(self, findings: Sequence[Finding]) -> tuple[Diagnosis, ...]:
        return tuple(self._diagnose("agent", who, findings) for who in self.agents)

    def _note_counting(self) -> None:
        """Note by what cases count, and which have no outcome."""
        panel, note = self.given.panel, self.sampling.note
        if panel.pending is not None:
            waiting = len(panel.unsplit().pending or ())
            form = "feeds" if self.given.capacity is None else "capacity"
            note("pending", form=form, count=waiting)
        if self.given.capacity is not None:
            note("within-capacity", capacity=str(self.given.capacity))
        if panel.propensity is not None:
            note("by-propensity")

    def _report(
        self, source: str, treated: Treated, findings: Sequence[Finding]
    ) -> Audit:
        """Put the diagnoses, the plan and the evidence together."""
        given, base, panel = self.given, self.base, self.given.panel
        doubt = self._in_doubt(findings)
        outcome = self._diagnose("outcome", "", findings)
        agents = self._diagnose_agents(findings)
        pool = self._diagnose("pool", given.in_use, findings)
        self.progress("plan", self.done, self.done + 2)
        plan, treated = make_plan(given, treated, outcome, agents, pool, in_doubt=doubt)
        last = treated.evidence.planned
        share_comparison(treated.evidence, last)
        self.progress("worth", self.done + 1, self.done + 2)
        monthly = given.compute(cases_per_month)
        summaries = summarize_agents(given)
        priced = None
        if given.shortage is None and not doubt:
            summaries = add_worth(base, last, summaries, plan, self.prices, monthly)
            pool_of_all = judging_pool(base, plan)
            if pool_of_all is not None:
                priced = best_set(last, pool_of_all, self.prices, plan.without)
        first = [one.finding for one in (outcome, *agents, pool) if one.finding]
        first.sort(key=lambda one: SEVERITIES.index(one.severity))
        few = given.shortage is not None
        return Audit(
            outcome=outcome,
            agents=agents,
            pool=pool,
            plan=plan,
            findings=(*first, *(f for f in findings if f not in first)),
            costs=asdict(given.costs),
            threshold=given.line,
            level=given.level,
            cases=panel.size,
            positives=panel.size - panel.counts[0],
            classes=panel.classes,
            missing=panel.missing,
            seed=given.seed,
            calibration=given.compute(calibrations),
            summaries=summaries,
            correlation=given.correlation,
            effective_agents=effective_agents(given.correlation),
            curve=cost_curve(given),
            comparison=base.compute(compare_pools),
            significance=base.compute(paired_comparisons),
            drift=None if few else drift_over_time(given.unsplit),
            operations=() if doubt else operations(given, treated, plan),
            tradeoff=None if doubt else tradeoff(given, treated, plan),
            best_set=priced,
            withheld=tuple(self.sampling.withheld),
            notes=tuple(self.sampling.notes),
            labels=panel.labels,
            label_cases=panel.counts,
            source=source,
            date=datetime.now(UTC).date().isoformat(),
            weighted_share=given.unsplit.weighted_share,
            by=given.by,
            segments=given.compute(segments),
            capacity=given.unsplit.compute(at_capacity),
            weighting=_weighting(given.unsplit.panel),
            cases_per_month=monthly,
            pool_digest=digest(given.pool) if given.validation.saved else "",
        )


def _is_of_outcome(finding: Finding) -> bool:
    return kinds.every()[finding.code].subject == "outcome" and not finding.who


def _weighting(panel: Panel) -> tuple[str, ...]:
    given = {"weight": panel.weights, "propensity": panel.propensity}
    return tuple(name for name, values in given.items() if values is not None)


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
        evidence.sampling.note("unknown-cases")
    elif seen.all():
        raise PanelError(
            f"a saved pool is judged on cases that it did not learn from; it learned "
            f"from all {len(panel):,} of these. Give newer cases, or the name of the "
            f"pool ({pool.name}) to have it fitted on part of them."
        )
    elif seen.any():
        evidence.sampling.note("learned-cases", count=int(seen.sum()))
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
