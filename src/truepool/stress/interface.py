"""What every stress is: some agents of a panel say something else."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import ceil
from typing import ClassVar, TypeAlias

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import AgentError, SettingError
from truepool.data.panel import Panel
from truepool.stress.draws import CHOICE, drawn

Agents: TypeAlias = str | Sequence[str] | float
"""A name, several names, or a share of all agents, drawn by seed and rounded up."""


class Stress(ABC):
    """A transform of a panel, called as ``stress(panel, agents, seed=0)``.

    A stress is a frozen value of its settings and is written by one method, `_said`.
    Here it is made sure, once, that the other agents are left alone to the bit, that
    who was silent stays silent, and that the panel given stays as it was.

    Attributes
    ----------
    name : str
        What `truepool.stress.every` calls it.
    """

    name: ClassVar[str]

    def __call__(self, panel: Panel, agents: Agents, *, seed: int = 0) -> Panel:
        """Return the panel with these agents under stress."""
        who = chosen(panel, agents, seed=seed)
        if not who:
            return panel
        said = panel.values[:, who]
        heard = np.where(np.isnan(said), np.nan, self._said(panel, who, seed))
        values = panel.values.copy()
        values[:, who] = heard
        return panel.with_reports(values)

    @abstractmethod
    def _said(self, panel: Panel, who: list[int], seed: int) -> FloatArray:
        """What the agents in these columns say now, (T, len(who), C).

        What is said where an agent is silent does not matter.
        """


def chosen(panel: Panel, agents: Agents, *, seed: int = 0) -> list[int]:
    """Columns of the agents meant, in the order of the panel.

    A larger share adds agents to a smaller one, and the same seed and share mean the
    same agents for every stress.

    >>> panel = Panel([[0.9, 0.6, 0.5], [0.2, 0.3, 0.4]], [1, 0])
    >>> chosen(panel, ["agent2", "agent0"]), chosen(panel, 0.5), chosen(panel, 1.0)
    ([0, 2], [0, 2], [0, 1, 2])
    """
    if isinstance(agents, int | float | np.number):
        if not 0 <= agents <= 1:
            raise SettingError(
                f"a share of the agents must lie in [0, 1]; it is {agents!r}. "
                "Name them, or give a share."
            )
        N = len(panel.agents)
        order = drawn(seed, CHOICE).permutation(N)
        return sorted(order[: ceil(agents * N - 1e-9)].tolist())
    names = (agents,) if isinstance(agents, str) else tuple(agents)
    unknown = [name for name in names if name not in panel.agents]
    if unknown:
        raise AgentError(
            f"no agent is called {unknown[0]!r}; known: {', '.join(panel.agents)}"
        )
    return sorted({panel.agents.index(name) for name in names})
