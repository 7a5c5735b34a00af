"""An audit as one HTML file that needs nothing else: no network, no other file."""

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from truepool.audits.values import (
    SCHEMA,
    AgentSummary,
    Audit,
    Calibration,
    CostCurve,
    Drift,
    Finding,
)
from truepool.comparison import Comparison
from truepool.core.arrays import FloatArray
from truepool.core.files import write_text
from truepool.core.formatting import printable
from truepool.measures.capacity import without_capacity
from truepool.render import figures, labels
from truepool.render.advice import steps
from truepool.render.html.layout import Section, fragment, page
from truepool.render.numbers import format_estimate, percent
from truepool.render.tables import comparison as compared
from truepool.render.tables import evidence
from truepool.render.tables.segments import agents_by_segment, segments
from truepool.render.verdict import (
    changes,
    costs,
    describe_errors,
    number_label,
    rates,
    saving_label,
    sentence,
    withheld,
)

DIAGRAMS = 24
"""Reliability diagrams that are drawn; the table has everybody."""
MAX_ROWS = 30
"""Rows a figure has room for; tables show all."""
MAX_READ_ALOUD = 8
"""Numbers that are read aloud for a figure."""
PACKAGES = ("truepool", "numpy", "scipy", "scikit-learn")
LINKS = {
    "reliability": "calibration",
    "weights": "figure-weights",
    "credit": "figure-credit",
    "correlation": "redundancy",
    "threshold": "figure-threshold",
    "decision": "figure-decision",
    "comparison": "pools",
    "drift": "time",
    "details": "details",
    "segments": "segments",
    "capacity": "capacity",
}
"""Where a finding has its evidence, by what its ``figure`` may name."""


def html(audit: Audit) -> str:
    """Return the whole page: verdict, findings, evidence, how it was computed."""
    found = _section("findings", "Findings", "Findings", withheld=withheld(audit))
    shown = [found, *sections(audit), _method(audit)]
    anchors = set[str]().union(*(section.anchors for section in shown))
    title = f"Audit: {sentence(audit)}"
    context = _verdict(audit) | {"anchors": anchors}
    return printable(page("audit.html.j2", title=title, sections=shown, **context))


def write(audit: Audit, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, html(audit))


def summary(audit: Audit) -> Markup:
    """Return verdict and findings alone, for a notebook."""
    return fragment("audit/notebook.html.j2", anchors=(), **_verdict(audit))


def _verdict(audit: Audit) -> dict[str, Any]:
    """What verdict and findings are shown by."""
    severity = audit.worst()
    if severity in (
        None,
        "note",
    ):  # no finding is good news only if no check was withheld
        severity = None if audit.withheld else "note"
    return {
        "audit": audit,
        "verdict": sentence(audit),
        "steps": steps(audit),
        "severity": severity or "unsure",
        "changes": changes(audit),
        "labels": labels.sentence(audit.labels, audit.label_cases),
        "costs": costs(audit),
        "rates": rates(audit),
        "cost_label": saving_label,
        "number_label": number_label,
        "links": LINKS,
        "unlimited": without_capacity(audit.capacity),
    }


def _section(name: str, link: str, title: str, **shown: Any) -> Section:
    parts = {part: shown.pop(part) for part in ("figures", "tables") if part in shown}
    return Section(name, link, title, f"audit/{name}.html.j2", shown, **parts)


def sections(audit: Audit) -> Iterator[Section]:
    """Yield what there is evidence for, in the order of a reader's questions.

    While the outcome is in doubt, only what does not depend on it.
    """
    if audit.recommendation.outcome_in_doubt:
        yield from _redundancy(audit)
        return
    yield _calibration(audit)
    yield _agents(audit)
    yield from _redundancy(audit)
    if audit.segments:
        yield _section(
            "segments", "Segments", f"Who fails where, by {audit.by}?",
            tables=[segments(audit), *agents_by_segment(audit)],
        )  # fmt: skip
    if audit.capacity is not None:
        yield _section(
            "capacity", "Capacity", "What does the capacity cost?",
            tables=[evidence.capacity(audit, audit.capacity)],
        )  # fmt: skip
    if audit.curve is not None:
        yield _costs(audit, audit.curve)
    if audit.comparison is not None:
        yield _pools(audit, audit.comparison)
    if audit.drift is not None:
        yield _time(audit, audit.drift)
    detailed = [finding for finding in audit.findings if finding.details]
    if detailed:
        yield _details(detailed)


