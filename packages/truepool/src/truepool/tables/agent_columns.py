"""Columns of agents: which they are, whose reports they hold, and of which classes."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import AgentError, ReportError, suggestion
from truepool.core.formatting import is_number
from truepool.panel.report_units import join_patterns
from truepool.panel.row_names import case_name

ID_CASES = 10
"""So many different whole numbers make a column look like an id."""

SUM_TOLERANCE = 0.01
"""How far from 1 the class probabilities of a report in a table may sum."""


def choose_agents(
    names: Sequence[str],
    patterns: Sequence[str],
    option: str = "--agents",
    roles: Mapping[str, str] | None = None,
    may_report: Callable[[str], bool] = lambda name: True,
) -> list[str]:
    """Return the names that a pattern matches, all of them where there is none.

    ``roles`` says what the columns with another meaning are; an error lists those that
    ``may_report``.

    >>> choose_agents(["rf:0", "rf:1", "nb"], ("rf",))
    ['rf:0', 'rf:1']
    """
    for pattern in patterns:
        if not any(is_chosen(name, (pattern,)) for name in names):
            if pattern in (roles or {}):
                raise _two_roles(pattern, roles or {}, patterns, option)
            usable = [name for name in names if may_report(name)]
            others = [name for name in usable if not is_chosen(name, patterns)]
            split = [n for n in others if pattern in map(str.strip, n.split(","))]
            if split:
                raise AgentError(
                    f"names are separated by commas, and {split[0]!r} has one. Write a "
                    f"question mark for it: {shlex.quote(join_patterns(split[:1]))} "
                    f"({option})."
                )
            raise AgentError(
                f"no agent matches {pattern!r}{suggestion(pattern, by_agent(others))}; "
                "columns that could be agents: "
                f"{', '.join(by_agent(usable)) or 'none'} ({option})"
            )
    return [name for name in names if not patterns or is_chosen(name, patterns)]


def _two_roles(
    name: str, roles: Mapping[str, str], patterns: Sequence[str], option: str
) -> AgentError:
    """Return the refusal of an agent that is named for something else too."""
    rest = [pattern for pattern in patterns if pattern not in roles]
    enough = len(rest) > 1 or "*" in "".join(rest)
    others = shlex.quote(join_patterns(rest)) if enough else "with other columns"
    return AgentError(
        f"a column must have one role; {name!r} is both an agent ({option}) and "
        f"{roles[name]}. If it is not an agent, pass {option} {others}; if it is one, "
        "name another column with the other option."
    )


def is_chosen(name: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern matches a column or the agent that it belongs to.

    >>> is_chosen("rf:fraud", ["rf"]), is_chosen("rf", ["r*"]), is_chosen("rf", ["nb"])
    (True, True, False)
    """
    agent = name.rpartition(":")[0] or name
    return any(
        pattern in (name, agent)
        or fnmatchcase(name, pattern)
        or fnmatchcase(agent, pattern)
        for pattern in patterns
    )


def by_agent(names: Sequence[str]) -> list[str]:
    """Return the names of columns; of those of classes, the agent's name alone.

    >>> by_agent(["id", "rf:no", "rf:yes", "nb:yes"])
    ['id', 'rf', 'nb:yes']
    """
    agents = Counter(name.rpartition(":")[0] for name in names)
    pairs = ((name, name.rpartition(":")[0]) for name in names)
    return [*dict.fromkeys(a if a and agents[a] > 1 else name for name, a in pairs)]


def has_numbers(cells: Iterable[Any]) -> bool:
    """Whether some cell is a number, as people write them.

    >>> has_numbers(["n/d", "6,1 %"]), has_numbers(["04/01/2026", "MRN7"])
    (True, False)
    """
    texts = (str(cell).rstrip("% ").replace(",", ".") for cell in cells)
    return any(is_number(text) and text != "nan" for text in texts)


