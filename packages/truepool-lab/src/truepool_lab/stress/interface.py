"""What every stress is: a transform of some agents' reports in a panel."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import ceil
from typing import ClassVar, TypeAlias

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import AgentError, SettingError
from truepool.panel.panel import Panel
from truepool_lab.stress.draws import CHOICE, generator

Agents: TypeAlias = str | Sequence[str] | float
"""A name, several names, or a share of all agents (drawn by seed, rounded up)."""


class Stress(ABC):
    """A transform of a panel, called as ``stress(panel, agents, seed=0)``.

    A stress is a frozen value of its settings, written by one method, `_transform`.
    The call guarantees that the other agents do not change, to the bit, that missing
    reports stay missing, and that the panel passed in does not change.

    Attributes
    ----------
    name : str
        What `truepool_lab.stress.every` calls it.
    """

    name: ClassVar[str]

    def __call__(self, panel: Panel, agents: Agents, *, seed: int = 0) -> Panel:
        """Return the panel with these agents under stress."""
        columns = select_agents(panel, agents, seed=seed)
        if not columns:
            return panel
        values = panel.values.copy()
        missing = np.isnan(values[:, columns])
        reports = self._transform(panel, columns, seed)
        values[:, columns] = np.where(missing, np.nan, reports)
        return panel.with_reports(values)

    @abstractmethod
    def _transform(self, panel: Panel, columns: list[int], seed: int) -> FloatArray:
        """Reports of the agents in these columns under stress, (T, len(columns), C).

        Values where an agent has no report do not matter.
        """


def select_agents(panel: Panel, agents: Agents, *, seed: int = 0) -> list[int]:
    """Columns of the selected agents, in the order of the panel.

    A larger share adds agents to a smaller one, and the same seed and share select the
    same agents for every stress.

    >>> panel = Panel([[0.9, 0.6, 0.5], [0.2, 0.3, 0.4]], [1, 0])
    >>> select_agents(panel, ["agent2", "agent0"]), select_agents(panel, 1.0)
    ([0, 2], [0, 1, 2])
    """
    if isinstance(agents, int | float | np.number):
        if not 0 <= agents <= 1:
            raise SettingError(
                f"a share of the agents must lie in [0, 1]; got {agents!r}. "
                "Pass a share, or the names of agents."
            )
        N = len(panel.agents)
        order = generator(seed, CHOICE).permutation(N)
        return sorted(order[: ceil(agents * N - 1e-9)].tolist())
    names = (agents,) if isinstance(agents, str) else tuple(agents)
    unknown = [name for name in names if name not in panel.agents]
    if unknown:
        raise AgentError(
            f"no agent is called {unknown[0]!r}; known: {', '.join(panel.agents)}"
        )
    return sorted({panel.agents.index(name) for name in names})
