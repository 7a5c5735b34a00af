"""Units: what agents report that are no probabilities; the unknown are asked for."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from truepool.core.arrays import FloatArray
from truepool.tables import cells
from truepool.tables.columns import Inference, Look
from truepool.tables.faults import Cure
from truepool.tables.schema import EVERY, PROBABILITY, Unit, is_chosen
from truepool.tables.source import column_fault

MOST_SCORE, FEWEST_SCORES = 10, 5
"""Whole numbers and halves up to the first are more often scores than percentages, if
there are as many as the second."""


def signed_agents(
    found: Inference,
    reports: Mapping[str, Sequence[str]],
    long: tuple[str, str, str] | None,
    agents: Sequence[str],
) -> tuple[str, ...]:
    """Agents whose reports carry percent signs."""
    if long is not None:
        look = found.looks.get(long[2])
        return tuple(agents) if look is not None and look.signed else ()
    return tuple(
        a
        for a, own in reports.items()
        if any(n in found.looks and found.looks[n].signed for n in own)
    )


def agent_units(
    found: Inference,
    agents: Sequence[str],
    reports: Mapping[str, Sequence[str]],
    long: tuple[str, str, str] | None,
) -> dict[str, Unit]:
    """Units of agents that report no probabilities; ask for those that nobody says."""
    declared = found.declared
    _check_named_units(found, agents)
    columns = {
        a: [found.looks[n] for n in own if n in found.looks]
        for a, own in reports.items()
    }
    if long is not None and long[2] in found.looks:
        return _long_units(found, agents, found.looks[long[2]], found.looks[long[1]])
    units: dict[str, Unit] = {}
    unknown: dict[str, tuple[float, float]] = {}
    for agent, looks in columns.items():
        unit = declared.unit(agent, signed=any(look.signed for look in looks))
        if unit is None and any(look.has_unit for look in looks):
            known = np.concatenate([look.known for look in looks])
            if known.min() >= 0 and known.max() <= 100:
                unknown[agent] = float(known.min()), float(known.max())
        elif unit not in (None, PROBABILITY):
            units[agent] = unit
    _check_percent(
        found, {a: own for a, own in columns.items() if declared.in_percent(a)}
    )
    _ask_units(found, unknown, agents)
    return units


def _check_percent(found: Inference, looks: Mapping[str, Sequence[Look]]) -> None:
    """Refuse declared percentages that look like probabilities, or like scores.

    ``looks`` are those of the agents that are declared so.
    """
    bare = {
        agent: np.concatenate([look.known for look in own])
        for agent, own in looks.items()
        if not any(look.signed for look in own)
    }
    bare = {agent: known for agent, known in bare.items() if len(known) > 1}
    for agent, n in bare.items():
        if 0 < n.max() <= 1:
            cures = (
                Cure("leave-out-percent"),
                Cure("real-percent", f"scores.{agent}", "0-100"),
            )
            found.refuse(
                "percent-up-to-one", agent=agent, found=float(n.max()), cures=cures
            )
        elif found.declared.percent is True and _like_scores(n):
            span = f"{n.min():g}-{n.max():g}"
            cures = (
                Cure("scores", f"scores.{agent}", span),
                Cure("real-percent", f"scores.{agent}", "0-100"),
            )
            found.refuse("percent-or-scores", agent=agent, found=span, cures=cures)


def _like_scores(numbers: FloatArray) -> bool:
    """Whether numbers are rather scores than percentages: small, whole or halves."""
    return bool(
        len(numbers) >= FEWEST_SCORES
        and (numbers % 0.5 == 0).all()
        and 1 < numbers.max() <= MOST_SCORE
    )


def _long_units(
    found: Inference, agents: Sequence[str], reports: Look, owner: Look
) -> dict[str, Unit]:
    """Units of the agents of a long table, whose reports stand in one column."""
    declared, numbers = found.declared, reports.numbers
    if numbers is None:
        return {}
    units: dict[str, Unit] = {}
    unknown: dict[str, tuple[float, float]] = {}
    looks: dict[str, Look] = {}
    place = {str(name): code for code, name in enumerate(owner.distinct)}
    order = np.argsort(owner.codes, kind="stable")
    ends = np.searchsorted(owner.codes[order], np.arange(len(owner.distinct) + 1))
    for agent in agents:
        rows = order[ends[place[agent]] : ends[place[agent] + 1]]
        own = cells.Numbers(
            numbers.values[rows],
            None,
            None if numbers.signed is None else numbers.signed[rows],
        )
        look = looks[agent] = Look(agent, pa.nulls(len(rows)), own)
        unit = declared.unit(agent, signed=look.signed)
        known = look.known
        if unit not in (None, PROBABILITY):
            units[agent] = unit
        elif unit is None and len(known) and known.min() >= 0 and known.max() <= 100:
            inside = np.count_nonzero(known <= 1)
            if 2 * inside < len(known) or (look.whole and known.max() > 1):
                unknown[agent] = float(known.min()), float(known.max())
    _check_percent(
        found, {a: [look] for a, look in looks.items() if declared.in_percent(a)}
    )
    _ask_units(found, unknown, agents)
    return units


def _ask_units(
    found: Inference,
    unknown: Mapping[str, tuple[float, float]],
    agents: Sequence[str],
) -> None:
    """Ask about agents that may have one unit: percentages, or small scores."""
    for small in (False, True):
        alike = {
            name: ends
            for name, ends in unknown.items()
            if (ends[1] <= MOST_SCORE) == small
        }
        if alike:
            _ask_unit(found, alike, agents)


def _ask_unit(
    found: Inference,
    unknown: Mapping[str, tuple[float, float]],
    agents: Sequence[str],
) -> None:
    names = [*unknown]
    every = len(names) == len(agents)
    low = min(low for low, _ in unknown.values())
    high = max(high for _, high in unknown.values())
    span = f"{low:g}-{high:g}" if low < high else f"0-{high:g}"
    sure = every and all(high > MOST_SCORE for _, high in unknown.values())
    choices: list[Any] = [("percent", True if sure else names)]
    shared = every and all(high <= MOST_SCORE for _, high in unknown.values())
    choices.append(
        ("scores", span)
        if shared
        else (f"scores.{names[0]}", span)
        if len(names) == 1
        else ("scores", dict.fromkeys(names, span))
    )
    if len(agents) - len(names) > 1:
        choices.append(("ignore", names))
    fields = {
        "names": names,
        "span": span,
        "low": low,
        "high": high,
        "count": len(names),
    }
    found.ask("unit", "percent", choices, fields=fields)


def _check_named_units(found: Inference, agents: Sequence[str]) -> None:
    """Refuse agents with a declared unit that no agent has."""
    declared = found.declared
    percent = declared.percent if isinstance(declared.percent, tuple) else ()
    known = [*agents, *declared.ignore, *found.open]
    if not declared.long:
        known += [name for name in found.looks if is_chosen(name, declared.ignore)]
    for key, patterns in (("percent", percent), ("scores", [*declared.scores])):
        for pattern in patterns:
            if pattern != EVERY and not any(is_chosen(n, (pattern,)) for n in known):
                found.faults.add(column_fault(key, pattern, agents, several=True))
