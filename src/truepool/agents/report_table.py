"""A table of the reports of saved agents."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from truepool.agents.interface import class_probabilities
from truepool.agents.storage import load
from truepool.core.arrays import Array
from truepool.core.errors import AgentError
from truepool.data.labels import Labels


def report_columns(
    frame: Any,
    files: Sequence[Path],
    outcome: str,
    id: str,
    progress: Callable[[str, int, int], None] | None = None,
    *,
    positive: Any = None,
) -> tuple[dict[str, Array], Labels]:
    """Return columns of id, reports and outcome, as `truepool.read_panel` reads them.

    Each agent has one column, the probability of the positive label, or ``name:0`` to
    ``name:K-1`` for K > 2 classes; the outcome, where the table has it, becomes a class
    number, 1 for the positive label. The labels are returned too.
    """
    agents = {path.stem: load(path) for path in files}
    if len(agents) < len(files):
        raise AgentError("every agent needs a name of its own; rename one of the files")
    labels = _labels(agents, positive)
    columns: dict[str, Array] = {}
    if id in frame.columns:
        columns[id] = np.asarray(frame[id].to_list(), dtype=object)
    table = frame.to_native()
    known = None
    if outcome in frame.columns:
        known = labels.encode(frame[outcome].to_numpy())
    for done, (name, agent) in enumerate(agents.items(), start=1):
        answer = class_probabilities(agent, table, labels, name)
        if len(labels.names) == 2:
            columns[name] = answer[:, 1]
        else:
            columns |= {f"{name}:{k}": answer[:, k] for k in range(len(labels.names))}
        if progress is not None:
            progress(name, done, len(agents))
    if known is not None:
        columns[outcome] = known
    return columns, labels


def _labels(agents: Mapping[str, Any], positive: Any) -> Labels:
    """Return the labels of all agents, which must agree on the positive one."""
    kinds = {agent.classes_.dtype.kind == "U" for agent in agents.values()}
    if len(kinds) > 1:
        raise AgentError("agents must agree on labels; some know text, some numbers")
    classes = np.concatenate([agent.classes_ for agent in agents.values()])
    named = {n: a.positive for n, a in agents.items() if a.positive is not None}
    if len(np.unique(classes)) != 2 or not named:
        return Labels.of(classes, positive)
    first, label = next(iter(named.items()))
    labels = Labels.of(classes, label)
    for name, other in named.items():
        if other != label:
            raise AgentError(
                f"agents must agree on the positive label; {first!r} was trained with "
                f"{label!r}, {name!r} with {other!r}. Train one of them again "
                "(--positive)."
            )
    if positive is not None and Labels.of(classes, positive) != labels:
        raise AgentError(
            f"the positive label must be the one of training, {label!r} for "
            f"{first!r}; got {positive!r}. Leave it out, or train again (--positive)."
        )
    return labels
