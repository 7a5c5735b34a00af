r"""What an agent that gave no report would have said, by those who did.

Reports :math:`x_i` share one factor :math:`f \sim N(0, 1)`: with the mean
:math:`c_i` and the standard deviation :math:`s_i` of agent i,

.. math:: x_i = c_i + s_i (\lambda_i f + e_i), \qquad e_i \sim N(0, 1 - \lambda_i^2),

so an absent agent is expected to say :math:`c_i + s_i \lambda_i \hat f`, with
:math:`\hat f` the mean of the factor given the reports of the case. Agents keep their
own scale and direction: one that reports the opposite is filled in with the opposite,
and one that has nothing to do with the others with its mean. Who reported rarely is
taken to be like the others.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from truepool.core import kernels
from truepool.core.arrays import BoolArray, FloatArray, from_log_scale, has_gaps
from truepool.core.engine import one_blas_thread
from truepool.measures.calibration import clipped_log_scale
from truepool.measures.folds import thin
from truepool.panel.once import once_per_panel
from truepool.panel.panel import Panel

STEPS = 20
"""Steps of expectation maximisation, from the leading principal component. The error of
what is filled in is then within 1 % of the least, with loadings that are not yet."""
MOST_SHARED = 0.98
"""Largest share of an agent's variance that the factor explains: a copy keeps some."""
PRIOR_REPORTS = 10.0
"""So many reports at the mean, spread and loading of all agents are added to those of
each: who reported rarely is taken to agree with the others."""
SIGNS = np.array([[1.0, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1]])
"""Directions of four draws, (4, 3): three columns of mean 0 that are uncorrelated."""
Scale: TypeAlias = Callable[[FloatArray], FloatArray]
"""What a pool reads of reports (T, N, C): (T, N, J)."""


@once_per_panel
def learn_from(
    panel: Panel, case_weights: FloatArray | None, scale: Scale, seed: int
) -> FloatArray:
    """`learn` from enough cases of a panel, on the scale that a pool reads."""
    part, cases = thin(panel, case_weights, seed)
    return learn(scale(part.values), np.ones(len(part)) if cases is None else cases)


def learn(x: FloatArray, cases: FloatArray) -> FloatArray:
    """Mean, pull on the factor and loading of each column of (T, N, J): (3, N, J).

    ``cases`` (T,) are the weights of the cases; a missing report is NaN.
    """
    with one_blas_thread():  # the same bits in any process
        columns = [_one_factor(x[:, :, j], cases) for j in range(x.shape[2])]
    return np.stack(columns, axis=2)


def fill(x: FloatArray, learned: FloatArray) -> FloatArray:
    """Replace the missing reports of (T, N, J); a case without any stays empty.

    The last agent reports the opposite of the others:

    >>> x = np.outer([1.0, -2.0, 1.0] * 100, [1, 1, 1, -1])[:, :, None]
    >>> learned = learn(x, np.ones(300))
    >>> fill(np.array([[[1.5], [1.5], [1.5], [np.nan]]]), learned).round(1).ravel()
    array([ 1.5,  1.5,  1.5, -1.3])
    """
    if not has_gaps(x):
        return x
    silent = np.isnan(x)
    mean, pull, loading = learned
    pulls = np.where(silent, 0.0, pull * (x - mean)).sum(axis=1)
    precision = 1.0 + np.where(silent, 0.0, pull * loading).sum(axis=1)
    factor = np.where(silent.all(axis=1), np.nan, pulls / precision)
    return np.where(silent, mean + loading * factor[:, None], x)


def fill_reports(values: FloatArray, learned: FloatArray) -> FloatArray:
    """Reports (T, N, C) with the missing ones filled in, learned from clipped log-odds.

    >>> learned = learn(clipped_log_scale(np.full((9, 2, 1), 0.2)), np.ones(9))
    >>> fill_reports(np.array([[[0.2], [np.nan]]]), learned).round(2).ravel()
    array([0.2, 0.2])
    """
    silent = np.isnan(values)
    filled, gaps = values.copy(), silent.any(axis=(1, 2))
    expected = from_log_scale(fill(clipped_log_scale(values[gaps]), learned))
    filled[gaps] = np.where(silent[gaps], expected, values[gaps])
    return filled


def draw_reports(values: FloatArray, learned: FloatArray) -> FloatArray:
    r"""Reports (T, N, C) filled in four ways that are equally likely, (4, T, N, C).

    The mean of what a pool answers to them is nearer to how often the event happens
    than its answer to one expected report: a pool is no straight line. An absent agent
    is expected at :math:`\mu_i` with variance :math:`\sigma_i^2`, the factor's given
    the reports and its own; the four are :math:`\mu_i \pm \sigma_i`, and up to three
    agents are drawn independently.

    >>> learned = np.array([[[-1.0], [-2.0]], [[1.0], [0.5]], [[1.0], [1.0]]])
    >>> drawn = draw_reports(np.array([[[0.5], [np.nan]]]), learned)
    >>> np.log(drawn / (1 - drawn))[:, 0, 1, 0].round(2)
    array([ 0.08,  0.08, -3.08, -3.08])
    """
    if kernels.fast and values.shape[2] == 1:
        from truepool.pools.mixture.loops_compiled import draw_reports as draw

        return np.asarray(draw(values, learned.ravel(), SIGNS))
    mean, pull, loading = learned
    x = clipped_log_scale(values)
    precision = 1.0 + np.where(np.isnan(x), 0.0, pull * loading).sum(axis=1)
    deviation = np.sqrt(loading**2 / precision[:, None] + _own_variance(learned))
    drawn = fill(x, learned) + _signs(len(mean))[:, None] * deviation
    return np.where(np.isnan(values), from_log_scale(drawn), values)


