"""Reports as a request gives them, as the ledger stores them, and back."""

from collections.abc import Iterable, Mapping
from struct import Struct
from typing import Any

import numpy as np

from truepool.core.arrays import to_classes
from truepool.core.errors import AgentError, RequestError, SettingError
from truepool.online.stream import coordinates
from truepool.panel.labels import format_labels
from truepool_serve.messages import check_name
from truepool_serve.server.databases import Row
from truepool_serve.server.state import PoolState

NUMBER = Struct("d")
"""A coordinate, as numpy has it in memory."""
Report = tuple[str, str, Any]
"""Case, agent, and a probability or one per class."""


def known_reports(
    state: PoolState, case: str, stored: Mapping[int, bytes]
) -> dict[str, Any]:
    """Reports on a case by agents that are still there, in their order."""
    known = {
        state.agents[i]: probabilities(stored[i])
        for i in sorted(stored)
        if state.agents[i] in state.active
    }
    if not known:
        raise RequestError(
            "unknown", f"no agent has reported on case {case!r:.60}; nothing to pool"
        )
    return known


def as_rows(state: PoolState, reports: Iterable[Report]) -> list[Row]:
    """Check reports, and return them as the ledger stores them."""
    places, K = state.places, len(state.pool.labels.names)
    rows, last = [], None
    for case, agent, report in reports:
        place = places.get(agent)
        if place is None:
            raise AgentError(
                f"no agent is called {agent!r:.60}; known: {', '.join(state.active)}"
            )
        if case != last:  # the reports on a case mostly follow each other
            last = check_name("a case", case)
        if K == 2 and type(report) is float and 0.0 <= report <= 1.0:
            value = NUMBER.pack(report + 0.0)  # no -0.0
        else:
            checked = coordinates(agent, _numbers(agent, report, case), K, case)
            value = (checked + 0.0).tobytes()
        rows.append((case, place, value))
    return rows


def _numbers(agent: str, report: Any, case: str) -> Any:
    """Refuse a report that is no number or numbers, such as text or None."""
    parts = report if isinstance(report, list) else [report]
    if not parts or any(
        isinstance(part, bool) or not isinstance(part, int | float) or part != part
        for part in parts
    ):
        raise SettingError(
            "a report must be a probability, or a list of one per class; agent "
            f"{agent!r} has {report!r:.60} on case {case!r:.60}. Leave out a report "
            "that is missing."
        )
    return report


def probabilities(value: bytes) -> Any:
    """Report of stored coordinates: a probability, or one per class."""
    found = np.frombuffer(value)
    return float(found[0]) if found.size == 1 else to_classes(found).tolist()


def check_columns(columns: Mapping[str, Any] | None) -> dict[str, float]:
    """Return what the costs of a case depend on; refuse what is no number."""
    given = columns or {}
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SettingError(
                f"columns of a case must be numbers; {format_labels([name])} is "
                f"{value!r:.60}"
            )
    return dict(given)