def _calibration(audit: Audit) -> Section:
    """A reliability diagram each, and the numbers behind them."""
    known = [one for one in audit.calibration if one.reliability is not None]
    drawn = _worst(known, audit.agents)
    axis = figures.reliability_axis(drawn, audit.threshold)
    return _section(
        "calibration", "Calibration", "Are the probabilities calibrated?",
        drawn=drawn,
        log_odds=axis.log_odds,
        known=len(known),
        figures={
            f"reliability-{place}": figures.reliability(
                [one], threshold=audit.threshold, axis=axis
            )
            for place, one in enumerate(drawn)
        },
        tables=[evidence.calibration(audit)],
    )  # fmt: skip


def _worst(known: list[Calibration], agents: tuple[str, ...]) -> list[Calibration]:
    """Everybody if there is room, else the pools and the worst of the agents."""
    if len(known) <= DIAGRAMS:
        return known
    pools = [one for one in known if one.who not in agents]
    ranked = [one for one in known if one.who in agents]
    ranked.sort(key=lambda one: -one.ece)
    return ranked[: DIAGRAMS - len(pools)] + pools


def _agents(audit: Audit) -> Section:
    """What each agent is worth, its weight and its credit."""
    ranked = sorted(audit.agent_summaries, key=_weight)
    weighed = [one for one in ranked if one.weight is not None]
    credited = [one for one in ranked if one.leave_one_out or one.shapley]
    known = sorted(credited, key=_size_of_credit)[:MAX_ROWS]
    heaviest = weighed[:MAX_ROWS]
    valued = sorted(audit.agent_summaries, key=_size_of_worth)[:MAX_ROWS]
    valued = [one for one in valued if one.worth is not None]
    drawn = {}
    if valued:
        drawn["worth"] = figures.worth(valued, audit.currency)
    if weighed:
        drawn["weights"] = figures.weights(heaviest)
    if known:
        drawn["credit"] = figures.credit(known, audit.currency)
    return _section(
        "agents", "Agents", "What is each agent worth?",
        worth=_spoken((one.agent, format_estimate(one.worth)) for one in valued),
        weights=_spoken((one.agent, format_estimate(one.weight)) for one in heaviest),
        credit=_spoken(
            (one.agent, format_estimate(one.leave_one_out or one.shapley))
            for one in known
        ),
        heaviest=len(heaviest) if len(heaviest) < len(weighed) else None,
        largest=len(known) if len(known) < len(credited) else None,
        figures=drawn,
        tables=[evidence.agents(audit)],
    )  # fmt: skip


def _weight(one: AgentSummary) -> float:
    """What puts the heaviest first."""
    return 0.0 if one.weight is None else -one.weight.value


def _size_of_worth(one: AgentSummary) -> float:
    """What puts those first whose loss would cost or save most."""
    return 0.0 if one.worth is None else -abs(one.worth.value)


def _size_of_credit(one: AgentSummary) -> float:
    """What puts those first who help or harm most; of equal ones, the heaviest."""
    credit = one.leave_one_out or one.shapley
    return 0.0 if credit is None else -abs(credit.value)