def record_draws(values: Any, learned: FloatArray) -> Any:
    """`draw_reports` of a tensor, one case after the other: (4 T, N, C)."""
    mean, pull, loading = learned
    x = clipped_log_scale(values)
    precision = 1.0 + np.where(np.isnan(x), 0.0, pull * loading).sum(axis=1)
    variance = loading**2 / precision[:, None] + _own_variance(learned)
    apart = np.sqrt(variance)[:, None] * _signs(len(mean))
    drawn = from_log_scale(fill(x, learned)[:, None] + apart)
    every = np.where(np.isnan(values[:, None]), drawn, values[:, None])
    return every.reshape(-1, *values.shape[1:])


def _own_variance(learned: FloatArray) -> FloatArray:
    """Variance (N, J) of each agent that the factor does not explain."""
    _, pull, loading = learned
    own = np.divide(loading, pull, out=np.zeros_like(pull), where=pull != 0.0)
    return np.asarray(own)


def _signs(agents: int) -> FloatArray:
    return SIGNS[:, np.arange(agents) % SIGNS.shape[1], None]


def _one_factor(x: FloatArray, cases: FloatArray) -> FloatArray:
    """`learn` for one column (T, N)."""
    reported = ~np.isnan(x)
    weights = reported * cases[:, None]
    count = weights.sum(axis=0)
    mean = _shrink((weights * np.where(reported, x, 0.0)).sum(axis=0), count)
    z = np.where(reported, x - mean, 0.0)
    spread = np.sqrt(_shrink((weights * z**2).sum(axis=0), count))
    spread[spread == 0.0] = 1.0  # all are constant
    z /= spread
    if reported.all() and z.shape[1] <= z.shape[0]:
        loading = _full_loading(z, cases)
    else:
        loading = _loading(z, reported, cases, weights)
    pull = loading / (1.0 - loading**2)
    return np.stack([mean, pull / spread, loading * spread])


def _loading(
    z: FloatArray, reported: BoolArray, cases: FloatArray, weights: FloatArray
) -> FloatArray:
    """Loadings (N,) of standardised reports (T, N), 0 where they are missing."""
    counted, factor = z * cases[:, None], _leading(z, cases)
    second = factor**2
    for _ in range(STEPS):
        loading = _limited(_shrink(counted.T @ factor, weights.T @ second))
        pull = loading / (1.0 - loading**2)
        variance = 1.0 / (1.0 + reported @ (pull * loading))
        factor = variance * (z @ pull)
        second = factor**2 + variance
    return loading


def _full_loading(z: FloatArray, cases: FloatArray) -> FloatArray:
    """`_loading` where no report is missing: all it needs of the cases are products."""
    products, total = (z * cases[:, None]).T @ z, np.full(z.shape[1], cases.sum())
    _, vectors = np.linalg.eigh(products)
    pull, variance = vectors[:, -1], np.zeros(())
    size = pull @ products @ pull / total[0]
    pull = pull / np.sqrt(size) if size > 0 else pull
    for _ in range(STEPS):
        toward = products @ pull
        loading = _limited(_shrink(toward, pull @ toward + total * variance))
        pull = loading / (1.0 - loading**2)
        variance = np.asarray(1.0 / (1.0 + pull @ loading))
        pull = variance * pull
    return loading


def _limited(loading: FloatArray) -> FloatArray:
    largest = np.sqrt(MOST_SHARED)
    return np.clip(loading, -largest, largest)


def _shrink(total: FloatArray, count: FloatArray) -> FloatArray:
    """Each agent's ratio (N,), with `PRIOR_REPORTS` more at that of all agents.

    >>> _shrink(np.array([30.0, 0.0]), np.array([30.0, 0.0]))
    array([1., 1.])
    """
    everybody = count.sum()
    mean = total.sum() / everybody if everybody > 0 else 0.0
    return np.asarray((total + PRIOR_REPORTS * mean) / (count + PRIOR_REPORTS))


def _leading(z: FloatArray, cases: FloatArray) -> FloatArray:
    """Scores (T,) on the leading principal component, of mean square 1."""
    scaled = z * np.sqrt(cases)[:, None]
    wide = z.shape[1] > z.shape[0]
    gram = scaled @ scaled.T if wide else scaled.T @ scaled
    vector = np.linalg.eigh(gram)[1][:, -1]
    scores = z @ (scaled.T @ vector) if wide else z @ vector
    size = np.sqrt(cases @ scores**2 / cases.sum())
    return np.asarray(scores / size if size > 0 else scores)
