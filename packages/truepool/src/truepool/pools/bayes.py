"""Reports as independent pieces of evidence."""

from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import (
    FloatArray,
    as_pooled,
    case_count,
    from_log_scale,
    log_scale,
)
from truepool.core.errors import SettingError
from truepool.panel.panel import Panel
from truepool.pools.interface import Pool, learned
from truepool.pools.training.certainty import choose_clip


@final
class Bayes(Pool):
    r"""Naive Bayes on log-odds: every report adds its evidence beyond the prior.

    :math:`\mathrm{logit}\, p = \mathrm{logit}\,\pi + \sum_i (\mathrm{logit}\, r_i -
    \mathrm{logit}\,\pi)`. Correct when the agents' signals are independent given the
    outcome; over-confident when they are not, which is the usual case.

    Parameters
    ----------
    prior : array-like (K,) or float, optional
        Probability of each class (or of class 1) before any report; by default
        the share of each class among the outcomes.
    clip : float, optional
        How close to 0 and 1 a report may count. By default 0.02, or a tenth of the
        share of the rarest class if that is less.

    Attributes
    ----------
    clip_ : float
        The clip in use.

    Examples
    --------
    >>> pool = Bayes(prior=0.5).fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])
    >>> pool.predict_proba([[0.75, 0.75]])[:, 1].round(3)
    array([0.9])
    """

    name: ClassVar[str] = "bayes"
    complexity: ClassVar[int] = 1
    exemptions: ClassVar = {
        "unanimity": "agents that agree are several pieces of evidence, so the pool "
        "is surer than each of them",
    }

    prior: ArrayLike | None = None
    clip: float | None = None

    prior_: FloatArray = learned()
    clip_: float = learned()

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        if self.prior is None:
            total = len(panel) if case_weights is None else case_count(case_weights)
            # A class that never happened is rare, not impossible: one case in T + K.
            counts = panel.base_rate(case_weights) * total
            share = (counts + 1) / (total + panel.classes)
        else:
            given = np.asarray(self.prior, dtype=np.float64)
            share = as_pooled(given[None] if given.ndim else given.reshape(1))[0]
            if share.size != panel.values.shape[2]:
                raise SettingError(
                    f"the prior must have the {panel.classes} classes of the panel; "
                    f"got {self.prior!r}"
                )
        self.prior_ = share
        self.clip_ = choose_clip(self.clip, panel, case_weights)

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        start = log_scale(self.prior_)
        evidence = np.nansum(log_scale(values, self.clip_) - start, axis=1)
        return from_log_scale(start + evidence)
