"""The audit itself: gather the evidence, ask every question, put it in order."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from truepool.audits import checks
from truepool.audits.comparing import compared, leads
from truepool.audits.curves import curve
from truepool.audits.drifting import drift
from truepool.audits.evidence import Evidence
from truepool.audits.findings import found
from truepool.audits.recommendation import recommend
from truepool.audits.robustness import robustness
from truepool.audits.standings import standings
from truepool.audits.suspicion import Suspicion
from truepool.audits.values import Audit
from truepool.core.errors import SettingError
from truepool.core.formatting import counted
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.measures.decisions import check_threshold
from truepool.measures.diversity import effective_agents
from truepool.measures.inference import Resamples
from truepool.pools import Pool
from truepool.pools.interface import configure

NEED_NOTHING = ("copies", "threshold", "feeds")
"""Checks whose facts need no interval."""

NEED_TIMES = ("drift", "outcome rate")
"""Checks that are not asked of cases without times."""


def audit(
    panel: Panel,
    *,
    costs: Costs | None = None,
    threshold: float | None = None,
    pool: str | Pool = "mean",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> Audit:
    """Ask whether a pool can be trusted, and what is wrong where it cannot.

    Parameters
    ----------
    panel : Panel
        Where its cases carry times, drift is looked for. Feeds are checked in any
        case, in the order of the rows where there are no times; cases without an
        outcome (`Panel.awaiting`) count there.
    costs, threshold : Costs, float, optional
        What errors cost, and where decisions are made now (``costs.threshold`` by
        default); findings are told in these costs.
    pool : str or Pool
        The rule in use: any pool. It is judged on cases it did not learn from.
    level, resamples, seed
        Level of the intervals; bootstrap resamples; same seed, same numbers.
    progress : callable
        Told what is being looked at, how many parts are done and how many there are.

    Examples
    --------
    >>> from truepool.datasets import example
    >>> told = audit(example(), costs=Costs(fn=10, fp=1))
    >>> told.findings[0].severity, told.findings[0].code
    ('warning', 'under-confident-pool')
    """
    evidence = _evidence(panel, costs, threshold, pool, level, resamples, seed)
    if panel.pending is not None:
        count = counted(len(panel.pending), "case")
        has = "has" if len(panel.pending) == 1 else "have"
        evidence.sampling.note(
            f"{count} {has} no outcome yet: used for feed checks only."
        )
    questions = checks.every()
    parts = (*questions, "credit", "advice")
    suspicions: list[Suspicion] = []
    for done, (name, check) in enumerate(questions.items()):
        progress(name, done, len(parts))
        if evidence.shortage is None or name in NEED_NOTHING:
            suspicions += check(evidence)
        elif name not in NEED_TIMES or panel.times is not None:
            evidence.sampling.withhold(name, evidence.shortage)
    findings = found(suspicions)
    progress("credit", len(parts) - 2, len(parts))
    stood = standings(evidence)
    if evidence.shortage is not None:
        evidence.sampling.withhold("credit and weights", evidence.shortage)
    progress("advice", len(parts) - 1, len(parts))
    return Audit(
        findings=findings,
        pool=evidence.pool.name,
        costs=_told(evidence.costs),
        threshold=_line(evidence),
        level=level,
        cases=len(panel),
        positives=int((panel.outcomes > 0).sum()),
        classes=panel.classes,
        agents=panel.agents,
        silent=panel.silent / panel.reports.size,
        seed=seed,
        calibration=evidence.calibrations,
        standings=stood,
        correlation=evidence.correlation,
        effective_agents=effective_agents(evidence.correlation),
        curve=curve(evidence),
        comparison=evidence.once(compared),
        significance=evidence.once(leads),
        drift=None if evidence.shortage else drift(evidence),
        robustness=evidence.once(robustness),
        recommendation=recommend(evidence, findings),
        withheld=tuple(evidence.sampling.withheld),
        sampled=tuple(evidence.sampling.sampled),
        labels=panel.labels,
        label_cases=panel.counts,
    )


def _evidence(
    panel: Panel,
    costs: Costs | None,
    threshold: float | None,
    pool: str | Pool,
    level: float,
    resamples: int,
    seed: int,
) -> Evidence:
    """Evidence to be, with every setting checked before anything is computed."""
    costs = costs or Costs()
    costs.table(panel.classes)
    check_threshold(threshold, panel.classes)
    if not 0 < level < 1:
        raise SettingError(f"a level must lie between 0 and 1; it is {level!r}")
    Resamples(len(panel), resamples)
    made = configure(pool, costs=costs, threshold=threshold, seed=seed)
    return Evidence(panel, made, costs, threshold, level, resamples, seed)


def _line(evidence: Evidence) -> float | None:
    if evidence.panel.classes != 2:
        return None
    line = evidence.threshold
    return evidence.costs.threshold if line is None else line


def _told(costs: Costs) -> dict[str, Any]:
    return asdict(costs)
