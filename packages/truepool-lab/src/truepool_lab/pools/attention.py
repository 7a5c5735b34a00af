"""A network that learns which agents to attend to, case by case."""

from math import sqrt
from typing import Any, ClassVar, final

import numpy as np

from truepool.pools.onnx.graph import dense
from truepool_lab.pools.neural import NeuralPool

MOST_AGENTS = 300
"""Most agents: each case needs a table of every agent against every other."""


@final
class Attention(NeuralPool):
    r"""Agents attend to each other, then the pool attends to the agents.

    An agent is embedded by its report and its identity, :math:`h_i = relu(A z_i + a +
    u_i)`. Agents read each other by scaled dot products (Vaswani et al. 2017),

    .. math:: h'_i = h_i + \sum_j \operatorname{softmax}_j
              \Bigl( \frac{(Q h_i)^\top K h_j}{\sqrt d} \Bigr) V h_j,

    and a learned question q reads them all in the same way; two dense layers make the
    answer. Agents without a report are masked. The :math:`u_i` start at zero, so
    that agents differ only in what they say until the outcomes tell them apart. They
    are half as wide as the hidden layer of the answer.

    >>> reports = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 5
    >>> pool = Attention(epochs=50, rate=0.01).fit(reports, [1, 0, 1, 0] * 5)
    >>> pool.predict([[0.8, 0.7], [0.2, 0.3]])
    array([1, 0])
    """

    name: ClassVar[str] = "attention"
    most_agents: ClassVar[int | None] = MOST_AGENTS

    def _module(self, modules: Any, agents: int, odds: int) -> Any:
        return modules.Attention(agents, odds, self.hidden)

    def _record_odds(self, scale: Any, reported: Any) -> Any:
        known = self.parameters_
        own = dense(scale, self._layers("report")) + known["agent"]
        agents = np.maximum(own, 0.0)
        scaled = 1 / sqrt(known["agent"].shape[1])
        query = agents @ (scaled * known["query.weight"].T)
        key, value = (agents @ known[f"{name}.weight"].T for name in ("key", "value"))
        visible = reported[:, None]  # (T, 1, N)
        agents = agents + _attend(query, key, value, visible)
        question = scaled * known["question"][None]
        read = _attend(question, agents, agents, visible)  # (T, 1, H)
        return dense(read.sum(axis=1), self._layers("head"))


def _attend(query: Any, key: Any, value: Any, visible: Any) -> Any:
    """Dot-product attention; ``query`` is scaled already."""
    alike = np.where(visible, query @ key.transpose(0, 2, 1), -np.inf)
    powers = np.exp(alike - alike.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value
