"""A log-odds pool shrunk towards equal weights by empirical Bayes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import ClassVar, TypeAlias, final

import numpy as np
from scipy.special import expit, log_softmax

from truepool.core.arrays import FloatArray, IntArray, logit, mean_report
from truepool.core.engine import one_blas_thread
from truepool.core.errors import SettingError
from truepool.measures.newton import BinaryLoss, Minimizer, Terms
from truepool.measures.shrinkage import cells_of
from truepool.panel.panel import Panel
from truepool.panel.sparse import SPARSE_FILL, SparseReports
from truepool.pools.interface import Pool, learned
from truepool.pools.interface.stacked import probabilities_of
from truepool.pools.training.certainty import choose_clip
from truepool.pools.training.logistic import MANY_CASES, row_space, some
from truepool.pools.training.sparse_tilts import SparseTilts, log_odds_apart

SHIFTS = (0.0, 0.5, 1.5)
STRETCHES = (0.0, 0.3, 1.0)
TILTS = (0.0, 0.1, 0.3, 1.0)
"""Prior standard deviations that are tried: of the shift b, of the stretch a - 1 and of
each agent's tilt d. They were fixed on a study of 17 panels and checked on 6 others."""
Widths: TypeAlias = tuple[float, float, float]
GRID: list[Widths] = sorted(
    product(SHIFTS, STRETCHES, TILTS),
    key=lambda widths: ([width > 0 for width in widths[::-1]], widths[::-1]),
    reverse=True,
)
"""All settings, those without a 0 first; of the same zeros, the modes are close."""
ZERO_WIDTH = 1e-3
"""The standard deviation that stands for 0."""
WIDE_PRIOR = 1.0
"""A prior this wide or wider costs half a unit of log evidence more."""
NO_EVIDENCE = -1e300
"""The log evidence of a setting that has none."""
RULED_OUT = 15.0
"""Log evidence of some of the cases by which a setting is worse than the best one where
all cases are not asked. It counts within log 100 = 4.6."""
PRECISION = 1e-7
"""Precision of each fit; see `measures.newton.Minimizer`."""
MIN_SHARE = 0.01
"""Settings below this share of the largest weight are dropped."""
MOST_TILTS = 1000
"""Most tilts, one per agent or per case, whichever are fewer: each step of each fit
solves a system of so many equations. Where agents report rarely, those who reported
most have them."""


