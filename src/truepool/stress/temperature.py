"""The agent that knows, but does not know how well."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_classes, to_classes
from truepool.core.errors import SettingError
from truepool.data.panel import Panel
from truepool.stress.interface import Stress


@final
@dataclass(frozen=True)
class Temperature(Stress):
    r"""Miscalibration as in apd:miscalibration: log-odds divided by a temperature.

    .. math:: p'_k \propto p_k^{1 / T}

    T = 0.5 is overconfident, T = 1.5 underconfident, T = 1 leaves all as it is; one
    temperature after another is their product. Certainties stay certain.

    >>> panel = Panel([[0.9, 0.6], [0.2, 0.3]], [1, 0], agents=("ada", "bob"))
    >>> Temperature(0.5)(panel, "bob").reports.round(3)
    array([[0.9  , 0.692],
           [0.2  , 0.155]])
    """

    name: ClassVar[str] = "temperature"
    T: float = 1.5

    def __post_init__(self) -> None:
        if not (np.isfinite(self.T) and self.T > 0):
            raise SettingError(f"a temperature must be positive; T is {self.T!r}")

    def _said(self, panel: Panel, who: list[int], seed: int) -> FloatArray:
        said = panel.values[:, who]
        if self.T == 1:
            return said
        full = to_classes(said)
        # Relative to the largest, so that no power of a small number drowns them all.
        full = (full / full.max(axis=-1, keepdims=True)) ** (1.0 / self.T)
        return from_classes(full / full.sum(axis=-1, keepdims=True))