def ignored_columns(names: Iterable[str], ignored: Collection[str]) -> list[str]:
    """Return the columns that are ignored by their names, or with their agent.

    >>> ignored_columns(["rf:no", "rf:yes", "rf", "nb"], ["rf"])
    ['rf:no', 'rf:yes', 'rf']
    """
    return [
        name for name in names if name in ignored or name.rpartition(":")[0] in ignored
    ]


def removal_options(out: Sequence[str], agents: Sequence[str]) -> str:
    """Options that take some agents out; none where a pool has too few without them.

    >>> removal_options(["b"], ["a", "b", "c"]), removal_options(["b"], ["a", "b"])
    ('--ignore b', '')
    """
    if not out or len({*agents} - {*out}) < 2:
        return ""
    return shlex.join([part for name in out for part in ("--ignore", name)])


def numbered_columns(
    columns: Mapping[str, FloatArray], percent: Collection[str]
) -> tuple[str, ...]:
    """Columns in percent that look like ids; in any other unit they are refused."""
    found = []
    for name, values in columns.items():
        if name in percent:
            found += [name] if looks_like_id(np.round(values * 100, 9)) else []
        elif looks_like_id(values):
            word = shlex.quote(name)
            raise ReportError(
                f"a report must lie in [0, 1]; column {name!r} holds different whole "
                f"numbers, like an id. Pass --id {word} or --ignore {word}, or name "
                "the agents with --agents."
            )
    return tuple(found)


def group_by_agent(
    columns: Mapping[str, FloatArray],
) -> tuple[tuple[str, ...], tuple[str, ...], FloatArray, int]:
    """Agents, classes, reports, and how many reports were rescaled to sum to 1."""
    agents, classes, values = _split(columns)
    if not classes:
        return agents, classes, values, 0
    return agents, classes, *renormalize(values, agents)


def _split(
    columns: Mapping[str, FloatArray],
) -> tuple[tuple[str, ...], tuple[str, ...], FloatArray]:
    """Agents, classes and reports: (T, N) or, from columns ``agent:class``, (T, N, K).

    Columns are of classes if every agent has the same two or more of them.
    """
    if not columns:
        raise AgentError("pooling needs at least 2 agents; no column is left for any")
    found: dict[str, dict[str, FloatArray]] = {}
    for name, values in columns.items():
        agent, _, label = name.rpartition(":")
        found.setdefault(agent or name, {})[label if agent else ""] = values
    numbered = [name for name in columns if re.fullmatch(r".+:\d+", name)]
    classes = tuple(next(iter(found.values())))
    same = all(set(labels) == set(classes) for labels in found.values())
    if not (same and len(classes) > 1 and "" not in classes):
        if numbered:
            raise _uneven(columns, found, numbered)
        _check_same_classes(found)
        _check_one_each(columns, found)
        return tuple(columns), (), np.stack(list(columns.values()), axis=1)
    if numbered:
        wanted = tuple(map(str, range(len(classes))))
        if set(classes) != set(wanted):
            raise _uneven(columns, found, numbered)
        classes = wanted
    cube = [np.stack([of[k] for k in classes], axis=1) for of in found.values()]
    return tuple(found), classes, np.stack(cube, axis=1)


def _check_same_classes(found: Mapping[str, Mapping[str, FloatArray]]) -> None:
    """Refuse columns of classes of which one agent lacks some, or misspells one.

    Columns ``agent:class`` are of classes if every agent has several, and all share
    one.
    """
    sets = [frozenset(labels) for labels in found.values()]
    if min(map(len, sets)) < 2 or not frozenset.intersection(*sets):
        return
    usual = max(sets, key=sets.count)
    like, odd = (
        next(agent for agent, labels in found.items() if (set(labels) == usual) == same)
        for same in (True, False)
    )
    own = [f"{odd}:{label}" for label in found[odd]]
    missing = [f"{odd}:{label}" for label in found[like] if label not in found[odd]]
    strange = [name for name in own if name.rpartition(":")[2] not in usual]
    hint = suggestion(strange[0], missing) if strange else ""
    raise ReportError(
        f"every agent needs one column per class, as {like!r} has "
        f"{', '.join(f'{like}:{label}' for label in found[like])}; {odd!r} has "
        f"{', '.join(own)}{hint}. Correct the header, or leave the agent out."
    )