def _spoken(pairs: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
    return list(islice(pairs, MAX_READ_ALOUD))


def _redundancy(audit: Audit) -> Iterator[Section]:
    """Correlation of those agents that a heat map has room for, if any is known."""
    others = _others(audit.correlation)
    if others.max() == -1.0:
        return
    nearest = _others(np.abs(audit.correlation)).max(axis=1)
    rows = np.sort(np.argsort(-nearest, kind="stable")[:MAX_ROWS])
    agents = [audit.agents[i] for i in rows]
    drawn = figures.correlation(agents, audit.correlation[np.ix_(rows, rows)])
    i, j = np.unravel_index(int(others.argmax()), others.shape)
    yield _section(
        "redundancy", "Redundancy", "Which agents say the same?",
        pair=(audit.agents[i], audit.agents[j]),
        closest=float(others[i, j]),
        drawn=len(agents),
        beside=[evidence.correlations(audit)],
        figures={"correlation": drawn},
    )  # fmt: skip


def _others(matrix: FloatArray) -> FloatArray:
    """Correlations with others, -1 where there is none to tell."""
    others = np.nan_to_num(matrix, nan=-1.0)
    np.fill_diagonal(others, -1.0)
    return others


def _costs(audit: Audit, curve: CostCurve) -> Section:
    """What deciding costs: at every threshold, and for other costs."""
    least = float(curve.thresholds[int(np.nanargmin(curve.cost))])
    if curve.lowest is not None:
        least = curve.lowest
    other = next((f for f in audit.findings if f.code == "other-threshold"), None)
    implied = curve.implied
    ratio = (1 - implied) / implied if implied else None
    used = implied if audit.threshold is None else audit.threshold
    axis = figures.reliability_axis(audit.calibration, min(used, implied))
    return _section(
        "costs", "Costs", "What does the threshold cost?",
        implied=implied,
        used=used,
        least=least,
        other=other,
        figures={
            "threshold": figures.threshold(
                curve,
                used,
                implied,
                lowest=None if other is None else least,
                axis=axis,
                currency=audit.currency,
            ),
            "decision": figures.decision(curve, ratio, audit.labels.names),
        },
    )  # fmt: skip


def _pools(audit: Audit, comparison: Comparison) -> Section:
    """Every pool that was tried, and the tests against the one in use."""
    tests = [evidence.significance(audit)] if audit.significance else []
    return _section(
        "pools", "Pools", "Which pool is best here?",
        beside=tests,
        figures={"comparison": figures.comparison(comparison, audit.pool)},
        tables=[compared.grid(comparison)],
    )  # fmt: skip


def _time(audit: Audit, drift: Drift) -> Section:
    """Losses and weights over time, and the alarms."""
    last = zip(audit.agents, drift.weights[-1].tolist(), strict=True)
    alarms = evidence.alarms(drift)
    return _section(
        "time", "Over time", "Did anything get worse over time?",
        alarms=_spoken((row[0], f"at case {row[1]}") for row in alarms.rows),
        weights=_spoken((agent, percent(weight)) for agent, weight in last),
        figures={
            "losses": figures.losses(drift),
            "paths": figures.paths(drift, audit.agents),
        },
        tables=[alarms] if drift.alarms else [],
    )  # fmt: skip


def _details(findings: Sequence[Finding]) -> Section:
    """The numbers that findings rest on, drawn and listed."""
    return _section(
        "details", "Details", "What these findings rest on",
        details={
            one.code: {
                "unit": one.unit,
                "spoken": _spoken((n, format_estimate(v)) for n, v in one.details),
            }
            for one in findings
        },
        figures={
            one.code: figures.intervals(one.details[:MAX_ROWS], one.unit)
            for one in findings
        },
        tables=[evidence.details(one) for one in findings],
    )  # fmt: skip


def _method(audit: Audit) -> Section:
    """The settings, what was sampled, and the versions: enough to do it again."""
    versions = [f"{name} {version(name)}" for name in PACKAGES]
    versions += [f"Python {platform.python_version()}", f"schema {SCHEMA}"]
    return _section(
        "method", "Method", "How this was computed", versions=versions,
        costs=describe_errors(audit),
    )  # fmt: skip
