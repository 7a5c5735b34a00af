"""The agent that says anything."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_classes
from truepool.data.panel import Panel
from truepool.stress.draws import BABBLE, drawn
from truepool.stress.interface import Stress


@final
@dataclass(frozen=True)
class RandomNoise(Stress):
    """Says any probability, all equally likely (apd:adversarial).

    With K classes any point of the simplex. Each agent has draws of its own.

    >>> panel = Panel([[0.9, 0.6], [0.2, 0.3]], [1, 0], agents=("ada", "bob"))
    >>> RandomNoise()(panel, "bob", seed=1).reports.round(2)
    array([[0.9 , 0.45],
           [0.2 , 0.19]])
    """

    name: ClassVar[str] = "random-noise"

    def _said(self, panel: Panel, who: list[int], seed: int) -> FloatArray:
        even = np.ones(panel.classes)
        words = [drawn(seed, BABBLE, i).dirichlet(even, len(panel)) for i in who]
        return from_classes(np.stack(words, axis=1))
