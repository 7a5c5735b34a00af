"""A perceptron of four hidden layers."""

from typing import ClassVar, final

from truepool_lab.pools.dense import DensePool


@final
class MLP4(DensePool):
    """Four hidden layers of 64 on the log-odds.

    >>> reports = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 5
    >>> pool = MLP4(epochs=50, rate=0.01).fit(reports, [1, 0, 1, 0] * 5)
    >>> pool.predict([[0.8, 0.7], [0.2, 0.3]])
    array([1, 0])
    """

    name: ClassVar[str] = "mlp-4"
    layers: ClassVar[int] = 4
