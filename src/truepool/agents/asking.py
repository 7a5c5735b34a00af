"""Saved agents asked about a table, as columns of a table of reports."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from truepool.agents.interface import said
from truepool.agents.labels import as_labels, places
from truepool.agents.saving import load
from truepool.arrays import Array
from truepool.errors import AgentError


def reported(
    frame: Any,
    files: Sequence[Path],
    outcome: str,
    id: str,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Array]:
    """Columns of id, reports and outcome, as `truepool.read_panel` reads them.

    Each agent has one column, or ``name:0`` to ``name:K-1`` for K > 2 classes; the
    outcome, where the table has it, becomes the place of its label among the classes.
    """
    agents = {path.stem: load(path) for path in files}
    if len(agents) < len(files):
        raise AgentError("every agent needs a name of its own; rename one of the files")
    kinds = {agent.classes_.dtype.kind == "U" for agent in agents.values()}
    if len(kinds) > 1:
        raise AgentError("agents must agree on labels; some know text, some numbers")
    classes = np.unique(np.concatenate([agent.classes_ for agent in agents.values()]))
    columns: dict[str, Array] = {}
    if id in frame.columns:
        columns[id] = np.asarray(frame[id].to_list(), dtype=object)
    rows = frame.to_native()
    for done, (name, agent) in enumerate(agents.items(), start=1):
        answer = said(agent, rows, classes, name)
        if len(classes) == 2:
            columns[name] = answer[:, 1]
        else:
            columns |= {f"{name}:{k}": answer[:, k] for k in range(len(classes))}
        if progress is not None:
            progress(name, done, len(agents))
    if outcome in frame.columns:
        columns[outcome] = places(as_labels(frame[outcome].to_numpy()), classes)
    return columns
