"""Raw reports, in the order of the agents that a pool learned from."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray, read_only
from truepool.core.errors import AgentError, ReportError, suggestion
from truepool.panel.class_report import in_class_order
from truepool.panel.reports import check_reports, column_names


def match_columns(
    reports: ArrayLike, agents: tuple[str, ...], *, by_name: bool
) -> FloatArray:
    """Coordinates (T, N, C) of raw reports; columns of a frame may be in any order."""
    if isinstance(reports, Mapping):
        raise ReportError(
            "reports must be an array or a frame with one row per case; got a "
            f"{type(reports).__name__}. Give the reports on one case, by agent, to "
            "predict_proba_one or decide_one."
        )
    names = column_names(reports) if by_name else ()
    order = _order(names, agents) if names and names != agents else None
    values, _ = check_reports(reports, names or _if_as_wide(reports, agents))
    return values if order is None else read_only(values[:, order])


def match_one(
    reports: Mapping[str, Any], agents: tuple[str, ...], classes: tuple[str, ...]
) -> FloatArray:
    """Coordinates (1, N, C) of the reports on one case, by agent.

    Of more than two ``classes`` a report is their probabilities, in their order or by
    name.
    """
    unknown = [name for name in reports if name not in agents]
    if unknown:
        raise AgentError(
            f"every report must be by an agent learned from; got {unknown[0]!r}"
            f"{suggestion(str(unknown[0]), agents)}; known: {', '.join(agents)}"
        )
    given = [reports.get(agent) for agent in agents]
    if len(classes) > 2:
        given = [
            _by_class(agent, report, classes)
            for agent, report in zip(agents, given, strict=True)
        ]
    values, _ = check_reports(np.array([given], dtype=np.float64), agents)
    return values


def _by_class(agent: str, report: Any, classes: tuple[str, ...]) -> list[Any]:
    """Probabilities of one report in the order of the classes."""
    if report is None:
        return [np.nan] * len(classes)
    found = in_class_order(report, classes)
    if found is not None:
        return found
    got = repr(report)
    if isinstance(report, Mapping):
        got = ", ".join(repr(str(name)) for name in report) or "none"
    example = ", ".join(f"{name!r}: ..." for name in classes)
    raise ReportError(
        f"a report must give each of the {len(classes)} classes a probability; agent "
        f"{agent!r} has {got}. Write {{{example}}}, or a list in this order."
    )


def content_order(values: FloatArray) -> list[int]:
    """Order of the agents by what they reported (T, N, C), whatever their columns.

    A model that breaks ties by the order of its columns, or starts from numbers that
    belong to columns, learns the same from agents in any order. Only agents with
    identical reports stay in the order they came in.

    >>> content_order(np.array([[[0.5], [0.25]]]))
    [1, 0]
    """
    # Adding 0.0 makes -0.0 and 0.0 one number; all missing reports are the same bytes.
    columns = np.where(np.isnan(values), -1.0, values + 0.0).transpose(1, 0, 2)
    return sorted(range(len(columns)), key=lambda i: columns[i].tobytes())


def _if_as_wide(reports: ArrayLike, agents: tuple[str, ...]) -> tuple[str, ...]:
    """Agents' names for a message, where the reports have the right width."""
    try:
        shape = np.shape(reports)
    except ValueError:  # rows of different lengths, which the check of reports refuses
        return ()
    return agents if len(shape) > 1 and shape[1] == len(agents) else ()


def _order(names: tuple[str, ...], agents: tuple[str, ...]) -> list[int]:
    missing = [name for name in agents if name not in names]
    unknown = [name for name in names if name not in agents]
    if missing or unknown:
        raise AgentError(
            "the agents must be the ones learned from; "
            + "; ".join(
                f"{what} {', '.join(map(repr, which))}"
                for what, which in (("missing", missing), ("unknown", unknown))
                if which
            )
            + ". Give a column for each of pool.agents_, and no other."
        )
    return [names.index(name) for name in agents]
