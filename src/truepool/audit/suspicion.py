"""From tests to findings: how grave each is, and which is the cause of which."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from truepool.audit.values import SEVERITIES, Finding, Severity
from truepool.comparison import Estimate
from truepool.inference import holm

SURE, LIKELY = 0.01, 0.05
"""An error survives Holm's adjustment over all tests of the audit at the first level,
a warning at the second."""

BROKEN = ("constant-feed", "stopped-feed", "repeated-feed", "changed-feed")
"""A broken feed: an error whatever its repair saves, and told before other errors."""

CAUSES = (*BROKEN, "upside-down", "drifted", "rescaled-feed", "copy")
"""Faults that explain others of the same agents; the first explains the later ones."""

BECAUSE = {
    "constant-feed": "{who} sends one and the same report",
    "stopped-feed": "{who} stopped reporting",
    "repeated-feed": "{who} sends old reports",
    "changed-feed": "{who} lost touch with the other agents",
    "rescaled-feed": "the reports of {who} changed level or scale",
    "upside-down": "{who} is upside down",
    "drifted": "{who} got worse",
    "copy": "{who} is a copy",
    "over-confident": "{who} is over-confident",
    "under-confident": "{who} is under-confident",
    "biased": "{who} is biased",
    "under-confident-pool": "the pool is under-confident",
    "threshold": "the threshold is not what the costs ask for",
}
"""How a finding that explains others is named in theirs."""

BACKFIRES = (
    " Mended alone it would make decisions dearer, because the pool leans on it: mend "
    "the pool too."
)


@dataclass(frozen=True)
class Suspicion:
    """A question that was asked, and what would be said if the answer is clear.

    Suspicions that come to nothing count too: they are tests that were made.
    ``least`` is what is said without a test (facts and advice), or None. ``most`` caps
    the severity. ``price`` is asked only for what becomes a finding.
    """

    code: str
    who: tuple[str, ...]
    sentence: str
    advice: str
    p_value: float | None = None
    matters: bool = True
    most: Severity = "error"
    least: Severity | None = None
    number: Estimate | None = None
    unit: str = ""
    price: Callable[[], Estimate | None] | None = None
    figure: str | None = None
    explained_by: tuple[str, ...] = ()
    """Codes of findings, of whoever, that would explain this one."""
    since: int | None = None  # position in time of the first case after the change


def found(suspicions: Sequence[Suspicion]) -> tuple[Finding, ...]:
    """Findings, the gravest and then the dearest first."""
    tested = [s for s in suspicions if s.p_value is not None]
    adjusted = holm(np.array([s.p_value for s in tested], dtype=np.float64))
    sure = {id(s): float(p) for s, p in zip(tested, adjusted, strict=True)}
    graded = []
    for suspicion in suspicions:
        severity, price = _graded(suspicion, sure.get(id(suspicion)))
        if severity is not None:
            p = sure.get(id(suspicion))
            graded.append((suspicion, _finding(suspicion, severity, price, p)))
    told = _one_cause(graded)
    return tuple(sorted(told, key=_rank))


def _graded(
    suspicion: Suspicion, p: float | None
) -> tuple[Severity | None, Estimate | None]:
    """Severity of a suspicion, None where it comes to nothing, and what it costs."""
    if p is None or p >= LIKELY:
        severity, price = suspicion.least, None
        if severity is not None and suspicion.price is not None:
            price = suspicion.price()
        return severity, price
    price = suspicion.price() if suspicion.price is not None else None
    dear = price is not None and price.low > 0
    if suspicion.matters:
        severity = "error" if p < SURE else "warning"
    else:
        severity = "warning" if dear else "note"
    milder = max(SEVERITIES.index(severity), SEVERITIES.index(suspicion.most))
    return SEVERITIES[milder], price


def _finding(
    suspicion: Suspicion, severity: Severity, price: Estimate | None, p: float | None
) -> Finding:
    advice = suspicion.advice
    if price is not None and price.high < 0:
        advice += BACKFIRES
    return Finding(
        suspicion.code,
        severity,
        suspicion.who,
        suspicion.sentence,
        advice,
        suspicion.number,
        suspicion.unit,
        price,
        p,
        suspicion.figure,
        suspicion.since,
    )


def _one_cause(graded: list[tuple[Suspicion, Finding]]) -> list[Finding]:
    """One cause, one finding: what another finding explains becomes a note."""
    grave = [finding for _, finding in graded if finding.severity != "note"]
    told = []
    for suspicion, finding in graded:
        cause = _cause(suspicion, finding, grave)
        if cause is None or finding.severity == "note":
            told.append(finding)
            continue
        because = BECAUSE[cause.code].format(who="".join(cause.who[:1]))
        said = f"{finding.sentence} Another finding may explain it: {because}."
        told.append(replace(finding, severity="note", sentence=said))
    return told


def _cause(
    suspicion: Suspicion, finding: Finding, grave: list[Finding]
) -> Finding | None:
    """What explains a finding best: of the same agent if any, and the deepest."""
    rank = _depth(finding)
    explains = [
        other
        for other in grave
        if other is not finding
        and (
            other.code in suspicion.explained_by
            or (
                (_depth(other) < rank and other.who[0] in finding.who[:1])
                and SEVERITIES.index(other.severity)
                <= SEVERITIES.index(finding.severity)
            )
        )
    ]
    mine = finding.who[:1]
    return min(
        explains, key=lambda other: (other.who[:1] != mine, _depth(other)), default=None
    )


def _depth(finding: Finding) -> int:
    return CAUSES.index(finding.code) if finding.code in CAUSES else len(CAUSES)


def _rank(finding: Finding) -> tuple[int, bool, float, float]:
    """Gravest first, then broken feeds, then dearest; at equal cost, by evidence."""
    cost = 0.0 if finding.cost is None else max(finding.cost.value, 0.0)
    chance = 1.0 if finding.p_value is None else finding.p_value
    severity = SEVERITIES.index(finding.severity)
    return severity, finding.code not in BROKEN, -cost, chance
