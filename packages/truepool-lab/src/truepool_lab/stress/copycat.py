"""An agent that copies the reports of others."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_log_scale, log_scale, mean_report
from truepool.core.errors import AgentError, SettingError
from truepool.panel.panel import Panel
from truepool_lab.stress.draws import JITTER, log_odds_noise
from truepool_lab.stress.interface import Stress


@final
@dataclass(frozen=True)
class Copycat(Stress):
    """Copy one agent, or the mean of all agents that do not copy.

    Where there is no report to copy, the agent's own report stays.

    Parameters
    ----------
    source : str, optional
        The agent to copy; by default the mean of the agents that do not copy.
    noise : float
        Standard deviation of noise added to the log-odds to hide the copying.

    Examples
    --------
    >>> panel = Panel([[0.9, 0.6], [0.2, 0.3]], [1, 0], agents=("ada", "bob"))
    >>> Copycat(source="ada")(panel, "bob").reports
    array([[0.9, 0.9],
           [0.2, 0.2]])
    """

    name: ClassVar[str] = "copycat"
    source: str | None = None
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.noise) and self.noise >= 0):
            raise SettingError(f"noise must be 0 or more; got {self.noise!r}")

    def _transform(self, panel: Panel, columns: list[int], seed: int) -> FloatArray:
        copied = self._copied_reports(panel, columns)[:, None]  # (T, 1, C)
        if self.noise:
            jitter = log_odds_noise(seed, JITTER, columns, len(panel), panel.classes)
            copied = from_log_scale(log_scale(copied) + self.noise * jitter)
        return np.where(np.isnan(copied), panel.values[:, columns], copied)

    def _copied_reports(self, panel: Panel, columns: list[int]) -> FloatArray:
        if self.source is not None:
            if self.source not in panel.agents:
                raise AgentError(
                    f"no agent is called {self.source!r}; known: "
                    f"{', '.join(panel.agents)}"
                )
            return panel.values[:, panel.agents.index(self.source)]
        others = np.delete(panel.values, columns, axis=1)
        if not others.shape[1]:
            raise AgentError(
                "a copycat needs an agent to copy; got all agents as copycats. "
                "Name fewer agents."
            )
        return mean_report(others)
