"""Networks that read the agents in their columns."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from truepool.pools.layers import Parameters, Tensor, drawn, joined, through
from truepool.pools.neural import CLASSES, LEARNED, NeuralPool

COLUMNS = "the network starts from random numbers that belong to columns"


class DensePool(NeuralPool):
    """A multi-layer perceptron on all log-odds of a case, and on who is silent.

    The slopes of silence start at zero and stay there as long as nobody was silent,
    so that a silence never seen before only means agreement with those who spoke.
    """

    layers: ClassVar[int]
    excused: ClassVar[Mapping[str, str]] = {
        "unanimity": LEARNED,
        "label swap": CLASSES,
        "permutation": COLUMNS,
        "duplicate": COLUMNS,
    }

    def _start(self, rng: np.random.Generator, agents: int, odds: int) -> Parameters:
        sizes = [agents * odds, *[self.hidden] * self.layers, odds]
        start = drawn(rng, "head", sizes)
        silence = np.zeros((agents, self.hidden))
        return start | {"head.0": np.vstack([start["head.0"], silence])}

    def _network(
        self, known: Mapping[str, Tensor], scale: Tensor, spoke: Tensor
    ) -> Tensor:
        seen = scale.flatten(1), 1.0 - spoke
        return through(known, "head", joined(seen), open_end=True)
