"""An agent that is overconfident or underconfident."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_classes, to_classes
from truepool.core.errors import SettingError
from truepool.panel.panel import Panel
from truepool_lab.stress.interface import Stress


@final
@dataclass(frozen=True)
class Temperature(Stress):
    r"""Miscalibration as in apd:miscalibration: log-odds divided by a temperature.

    .. math:: p'_k \propto p_k^{1 / T}

    T = 0.5 is overconfident, T = 1.5 underconfident, T = 1 changes nothing; one
    temperature after another is their product. Reports of 0 and 1 do not change.

    >>> panel = Panel([[0.9, 0.6], [0.2, 0.3]], [1, 0], agents=("ada", "bob"))
    >>> Temperature(0.5)(panel, "bob").reports.round(3)
    array([[0.9  , 0.692],
           [0.2  , 0.155]])
    """

    name: ClassVar[str] = "temperature"
    T: float = 1.5

    def __post_init__(self) -> None:
        if not (np.isfinite(self.T) and self.T > 0):
            raise SettingError(f"a temperature must be positive; got T={self.T!r}")

    def _transform(self, panel: Panel, columns: list[int], seed: int) -> FloatArray:
        own = panel.values[:, columns]
        if self.T == 1:
            return own
        full = to_classes(own)
        # Relative to the largest, so that not all powers underflow.
        full = (full / full.max(axis=-1, keepdims=True)) ** (1.0 / self.T)
        return from_classes(full / full.sum(axis=-1, keepdims=True))
