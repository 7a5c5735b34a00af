"""An agent that always reports the same low probability."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.panel.panel import Panel
from truepool_lab.stress.interface import Stress


@final
@dataclass(frozen=True)
class ConstantLow(Stress):
    r"""Report p = 0.01 in every case, to suppress detection (apd:adversarial).

    With K classes p is the total probability of all classes but 0, shared equally:
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
            raise SettingError(f"a report must lie in [0, 1]; got p={self.p!r}")

    def _transform(self, panel: Panel, columns: list[int], seed: int) -> FloatArray:
        K = panel.classes
        constant = np.full(K, self.p / (K - 1))
        constant[0] = 1.0 - self.p
        constant = np.array([self.p]) if K == 2 else constant
        return np.broadcast_to(constant, (len(panel), len(columns), constant.size))
