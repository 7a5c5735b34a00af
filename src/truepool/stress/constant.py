"""The agent that never sees anything."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.data.panel import Panel
from truepool.stress.interface import Stress


@final
@dataclass(frozen=True)
class ConstantLow(Stress):
    r"""Says p = 0.01 whatever the case, to suppress detection (apd:adversarial).

    With K classes p is the probability that anything happens, dealt out evenly:
    :math:`(1 - p, p / (K-1), \dots)`.

    >>> panel = Panel([[0.9, 0.6], [0.2, 0.3]], [1, 0], agents=("ada", "bob"))
    >>> ConstantLow()(panel, "bob").reports
    array([[0.9 , 0.01],
           [0.2 , 0.01]])
    """

    name: ClassVar[str] = "constant-low"
    p: float = 0.01

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise SettingError(f"a report must lie in [0, 1]; p is {self.p!r}")

    def _said(self, panel: Panel, who: list[int], seed: int) -> FloatArray:
        K = panel.classes
        word = np.full(K, self.p / (K - 1))
        word[0] = 1.0 - self.p
        word = np.array([self.p]) if K == 2 else word
        return np.broadcast_to(word, (len(panel), len(who), word.size))
