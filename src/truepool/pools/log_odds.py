"""The mean on the log-odds scale."""

from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_log_scale, log_scale
from truepool.pools.interface import FixedPool
from truepool.pools.onnx import graph
from truepool.pools.onnx.graph import ReportTensors, Tensor


@final
class LogOdds(FixedPool):
    r"""Mean of the log-odds.

    :math:`\mathrm{logit}\, p = \frac1N \sum_i \mathrm{logit}\, r_i`. For K
    classes, the normalised geometric mean. Sharper than the mean; one agent that is
    certain and wrong does more damage.

    >>> pool = LogOdds().fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    >>> pool.predict_proba([[0.9, 0.5]])[:, 1].round(3)
    array([0.75])
    """

    name: ClassVar[str] = "log-odds"

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        return from_log_scale(np.nanmean(log_scale(values), axis=1))

    def to_onnx(self, reports: ReportTensors) -> Tensor:
        """Pooled coordinates (T, C) inside an ONNX graph."""
        mean = reports.mean(reports.log_scale())
        return graph.from_log_scale(mean, reports.coordinates)
