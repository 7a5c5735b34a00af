"""An agent that reports noise."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_classes
from truepool.panel.panel import Panel
from truepool_lab.stress.draws import NOISE, generator
from truepool_lab.stress.interface import Stress


@final
@dataclass(frozen=True)
class RandomNoise(Stress):
    """Report a uniformly random probability (apd:adversarial).

    With K classes a uniformly random point of the simplex. Draws differ by agent.

    >>> panel = Panel([[0.9, 0.6], [0.2, 0.3]], [1, 0], agents=("ada", "bob"))
    >>> RandomNoise()(panel, "bob", seed=1).reports.round(2)
    array([[0.9 , 0.45],
           [0.2 , 0.19]])
    """

    name: ClassVar[str] = "random-noise"

    def _transform(self, panel: Panel, columns: list[int], seed: int) -> FloatArray:
        uniform = np.ones(panel.classes)
        reports = [
            generator(seed, NOISE, i).dirichlet(uniform, len(panel)) for i in columns
        ]
        return from_classes(np.stack(reports, axis=1))
