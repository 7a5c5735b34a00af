"""A network that learns whom to listen to, case by case."""

from collections.abc import Mapping
from math import sqrt
from typing import ClassVar, final

import numpy as np

from truepool.pools.layers import Parameters, Tensor, drawn, through
from truepool.pools.neural import NeuralPool


@final
class Attention(NeuralPool):
    r"""Agents attend to each other, then the pool attends to the agents.

    An agent is what it said plus who it is, :math:`h_i = relu(A z_i + a + u_i)`. Agents
    read each other by scaled dot products (Vaswani et al. 2017),

    .. math:: h'_i = h_i + \sum_j \operatorname{softmax}_j
              \Bigl( \frac{(Q h_i)^\top K h_j}{\sqrt d} \Bigr) V h_j,

    and a learned question q reads them all in the same way; two dense layers make the
    answer. Nobody attends to a silent agent. The :math:`u_i` start at zero, so
    that agents differ only in what they say until the outcomes tell them apart. They
    are half as wide as the hidden layer of the answer.

    >>> reports = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 5
    >>> pool = Attention(epochs=50, rate=0.01).fit(reports, [1, 0, 1, 0] * 5)
    >>> pool.predict([[0.8, 0.7], [0.2, 0.3]])
    array([1, 0])
    """

    name: ClassVar[str] = "attention"

    def _start(self, rng: np.random.Generator, agents: int, odds: int) -> Parameters:
        H, head = max(1, self.hidden // 2), self.hidden
        turns = {
            name: rng.normal(scale=1 / sqrt(H), size=(H, H))
            for name in ("asks", "offers", "tells")
        }
        return {
            **drawn(rng, "said", [odds, H]),
            "who": np.zeros((agents, H)),
            **turns,
            "question": rng.normal(size=(H, 1)),
            **drawn(rng, "head", [H, head, odds]),
        }

    def _network(
        self, known: Mapping[str, Tensor], scale: Tensor, spoke: Tensor
    ) -> Tensor:
        root = sqrt(known["who"].shape[1])
        said = through(known, "said", scale, open_end=True)
        agents = (said + known["who"]).relu()  # (T, N, H)
        asks, offers = agents @ known["asks"], agents @ known["offers"]
        links = asks @ offers.transpose(1, 2) / root  # (T, N, N)
        silent = (spoke == 0)[:, None, :]
        heeds = links.masked_fill(silent, -np.inf).softmax(-1)
        agents = agents + heeds @ (agents @ known["tells"])
        links = (agents @ known["question"]).transpose(1, 2) / root  # (T, 1, N)
        heeds = links.masked_fill(silent, -np.inf).softmax(-1)
        return through(known, "head", (heeds @ agents)[:, 0], open_end=True)