def _check_one_each(
    columns: Mapping[str, FloatArray], found: Mapping[str, Mapping[str, FloatArray]]
) -> None:
    """Refuse two columns of one agent that sum to 1, beside agents with one column."""
    for agent, labels in found.items():
        if len(labels) != 2 or "" in labels:
            continue
        total = np.sum([*labels.values()], axis=0)
        if np.nanmax(np.abs(total - 1), initial=0.0) > SUM_TOLERANCE:
            continue
        first, second = (f"{agent}:{label}" for label in labels)
        other = next(name for name in columns if name not in (first, second))
        raise ReportError(
            "agents give either one probability or one per class; columns "
            f"{first!r} and {second!r} are of two classes, since they sum to 1, and "
            f"{other!r} is not. Keep the one of the positive class: leave the other "
            f"out, as in --ignore {shlex.quote(second)}."
        )


def _uneven(
    columns: Mapping[str, FloatArray],
    found: Mapping[str, Mapping[str, FloatArray]],
    numbered: Sequence[str],
) -> ReportError:
    plain = next((name for name in columns if name not in numbered), None)
    if plain is not None:
        return ReportError(
            "agents give either one probability or one per class; column "
            f"{numbered[0]!r} is of a class, {plain!r} is not. Ignore one kind."
        )
    K = max(len(labels) for labels in found.values())
    wanted = {str(k) for k in range(K)}
    agent = next(name for name, labels in found.items() if set(labels) != wanted)
    return ReportError(
        f"every agent needs the columns name:0 to name:{K - 1}; {agent!r} has "
        f"{', '.join(f'{agent}:{k}' for k in sorted(found[agent]))}"
    )


def renormalize(values: FloatArray, agents: tuple[str, ...]) -> tuple[FloatArray, int]:
    """Rescale class probabilities that were rounded, and count them.

    Four whole percents may sum to 98 or 102: that much rounding explains.
    """
    totals = values.sum(axis=2)
    gap = np.nan_to_num(np.abs(totals - 1))
    outside = (np.nan_to_num(values) < 0) | (np.nan_to_num(values) > 1)
    whole = (np.abs(100 * values - np.round(100 * values)) < 1e-6).all(axis=2)
    rounding = np.where(whole, 0.005 * values.shape[2], 0.0)
    far = gap > np.maximum(SUM_TOLERANCE, rounding) + 1e-9  # 0.99 is within 1 % of 1
    if far.any() and not outside.any():
        t, i = (int(index) for index in np.argwhere(far)[0])
        raise ReportError(
            f"the {values.shape[2]} probabilities of a report must sum to 1, within "
            "1 % or what rounding to whole percents explains; agent "
            f"{agents[i]!r} sums to {totals[t, i]:g} in {case_name(t)}. Divide them by "
            "their sum."
        )
    if outside.any():
        return values, 0
    scaled = np.where(gap[:, :, None] > 0, values / totals[:, :, None], values)
    return scaled, int((gap > np.finfo(np.float32).eps).sum())


def looks_like_id(values: FloatArray) -> bool:
    """Whether numbers could be ids: whole, all different, none missing.

    >>> looks_like_id(np.arange(50.0)), looks_like_id(np.linspace(0, 1, 50))
    (True, False)
    """
    if len(values) < ID_CASES or not (values == np.floor(values)).all():
        return False
    return len(np.unique(values)) == len(values)


def binary_columns(columns: Mapping[str, FloatArray]) -> tuple[str, ...]:
    """Columns of 0 and 1 alone, if other columns hold fractions."""
    known = {name: values[~np.isnan(values)] for name, values in columns.items()}
    whole = [n for n, v in known.items() if v.size and np.isin(v, (0.0, 1.0)).all()]
    return tuple(whole) if len(whole) < len(columns) else ()