@final
class Shrunk(Pool):
    r"""Log-odds weights that stay near equal until there is evidence against it.

    With :math:`x_i` the log-odds of agent i and :math:`z_0` their mean over those who
    reported,

    .. math:: \mathrm{logit}\, p = z_0 + b + (a - 1) z_0 + \sum_i d_i (x_i - z_0),

    :math:`b \sim N(0, t_b^2)`, :math:`a - 1 \sim N(0, t_a^2)`,
    :math:`d_i \sim N(0, t_d^2)`. Each setting of the three widths on a grid is fitted
    by maximum a posteriori and weighted by its Laplace evidence; the answer is the
    weighted mean of the fitted probabilities. An absent agent contributes nothing, and
    one with few reports stays near the crowd. Of more than 1,000 agents on more than
    1,000 cases who fill less than 10 % of the cells, the 1,000 who reported most have a
    tilt. From about ten cases on it beats the
    plain mean on most panels; with many it approaches stacked logistic regression.

    For K classes the log-odds are those of each class against the geometric mean of
    all, with one shift per class.

    Parameters
    ----------
    clip : float, optional
        Reports are clipped this far from 0 and 1. By default 0.02, or a tenth of the
        share of the rarest class if that is less.

    Attributes
    ----------
    fits_ : (M, P)
        Shift (one, or one per class), stretch a - 1, and one tilt per agent, for each
        setting kept.
    shares_ : (M,)
        Weight of each setting.
    clip_ : float
        The clip in use.

    Examples
    --------
    >>> reports = [[0.9, 0.6, 0.5], [0.2, 0.4, 0.5], [0.7, 0.9, 0.5], [0.3, 0.1, 0.5]]
    >>> pool = Shrunk().fit(reports * 5, [1, 0, 1, 0] * 5)
    >>> pool.predict_proba([[0.9, 0.6, 0.5]])[:, 1].round(2)
    array([0.9])
    """

    name: ClassVar[str] = "shrunk"
    scales: ClassVar[bool] = True
    complexity: ClassVar[int] = 2
    exemptions: ClassVar = {
        "unanimity": "it also learns how sure the crowd should be: if all report p it "
        "gives how often the event happened when the crowd reported p"
    }

    clip: float | None = None

    fits_: FloatArray = learned()
    shares_: FloatArray = learned()
    clip_: float = learned()

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        check_size(panel)
        self.clip_ = choose_clip(self.clip, panel, case_weights)
        cases = np.ones(len(panel)) if case_weights is None else case_weights
        design, back = self._design(panel)
        with one_blas_thread():
            settings, start = _promising(design, panel.outcomes, cases)
            fits, scores = fit_settings(design, panel.outcomes, cases, settings, start)
        # Case weights as far apart as 1e15 can leave a Hessian that is singular in
        # rounding: such a setting has no evidence.
        found = np.where(np.isfinite(scores), scores, NO_EVIDENCE)
        weights = np.exp(found - found.max())
        selected = weights >= MIN_SHARE
        self.fits_ = np.array(fits)[selected]
        if isinstance(design, SparseTilts):
            self.fits_ = design.expand(self.fits_)
        elif back is not None:
            own, tilts = np.split(self.fits_, [-len(back)], axis=1)
            self.fits_ = np.hstack([own, tilts @ back])
        self.shares_ = weights[selected] / weights[selected].sum()

    def _design(self, panel: Panel) -> tuple["Design | SparseTilts", FloatArray | None]:
        """The anchor and what moves it, and the way back from fewer tilts."""
        T, N, _ = panel.shape
        rare = is_wide(panel) and _is_sparse(panel)
        if rare or (panel.sparse is not None and N <= T):
            cells = cells_of(panel)
            return SparseTilts.build(cells, self.clip_, MOST_TILTS), None
        return _reduce(_design(panel.values, self.clip_))

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        design = _design(values, self.clip_)
        scores = design.anchor[:, :, None] + design.parts @ self.fits_.T  # (T, C, M)
        pooled: FloatArray = probabilities_of(scores) @ self.shares_
        return pooled

    def combine_sparse(self, reports: SparseReports) -> FloatArray:
        """Pool sparse reports on T cases into (T, 1)."""
        anchor, apart = log_odds_apart(reports, self.clip_)
        pooled = np.zeros(len(reports))
        for share, fit in zip(self.shares_, self.fits_, strict=True):
            moved = reports.by_case(fit[2:][reports.agent] * apart)
            pooled += share * expit(fit[0] + (1.0 + fit[1]) * anchor + moved)
        return pooled[:, None]


@dataclass(frozen=True, eq=False)
class Design:
    """The anchor (T, C) and what moves it, (T, C, P), on the log scale.

    Binary: the log-odds, C = 1. K classes: each class against the geometric mean of
    all, C = K.
    """

    anchor: FloatArray
    parts: FloatArray

    @property
    def size(self) -> int:
        """Number of coefficients, P."""
        return int(self.parts.shape[2])


def _design(values: FloatArray, clip: float) -> Design:
    C = values.shape[2]
    if C == 1:
        x = logit(values, clip)
    else:
        logs = np.log(np.maximum(values, clip))
        x = logs - logs.mean(axis=-1, keepdims=True)
    anchor = mean_report(x)
    tilts = x - anchor[:, None]
    tilts = np.where(np.isnan(tilts), 0.0, tilts)  # an absent agent has no part
    shifts = np.zeros_like(anchor)[:, :, None] + np.eye(C)
    parts = [shifts, anchor[:, :, None], tilts.transpose(0, 2, 1)]
    return Design(anchor, np.concatenate(parts, axis=2))


def _reduce(design: Design) -> tuple[Design, FloatArray | None]:
    """Return a design with at most one tilt per row, and the way back to the agents.

    All tilts have the same prior, so the mode lies in the space of the rows and every
    other direction adds as much to the prior as to the Hessian: the evidence of the
    smaller problem is that of the whole.
    """
    T, C, P = design.parts.shape
    if P - C - 1 <= T * C:
        return design, None
    own, tilts = np.split(design.parts, [C + 1], axis=2)
    smaller, back = row_space(tilts.reshape(T * C, -1))
    parts = np.concatenate([own, smaller.reshape(T, C, -1)], axis=2)
    return Design(design.anchor, parts), back


def is_wide(panel: Panel) -> bool:
    """Whether there are too many agents and cases for a tilt of each agent."""
    T, N, C = panel.shape
    return min(T * C, N) > MOST_TILTS


