"""Who says the same."""

import numpy as np

from truepool.arrays import FloatArray
from truepool.audit.values import Audit
from truepool.render import figures
from truepool.render.markup import joined, tag
from truepool.render.numbers import number
from truepool.render.page.frame import Section
from truepool.render.page.pictures import MOST_ROWS, pictured, row_of


def section(audit: Audit) -> Section:
    """Return the correlation of the agents as a heat map."""
    N = len(audit.agents)
    agents, matrix = _closest(audit)
    few = f" The {len(agents)} closest of {N}." if len(agents) < N else ""
    worth = f"The {N} agents are worth {audit.effective_agents:.1f} independent ones."
    drawn = pictured(
        figures.correlation(agents, matrix),
        "correlation",
        f"Heat map of the correlation of reports. {_pair(audit)}",
        "Correlation of what the agents say: the deeper the blue, the more alike; red "
        f"says the opposite.{few}",
    )
    inside = joined(tag("p", worth), row_of([drawn]))
    return Section("redundancy", "Redundancy", "Who says the same?", inside)


def _closest(audit: Audit) -> tuple[list[str], FloatArray]:
    """Agents that a heat map has room for, with their correlations."""
    nearest = _others(np.abs(audit.correlation)).max(axis=1)
    kept = np.sort(np.argsort(-nearest, kind="stable")[:MOST_ROWS])
    return [audit.agents[i] for i in kept], audit.correlation[np.ix_(kept, kept)]


def _pair(audit: Audit) -> str:
    others = _others(audit.correlation)
    i, j = np.unravel_index(int(others.argmax()), others.shape)
    told = number(float(others[i, j]))
    return f"Closest are {audit.agents[i]} and {audit.agents[j]}, {told}."


def _others(matrix: FloatArray) -> FloatArray:
    """Correlations with others, -1 where there is none to tell."""
    others = np.nan_to_num(matrix, nan=-1.0)
    np.fill_diagonal(others, -1.0)
    return others
