"""Whether an agent knows the outcome: it was made after it, or learned from it."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from truepool.audits.discrimination import auc_interval
from truepool.audits.kinds import LIKELY, SURE
from truepool.audits.values import Finding
from truepool.comparison import Estimate
from truepool.core.arrays import IntArray
from truepool.core.errors import AgentError, suggestion
from truepool.measures.groups import describe_shortage
from truepool.measures.inference.bootstrap import standard_errors
from truepool.measures.scores import auc
from truepool.panel.panel import Panel

PERFECT = 0.99
"""An agent whose AUC is below this does not know the outcome."""

LEFT = 0.2
"""What an agent that knows it lacks of an AUC of 1 is at most this share of what the
best of the others lacks: of those who see the same cases nobody is often five times as
good."""

YARDSTICK = 0.7
"""Others with a lower AUC do not show how hard the cases are: who separates the classes
completely is measured by this instead, and nobody else is asked about."""

GRID = np.linspace(-9.0, 9.0, 3601)
"""Where the largest of the negative scores is looked for."""


@dataclass(frozen=True)
class Suspect:
    """An agent that may know the outcome, beside the best of those that do not."""

    agent: str
    area: Estimate
    best: tuple[str, float] | None
    """Name and AUC of the best of the others; None where each is a suspect."""
    p_value: float


def find_suspects(
    panel: Panel, trusted: Collection[str] = (), level: float = 1 - LIKELY
) -> list[Suspect]:
    """Agents that may know the outcome (two classes, two agents or more).

    An agent is compared with the best of those that do not separate the classes
    completely. If it lacks a fifth of what that one lacks of an AUC of 1, is what it
    shows still improbable? Where it separates the classes completely, that is the
    chance of doing so under two normal distributions; else the errors of Hanley &
    McNeil (1982) are compared. Tests are adjusted for the number of agents.
    """
    panel = panel.unsplit()
    if panel.classes > 2 or panel.sparse is not None:
        return []
    known = [~np.isnan(panel.values[:, i, 0]) for i in range(len(panel.agents))]
    outcomes = [panel.outcomes[own] for own in known]
    judged = [i for i, own in enumerate(outcomes) if describe_shortage(own) is None]
    areas = {i: auc(panel.values[known[i], i, 0], outcomes[i]) for i in judged}
    # Who is reversed knows as much as who is not.
    skill = {i: max(area, 1 - area) for i, area in areas.items()}
    others = {i: area for i, area in skill.items() if area < 1}
    found = []
    for i in judged:
        rest = {j: area for j, area in others.items() if j != i}
        if areas[i] < PERFECT or panel.agents[i] in trusted or len(judged) < 2:
            continue
        best = max(rest, key=lambda j: rest[j], default=None)
        if areas[i] < 1 and (best is None or rest[best] < YARDSTICK):
            continue
        # Where everybody is perfect, nobody shows how hard the cases are.
        other = YARDSTICK if best is None else max(rest[best], YARDSTICK)
        theirs = outcomes[i if best is None else best]
        p = len(judged) * _p_value(areas[i], outcomes[i], other, theirs)
        if p < SURE:
            area = auc_interval(areas[i], outcomes[i], level)
            named = None if best is None else (panel.agents[best], rest[best])
            found.append(Suspect(panel.agents[i], area, named, p))
    return found


def _p_value(
    area: float, outcomes: IntArray, other: float, others_outcomes: IntArray
) -> float:
    """Test whether an agent lacks less than `LEFT` of what another one lacks."""
    if area == 1:
        return separation_chance(1 - LEFT * (1 - other), outcomes)
    lacks, error = _lack(area, outcomes)
    others_lack, others_error = _lack(other, others_outcomes)
    gap = LEFT * others_lack - lacks
    return float(ndtr(-gap / np.hypot(error, LEFT * others_error)))


def separation_chance(area: float, outcomes: IntArray) -> float:
    r"""Chance that an agent with this AUC gives every positive case a higher report.

    With normal scores that are d apart, and the density f of the largest of the n
    negative ones, :math:`\int f(x)\, \Phi(d - x)^m dx` for m positive cases.

    >>> separation_chance(0.997, np.arange(25_000) < 50) < 1e-6
    True
    >>> separation_chance(0.997, np.arange(40) < 20) > 0.3
    True
    """
    positive = int(np.count_nonzero(outcomes))
    apart = np.sqrt(2.0) * float(ndtri(area))
    largest = np.exp((len(outcomes) - positive) * log_ndtr(GRID))
    above = np.exp(positive * log_ndtr(apart - GRID))
    return float(np.diff(largest) @ ((above[1:] + above[:-1]) / 2))


def _lack(area: float, outcomes: IntArray) -> tuple[float, float]:
    """What an agent lacks of an AUC of 1, and its standard error."""
    interval = auc_interval(area, outcomes, 1 - LIKELY)
    reach = interval.value - interval.low
    return 1 - interval.value, reach / standard_errors(1 - LIKELY)


def without_suspects(panel: Panel, suspects: list[Suspect]) -> Panel:
    """Return the panel without these agents; with them where that leaves no pool."""
    asked = {suspect.agent for suspect in suspects}
    rest = [name for name in panel.agents if name not in asked]
    if not asked or len(rest) < 2:
        return panel
    return panel.select_agents(rest) or panel


def check_trusted(trusted: Collection[str], agents: tuple[str, ...]) -> None:
    """Refuse agents to be trusted that the panel does not have."""
    for name in trusted:
        if name not in agents:
            raise AgentError(
                f"trusted must name agents of the panel ({', '.join(agents)}); got "
                f"{name!r}{suggestion(name, agents)}"
            )


def question(suspect: Suspect, *, removed: bool) -> Finding:
    """Ask about an agent; until that is answered every figure is without it.

    Where it could not be ``removed`` there are no figures.
    """
    best = suspect.best or ("", float("nan"))
    return Finding(
        "leaked-outcome",
        "warning",
        (suspect.agent,),
        {
            "form": "alone" if suspect.best is None else "beside",
            "area": suspect.area.value,
            "best": best[0],
            "best_area": best[1],
            "removed": removed,
        },
        suspect.area,
        "auc",
        p_value=suspect.p_value,
    )
