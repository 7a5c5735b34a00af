"""The networks as torch modules, draws by numpy.

One seed starts alike on any torch and any device. Each maps log-odds (T, N, J) without
gaps, and who reported (T, N), to pooled log-odds (T, J).
"""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from truepool.core.arrays import FloatArray


class Network(nn.Module):  # type: ignore[misc]
    """A network that ends in ``head``, from anything to J log-odds."""

    head: nn.Sequential

    def start(self, rng: np.random.Generator, rate: FloatArray) -> None:
        """Draw the parameters; the last layer answers ``rate`` (J,) to everything."""
        with torch.no_grad():
            self._draw(rng)
            self.head[-1].weight.zero_()
            self.head[-1].bias.copy_(torch.from_numpy(rate))

    @abstractmethod
    def _draw(self, rng: np.random.Generator) -> None:
        """Draw the parameters."""


class Dense(Network):
    """A multi-layer perceptron on all log-odds of a case, and on who is silent."""

    def __init__(self, agents: int, odds: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.head = _layers([agents * odds + agents, *[hidden] * layers, odds])
        self.silence = agents

    def forward(self, scale: Tensor, reported: Tensor) -> Tensor:
        """Pool log-odds (T, N, J) into (T, J)."""
        return self.head(torch.cat([scale.flatten(1), 1.0 - reported], dim=1))

    def _draw(self, rng: np.random.Generator) -> None:
        _draw_layers(self.head, rng, unseen=self.silence)


class DeepSets(Network):
    """A mean over the agents that reported, between two perceptrons."""

    def __init__(self, odds: int, hidden: int) -> None:
        super().__init__()
        wide = max(1, hidden // 2)
        self.each = _layers([odds, wide, wide])
        self.head = _layers([wide + 1, hidden, odds])

    def forward(self, scale: Tensor, reported: Tensor) -> Tensor:
        """Pool log-odds (T, N, J) into (T, J)."""
        each = self.each(scale).relu()  # (T, N, H)
        count = reported.sum(1, keepdim=True)
        mean = (each * reported[..., None]).sum(1) / count
        return self.head(torch.cat([mean, 1.0 - count / reported.shape[1]], dim=1))

    def _draw(self, rng: np.random.Generator) -> None:
        _draw_layers(self.each, rng)
        _draw_layers(self.head, rng, unseen=1)


class Attention(Network):
    """Agents attend to each other, then a learned question attends to the agents."""

    def __init__(self, agents: int, odds: int, hidden: int) -> None:
        super().__init__()
        wide = max(1, hidden // 2)
        self.report = _layers([odds, wide])
        self.agent = nn.Parameter(torch.zeros(agents, wide, dtype=torch.double))
        self.query, self.key, self.value = (
            nn.Linear(wide, wide, bias=False, dtype=torch.double) for _ in range(3)
        )
        self.question = nn.Parameter(torch.zeros(1, wide, dtype=torch.double))
        self.head = _layers([wide, hidden, odds])

    def forward(self, scale: Tensor, reported: Tensor) -> Tensor:
        """Pool log-odds (T, N, J) into (T, J)."""
        agents = (self.report(scale) + self.agent).relu()  # (T, N, H)
        visible = (reported > 0)[:, None, :]  # (T, 1, N): nobody attends to the silent
        agents = agents + scaled_dot_product_attention(
            self.query(agents), self.key(agents), self.value(agents), visible
        )
        question = self.question.expand(len(agents), 1, -1)
        read = scaled_dot_product_attention(question, agents, agents, visible)
        return self.head(read[:, 0])

    def _draw(self, rng: np.random.Generator) -> None:
        wide = self.agent.shape[1]
        for turn in (self.query, self.key, self.value):
            draws = rng.normal(scale=1 / sqrt(wide), size=(wide, wide))
            turn.weight.copy_(torch.from_numpy(draws.T))
        _draw_layers(self.report, rng)
        self.question.copy_(torch.from_numpy(rng.normal(size=(wide, 1)).T))
        _draw_layers(self.head, rng)


def _layers(sizes: Sequence[int]) -> nn.Sequential:
    """Dense layers from each size to the next, a ReLU between them."""
    layers: list[nn.Module] = []
    for n, m in pairwise(sizes):
        layers += [nn.Linear(n, m, dtype=torch.double), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _draw_layers(
    layers: nn.Sequential, rng: np.random.Generator, unseen: int = 0
) -> None:
    r"""Draw slopes :math:`N(0, 2 / n)` (He et al. 2015), no shifts.

    The slopes of the last ``unseen`` inputs of the first layer start at zero.
    """
    for place, layer in enumerate(layers[::2]):
        layer.weight.zero_()
        layer.bias.zero_()
        m, n = layer.weight.shape
        n -= unseen if place == 0 else 0
        draws = rng.normal(scale=np.sqrt(2.0 / n), size=(n, m))
        layer.weight[:, :n] = torch.from_numpy(draws.T)
