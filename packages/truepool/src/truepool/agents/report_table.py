"""A table of the reports of saved agents."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from truepool.agents.interface import class_probabilities
from truepool.agents.storage import load
from truepool.core.arrays import Array
from truepool.core.errors import AgentError
from truepool.panel.labels import Labels


def report_columns(
    frame: Any,
    files: Sequence[Path],
    outcome: str,
    copied: Mapping[str, str],
    progress: Callable[[str, int, int], None] | None = None,
    *,
    positive: Any = None,
    trust: bool = False,
) -> tuple[dict[str, Array], Labels]:
    """Return columns of reports and outcome, as `truepool.read_panel` reads them.

    ``copied`` are columns that are not changed, by role: id and time, if present.
    Each agent has one column, the probability of the positive label, or ``name:0`` to
    ``name:K-1`` for K > 2 classes; the outcome, where the table has it, becomes a class
    number, 1 for the positive label. The labels are returned too. ``.joblib`` files are
    loaded only with ``trust``.
    """
    others = {outcome: "outcome", "id": "id", "time": "time"}
    others |= {name: role for role, name in copied.items()}
    _check_names([path.stem for path in files], others)
    agents = {path.stem: load(path, trust=trust) for path in files}
    labels = _labels(agents, positive)
    names = {name: _columns(name, len(labels.names)) for name in agents}
    _check_names([column for own in names.values() for column in own], others)
    columns: dict[str, Array] = {}
    for name in copied.values():
        if name in frame.columns:
            columns[name] = np.asarray(frame[name].to_list(), dtype=object)
    table = frame.to_native()
    known = None
    if outcome in frame.columns:
        known = labels.encode(frame[outcome].to_numpy())
    for done, (name, agent) in enumerate(agents.items(), start=1):
        answer = class_probabilities(agent, table, labels, name)
        reports = answer[:, 1:] if len(labels.names) == 2 else answer
        columns |= dict(zip(names[name], reports.T, strict=True))
        if progress is not None:
            progress(name, done, len(agents))
    if known is not None:
        columns[outcome] = known
    return columns, labels


def _columns(name: str, classes: int) -> list[str]:
    return [name] if classes == 2 else [f"{name}:{k}" for k in range(classes)]


def _check_names(names: Sequence[str], others: Mapping[str, str]) -> None:
    """Refuse names of agents that another column of the table has."""
    for place, name in enumerate(names):
        taken = others.get(name, "agent" if name in names[:place] else None)
        if taken is not None:
            raise AgentError(
                "an agent is named by its file, and no two columns may have the same "
                f"name; {name!r} is also the name of the {taken} column. Rename the "
                "file."
            )


def _labels(agents: Mapping[str, Any], positive: Any) -> Labels:
    """Return the labels of all agents, which must agree on the positive one."""
    kinds = {agent.classes_.dtype.kind == "U" for agent in agents.values()}
    if len(kinds) > 1:
        raise AgentError("agents must agree on labels; some know text, some numbers")
    classes = np.concatenate([agent.classes_ for agent in agents.values()])
    named = {n: a.positive for n, a in agents.items() if a.positive is not None}
    if len(np.unique(classes)) != 2 or not named:
        return Labels.from_outcomes(classes, positive)
    first, label = next(iter(named.items()))
    labels = Labels.from_outcomes(classes, label)
    for name, other in named.items():
        if other != label:
            raise AgentError(
                f"agents must agree on the positive label; {first!r} was trained with "
                f"{label!r}, {name!r} with {other!r}. Train one of them again "
                "(positive)."
            )
    if positive is not None and Labels.from_outcomes(classes, positive) != labels:
        raise AgentError(
            f"the positive label must be the one of training, {label!r} for "
            f"{first!r}; got {positive!r}. Leave it out, or train again (positive)."
        )
    return labels
