"""Agents that agree on a common report."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_log_scale, log_scale, mean_report
from truepool.core.errors import SettingError
from truepool.panel.panel import Panel
from truepool_lab.stress.interface import Stress


@final
@dataclass(frozen=True)
class Collusion(Stress):
    r"""A group sends one common report, pushed to one side.

    All members with a report send the mean of their log-odds, plus a push:

    .. math:: \operatorname{logit} p_{ti} =
              \operatorname{mean}_{j \in group} \operatorname{logit} p_{tj} + push.

    A push of -2 divides the odds by 7. With K classes it goes to every class but 0.
    They stay informed, which makes them hard to tell from honest agents.

    >>> panel = Panel([[0.9, 0.6, 0.7], [0.2, 0.3, 0.4]], [1, 0])
    >>> Collusion(push=-1)(panel, ["agent0", "agent1"]).reports.round(2)
    array([[0.57, 0.57, 0.7 ],
           [0.11, 0.11, 0.4 ]])
    """

    name: ClassVar[str] = "collusion"
    push: float = -2.0

    def __post_init__(self) -> None:
        if not np.isfinite(self.push):
            raise SettingError(f"a push must be a finite number; got {self.push!r}")

    def _transform(self, panel: Panel, columns: list[int], seed: int) -> FloatArray:
        odds = mean_report(log_scale(panel.values[:, columns])) + self.push
        common = from_log_scale(odds)[:, None]  # (T, 1, C)
        return np.broadcast_to(common, (len(panel), len(columns), common.shape[2]))
