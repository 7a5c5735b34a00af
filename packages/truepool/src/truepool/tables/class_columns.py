"""Class columns: an agent's probabilities of several classes, a column for each."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from truepool.tables.columns import Inference
from truepool.tables.decode import SUM_EDGE
from truepool.tables.faults import Cure, Note

JOINTS = (" ", "_", ".", "-")
"""What may join an agent and a class in the name of a column, beside a colon."""
FEWEST_JOINED = 3
"""Classes from which such names are looked for: of two, agents give one number."""


def classes_by_colon(found: Inference) -> dict[str, dict[str, str]]:
    """Columns ``agent:class`` by agent and class, where all agents have the same."""
    agents: dict[str, dict[str, str]] = {}
    for name, look in found.open.items():
        agent, colon, label = name.rpartition(":")
        if colon and agent.strip() and label.strip() and look.numbers is not None:
            agents.setdefault(agent.strip(), {})[label.strip()] = name
    several = {agent: own for agent, own in agents.items() if len(own) > 1}
    if not several or len(several) < len(agents):
        return {}
    apart = {name for own in several.values() for name in own.values()}
    plain = [
        n
        for n, look in found.open.items()
        if n not in apart and look.is_report and not (look.binary or look.is_class)
    ]
    if plain and not found.declared.agents:
        _check_one_each(found, several, plain[0])
        return {}
    usual = Counter(frozenset(own) for own in several.values()).most_common(1)[0][0]
    if not all(usual & {*own} for own in several.values()):
        return {}
    for agent, own in several.items():
        if {*own} != usual:
            fields = {
                "own": [f"{agent}:{label}" for label in own],
                "wanted": [f"{agent}:{label}" for label in sorted(usual)],
            }
            found.refuse("classes-differ", Cure("rename"), agent=agent, fields=fields)
    order = next(own for own in several.values() if {*own} == usual)
    return {a: {k: own.get(k, "") for k in order} for a, own in several.items()}


def _check_one_each(
    found: Inference, agents: Mapping[str, Mapping[str, str]], plain: str
) -> None:
    """Refuse two columns of one agent that sum to 1, beside agents with one column."""
    for agent, own in agents.items():
        numbers = [found.looks[name].numbers for name in own.values()]
        total = np.sum([n.values for n in numbers if n is not None], axis=0)
        if len(own) == 2 and np.nanmax(np.abs(total - 1), initial=0.0) <= SUM_EDGE:
            found.refuse(
                "one-or-classes",
                Cure("leave-out-class", "ignore", [[*own.values()][1]]),
                agent=agent,
                fields={"other": plain},
                found=[*own.values()],
            )


def class_columns(names: Iterable[str], labels: Iterable[str]) -> dict[str, str]:
    """Return the names ``agent:class`` of columns ``rf_urgent`` or ``rf urgent``.

    Two or more agents must have a column for each of the same three or more labels.

    >>> names = ["id", "rf_low", "rf_mid", "rf_top", "nb_low", "nb_mid", "nb_top"]
    >>> found = class_columns(names, ["low", "mid", "top"])
    >>> found["nb_top"], len(found)
    ('nb:top', 6)
    """
    names, words = [*names], sorted(labels, key=len, reverse=True)
    if len(words) < FEWEST_JOINED or any(word.isdecimal() for word in words):
        return {}
    every = []
    for joint in JOINTS:
        agents: dict[str, list[str]] = {}
        own: dict[str, str] = {}
        for name in names:
            word = next((word for word in words if name.endswith(joint + word)), "")
            agent = name.removesuffix(joint + word)
            if word and agent:
                agents.setdefault(agent, []).append(word)
                own[name] = f"{agent}:{word}"
        classes = {frozenset(labels) for labels in agents.values()}
        if len(agents) > 1 and len(classes) == 1 and len(*classes) >= FEWEST_JOINED:
            every.append(own)
    return every[0] if len(every) == 1 else {}


def classes_by_label(
    found: Inference, labels: Iterable[Any]
) -> dict[str, dict[str, str]]:
    """Columns such as ``rf_urgent`` by agent and class."""
    numbers = [n for n, look in found.open.items() if look.numbers is not None]
    named = class_columns(numbers, [str(label) for label in labels])
    agents: dict[str, dict[str, str]] = {}
    for name, joined in named.items():
        agent, _, label = joined.rpartition(":")
        agents.setdefault(agent, {})[label] = name
    if named:
        name, joined = next(iter(named.items()))
        agent, _, label = joined.rpartition(":")
        found.notes.append(
            Note("class-columns", {"column": name, "agent": agent, "label": label})
        )
    order = next(iter(agents.values()), {})
    return {a: {k: own[k] for k in order} for a, own in agents.items()}