def _is_sparse(panel: Panel) -> bool:
    """Whether so few cells of two classes are filled that tilts of some will do."""
    return panel.classes == 2 and panel.missing > 1.0 - SPARSE_FILL


def check_size(panel: Panel) -> None:
    """Refuse a panel of too many agents and cases."""
    T, N, C = panel.shape
    if is_wide(panel) and not _is_sparse(panel):
        raise SettingError(
            f"shrunk takes at most {MOST_TILTS:,} agents, or any number of them on at "
            f"most {MOST_TILTS // C:,} cases; got {N:,} agents and {T:,} cases. Use "
            "log-odds, or leave agents out."
        )


def fit_settings(
    design: "Design | SparseTilts",
    outcomes: IntArray,
    cases: FloatArray,
    settings: list[Widths],
    start: FloatArray | None = None,
) -> tuple[list[FloatArray], list[float]]:
    """Coefficients (P,) for each setting, and its log evidence less its complexity."""
    happened = (outcomes == 1).astype(np.float64)
    terms: Callable[[FloatArray], Terms]
    if isinstance(design, SparseTilts):
        terms = partial(design.terms, happened, cases)
    elif design.parts.shape[1] == 1:
        parts = np.ascontiguousarray(design.parts[:, 0].T)
        terms = BinaryLoss(parts, design.anchor[:, 0].copy(), happened, cases)
    else:
        terms = partial(_terms, design, outcomes, cases)
    start = np.zeros(design.size) if start is None else start
    mode = Minimizer(terms, start, float(cases.sum()), PRECISION)
    fits, scores = [], []
    for widths in settings:
        fit, evidence = posterior_mode(design, mode, widths)
        fits.append(fit)
        scores.append(evidence - _complexity(widths))
    return fits, scores


def _promising(
    design: "Design | SparseTilts", outcomes: IntArray, cases: FloatArray
) -> tuple[list[Widths], FloatArray | None]:
    """Settings that some of many cases do not rule out, and where the first one begins.

    The others would not count.
    """
    T = len(outcomes)
    if isinstance(design, SparseTilts) or T <= MANY_CASES:
        return GRID, None
    part = some(T)
    smaller = Design(design.anchor[part], design.parts[part])
    fits, scores = fit_settings(smaller, outcomes[part], cases[part], GRID)
    found = np.nan_to_num(scores, nan=-np.inf)
    chosen = np.flatnonzero(found >= found.max() - RULED_OUT).tolist()
    return [GRID[i] for i in chosen], fits[chosen[0]]


def posterior_mode(
    design: "Design | SparseTilts", mode: Minimizer, widths: Widths
) -> tuple[FloatArray, float]:
    """Coefficients (P,) at the mode for given prior widths, and the log evidence."""
    precision = _precisions(design, widths)
    theta, value, hessian = mode.find(precision)
    spread = float(np.linalg.slogdet(hessian)[1])
    return theta, float(np.log(precision).sum()) / 2 - value - spread / 2


def _precisions(design: "Design | SparseTilts", widths: Widths) -> FloatArray:
    C = 1 if isinstance(design, SparseTilts) else design.parts.shape[1]
    shift, stretch, tilt = (max(width, ZERO_WIDTH) for width in widths)
    # K shifts of half the variance each give every pair of classes the width asked for.
    shifts = [(1.0 if C == 1 else 2.0) / shift**2] * C
    tilts = [1.0 / tilt**2] * (design.size - C - 1)
    return np.array([*shifts, 1.0 / stretch**2, *tilts])


def _terms(
    design: Design, outcomes: IntArray, cases: FloatArray, theta: FloatArray
) -> Terms:
    """Log loss of K classes, its gradient and its Hessian (P, P)."""
    T, K, P = design.parts.shape
    logs = log_softmax(design.anchor + design.parts @ theta, axis=1)
    p = np.exp(logs)
    happened = outcomes[:, None] == np.arange(K)
    loss = -float(cases @ logs[happened])
    error = (p - happened) * cases[:, None]
    gradient = error.ravel() @ design.parts.reshape(T * K, P)
    mean = np.einsum("tk,tkp->tp", p, design.parts)
    centred = (design.parts - mean[:, None]).reshape(T * K, P)
    hessian = (centred * (p * cases[:, None]).reshape(-1, 1)).T @ centred
    return loss, gradient, hessian


def _complexity(widths: Widths) -> float:
    """Log evidence that a setting must earn: one per width, half more if wide."""
    used = np.array(widths)
    return float((used > 0).sum() + (used >= WIDE_PRIOR).sum() / 2)
