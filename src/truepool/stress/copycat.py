"""The agent that repeats others."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_log_scale, log_scale, mean_report
from truepool.core.errors import AgentError, SettingError
from truepool.data.panel import Panel
from truepool.stress.draws import JITTER, log_odds
from truepool.stress.interface import Stress


@final
@dataclass(frozen=True)
class Copycat(Stress):
    """Repeats one agent, or the mean of all who do not copy, and claims the credit.

    Where there is nobody to repeat, because they are silent, a copycat says what it
    would have said.

    Parameters
    ----------
    of : str, optional
        The agent repeated; by default the mean of those who do not copy.
    noise : float
        Standard deviation of what is added to the log-odds, to hide the copying.

    Examples
    --------
    >>> panel = Panel([[0.9, 0.6], [0.2, 0.3]], [1, 0], agents=("ada", "bob"))
    >>> Copycat(of="ada")(panel, "bob").reports
    array([[0.9, 0.9],
           [0.2, 0.2]])
    """

    name: ClassVar[str] = "copycat"
    of: str | None = None
    noise: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.noise) and self.noise >= 0):
            raise SettingError(f"noise must be 0 or more; it is {self.noise!r}")

    def _said(self, panel: Panel, who: list[int], seed: int) -> FloatArray:
        model = self._model(panel, who)[:, None]  # (T, 1, C)
        if self.noise:
            hidden = log_odds(seed, JITTER, who, len(panel), panel.classes)
            model = from_log_scale(log_scale(model) + self.noise * hidden)
        return np.where(np.isnan(model), panel.values[:, who], model)

    def _model(self, panel: Panel, who: list[int]) -> FloatArray:
        if self.of is not None:
            if self.of not in panel.agents:
                raise AgentError(
                    f"no agent is called {self.of!r}; known: {', '.join(panel.agents)}"
                )
            return panel.values[:, panel.agents.index(self.of)]
        others = np.delete(panel.values, who, axis=1)
        if not others.shape[1]:
            raise AgentError(
                "a copycat needs somebody to copy; all agents copy. Leave one out."
            )
        return mean_report(others)
