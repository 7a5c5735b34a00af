"""Weights by closeness to the others."""

from typing import ClassVar, final

import numpy as np

from truepool.core import kernels
from truepool.core.arrays import FloatArray
from truepool.measures.losses import mean_over_reports
from truepool.panel.panel import Panel
from truepool.panel.weights import inverse, uniform
from truepool.pools import LinearPool


@final
class Externality(LinearPool):
    r"""Weights inverse to the distance from the others; no outcomes are used.

    :math:`w_i \propto 1 / \overline{(r_i - \bar r_{-i})^2}`, with
    :math:`\bar r_{-i}` the mean of the others who reported (READINGS 4, "Externality").
    It rewards consensus, so an agent that alone is right gets little weight. On 11
    development panels it costs as much as the plain mean in the median (errors of
    equal cost; more on 5); `auto`, which uses outcomes, costs 8 % less.

    >>> reports = [[0.8, 0.7, 0.1], [0.3, 0.2, 0.9]]
    >>> Externality().fit(reports, [1, 0]).weights_.round(2)
    array([0.44, 0.44, 0.12])
    """

    name: ClassVar[str] = "externality"
    complexity: ClassVar[int] = 2

    def _weigh(self, panel: Panel, case_weights: FloatArray | None) -> FloatArray:
        values = panel.values
        alone = np.full(values.shape[2], np.nan)  # nobody else: no gap to speak of
        others = kernels.without(values, uniform(values.shape[1]), alone)
        gaps = np.square(values - others).sum(axis=2)  # (T, N)
        return inverse(mean_over_reports(gaps, case_weights))
