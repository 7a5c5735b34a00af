"""An agent that loses its skill."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_log_scale, log_scale
from truepool.core.errors import SettingError
from truepool.panel.panel import Panel
from truepool_lab.stress.draws import NOISE, log_odds_noise
from truepool_lab.stress.drift import schedule
from truepool_lab.stress.interface import Stress


@final
@dataclass(frozen=True)
class Degradation(Stress):
    r"""Reports that turn into noise, along a `truepool_lab.stress.drift.schedule`.

    In log-odds, over the cases in their order (of time, if they have times),

    .. math:: (1 - s_t) \operatorname{logit} p_{ti} + s_t \cdot noise \cdot z_{ti},

    with standard normal z; with K classes this holds for the log-odds of every two of
    them.

    >>> panel = Panel([[0.9, 0.6], [0.2, 0.3]] * 2, [1, 0] * 2, agents=("ada", "bob"))
    >>> Degradation("sudden")(panel, "bob").reports.round(3)
    array([[0.9  , 0.6  ],
           [0.2  , 0.3  ],
           [0.9  , 0.061],
           [0.2  , 0.889]])
    """

    name: ClassVar[str] = "degradation"
    kind: str = "sudden"
    noise: float = 1.0
    at: float = 0.5
    period: float = 0.25

    def __post_init__(self) -> None:
        if not (np.isfinite(self.noise) and self.noise >= 0):
            raise SettingError(f"noise must be 0 or more; got {self.noise!r}")
        schedule(
            self.kind, 1, at=self.at, period=self.period
        )  # refuses settings that are not valid

    def _transform(self, panel: Panel, columns: list[int], seed: int) -> FloatArray:
        T = len(panel)
        moved = np.empty(T)
        moved[panel.order] = schedule(self.kind, T, at=self.at, period=self.period)
        s = moved[:, None, None]
        own = panel.values[:, columns]
        noise = self.noise * log_odds_noise(seed, NOISE, columns, T, panel.classes)
        mixed = from_log_scale((1.0 - s) * log_scale(own) + s * noise)
        return np.where(s > 0, mixed, own)
