"""The specification of every hot loop, in plain numpy.

`compiled` mirrors this file function by function; tests compare the two to 1e-12.
Arrays are float64, C-contiguous and already checked; NaN is a missing report.
"""

from collections.abc import Sequence

import numpy as np

from truepool.core.arrays import Array, FloatArray, IntArray

MIN_SHARE = 1e-12
"""Share of the weight below which the others count as having none."""

MISSING = 255
"""The bin of a missing feature."""

SMALLEST_HESSIAN = 1e-3
"""A leaf has at least this sum of second derivatives; scikit-learn's default."""

EDGE = 1e-12
"""A pool this close to the threshold counts as equal, as in measures.decisions."""


def scan(values: FloatArray) -> tuple[int, int]:
    """Count the entries outside [0, 1] and the missing ones (NaN)."""
    silent = np.isnan(values)
    outside = ~((values >= 0) & (values <= 1)) & ~silent
    return int(outside.sum()), int(silent.sum())


def report_counts(values: FloatArray) -> tuple[IntArray, int, int]:
    """Number of reports of each agent (N,), the first empty case, and their number.

    The first empty case is -1 if every case has a report.
    """
    reported = ~np.isnan(values[:, :, 0])
    empty = ~reported.any(axis=1)
    first = int(np.argmax(empty)) if empty.any() else -1
    return reported.sum(axis=0), first, int(empty.sum())


def linear(values: FloatArray, weights: FloatArray) -> FloatArray:
    r"""Weighted mean of the reports, (T, N, C) and (N,) -> (T, C).

    :math:`p_t = \sum_i w_i r_{ti} / \sum_i w_i` over the agents i that reported on
    case t. Where all of these have weight zero they count equally; where no agent
    reported the result is NaN.
    """
    reported = ~np.isnan(values[:, :, 0])
    filled = np.where(np.isnan(values), 0.0, values)
    mass = reported @ weights
    share = np.where((mass > 0)[:, None], reported * weights, reported)
    with np.errstate(invalid="ignore"):
        share = share / share.sum(axis=1, keepdims=True)
    return np.asarray(np.minimum(np.einsum("tn,tnc->tc", share, filled), 1.0))


def linear_columns(
    columns: Sequence[Array], weights: FloatArray
) -> tuple[FloatArray, int, IntArray]:
    """Mean of reports that lie in one column per agent, each (T,), into (T,).

    As `linear` for C = 1; a column may have single precision. Also returns how many
    reports lie outside [0, 1] (where any do, the mean has no meaning), and how many
    are missing of each agent, (N,).
    """
    values = np.stack(columns, axis=1, dtype=np.float64)
    outside, _ = scan(values)
    mean = linear(values[:, :, None], weights)[:, 0]
    return mean, outside, np.isnan(values).sum(axis=0)


def without(values: FloatArray, weights: FloatArray, prior: FloatArray) -> FloatArray:
    r"""Pool of the others, for each agent: (T, N, C).

    :math:`p_{-i} = (\sum_j w_j r_j - w_i r_i) / (\sum_j w_j - w_i)`: one shared sum
    serves all N removals. An agent without a report changes nothing; where the others
    have no weight they count equally; where there are no others, the prior (C,).
    """
    reported = ~np.isnan(values[:, :, 0])  # (T, N)
    filled = np.where(np.isnan(values), 0.0, values)
    share = reported * weights
    total = np.einsum("tn,tnc->tc", share, filled)[:, None, :]
    mass = share.sum(axis=1, keepdims=True)
    others = mass - share
    count = reported.sum(axis=1, keepdims=True) - reported
    plain = filled.sum(axis=1, keepdims=True) - filled
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (total - share[:, :, None] * filled) / others[:, :, None]
        equal = plain / count[:, :, None]
    weighty = (others > MIN_SHARE * mass)[:, :, None]
    pooled = np.where(weighty, pooled, equal)
    pooled = np.where(count[:, :, None] > 0, pooled, prior)
    return np.asarray(np.clip(pooled, 0.0, 1.0))


def squared_credit(
    values: FloatArray,
    outcomes: IntArray,
    weights: FloatArray,
    scale: FloatArray,
    prior: float,
    case_weights: FloatArray,
) -> FloatArray:
    r"""Sum over cases of the leave-one-out rise of a squared loss, (N,).

    The loss of a binary pool p is :math:`s_y (p - y)^2` with ``scale`` = (s_0, s_1).
    ``values`` is (T, N); ``case_weights`` is (T,), or empty when all count the same.
    """
    cube = values[:, :, None]
    factor = scale[outcomes] * (case_weights if case_weights.size else 1.0)
    pooled = linear(cube, weights)[:, 0]
    others = without(cube, weights, np.array([prior]))[:, :, 0]
    rise = (others - outcomes[:, None]) ** 2 - ((pooled - outcomes) ** 2)[:, None]
    return np.asarray(factor @ rise)


def threshold_credit(
    values: FloatArray,
    outcomes: IntArray,
    weights: FloatArray,
    scale: FloatArray,
    threshold: float,
    prior: float,
    case_weights: FloatArray,
) -> FloatArray:
    r"""Sum over cases of the leave-one-out rise of the cost of deciding, (N,).

    Deciding 1 exactly when p > threshold, by more than `EDGE`, costs :math:`s_y` when
    it is wrong.
    """
    cube = values[:, :, None]
    factor = scale[outcomes] * (case_weights if case_weights.size else 1.0)
    pooled = linear(cube, weights)[:, 0]
    others = without(cube, weights, np.array([prior]))[:, :, 0]
    happened = outcomes == 1
    line = threshold + EDGE
    wrong = (pooled > line) != happened
    rise = ((others > line) != happened[:, None]) * 1.0 - wrong[:, None]
    return np.asarray(factor @ rise)


def sparse_gram(
    starts: IntArray,
    column: IntArray,
    values: FloatArray,
    weights: FloatArray,
    columns: int,
) -> FloatArray:
    r"""Gram matrix :math:`D^\top \mathrm{diag}(w) D` of sparse rows, (P, P).

    Row t of D has ``values[starts[t]:starts[t + 1]]`` in the columns of the same places
    of ``column``, which ascend.
    """
    gram = np.zeros((columns, columns))
    for t, weight in enumerate(weights):
        own = slice(starts[t], starts[t + 1])
        cells = np.ix_(column[own], column[own])
        gram[cells] += weight * np.outer(values[own], values[own])
    return gram


def trees(
    features: FloatArray,
    columns: int,
    roots: IntArray,
    feature: IntArray,
    cut: FloatArray,
    left: IntArray,
    right: IntArray,
    missing_left: IntArray,
    value: FloatArray,
) -> FloatArray:
    """Sum of the leaves that each case falls into, (T, columns).

    Tree j adds to column j % columns. A node with feature -1 is a leaf; elsewhere a
    case goes left where its feature is at most the cut, or is missing and
    ``missing_left`` says so.
    """
    out = np.zeros((len(features), columns))
    cases = np.arange(len(features))
    for j, root in enumerate(roots):
        node = np.full(len(features), root)
        while (feature[node] >= 0).any():
            inner = feature[node] >= 0
            x = features[cases, feature[node]]
            goes_left = np.where(np.isnan(x), missing_left[node] == 1, x <= cut[node])
            node = np.where(inner, np.where(goes_left, left[node], right[node]), node)
        out[:, j % columns] += value[node]
    return out


def boost(
    bins: Array,
    sizes: IntArray,
    missing: IntArray,
    outcomes: IntArray,
    weights: FloatArray,
    baseline: FloatArray,
    rounds: int,
    leaves: int,
    rate: float,
    least: int,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Trees of gradient boosting by scikit-learn: roots, nodes (n, 5), values (n,).

    ``bins`` (F, T) are the features of the cases, of ``sizes`` (F,) bins each, and
    `MISSING` where one is missing; ``missing`` (F,) says where any is. ``outcomes`` are
    0 or 1, or of as many classes as ``baseline`` (J,) has scores to start from;
    ``weights`` are (T,), or empty when all cases count the same. A node has its
    feature, -1 in a leaf, the last bin that goes left, its left and its right child,
    and whether missing ones go left. A leaf has at least ``least`` cases.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_iter=rounds,
        max_leaf_nodes=leaves,
        learning_rate=rate,
        min_samples_leaf=least,
        early_stopping=False,
    )
    features = np.where(bins.T == MISSING, np.nan, bins.T)
    with threadpool_limits(1):  # more of them than free cores take ten times as long
        model.fit(features, outcomes, weights if weights.size else None)
    grown = [tree.nodes for trees in model._predictors for tree in trees]
    ends = np.cumsum([len(nodes) for nodes in grown])
    nodes = np.concatenate(grown)
    offset = np.repeat(ends - np.diff(ends, prepend=0), np.diff(ends, prepend=0))
    leaf = nodes["is_leaf"].astype(bool)
    last = sizes[nodes["feature_idx"]] - 1
    cut = np.minimum(np.floor(nodes["num_threshold"]), last)
    columns = (
        np.where(leaf, -1, nodes["feature_idx"]),
        np.where(leaf, 0, cut),
        np.where(leaf, 0, nodes["left"] + offset),
        np.where(leaf, 0, nodes["right"] + offset),
        np.where(leaf, 0, nodes["missing_go_to_left"]),
    )
    table = np.stack(columns, axis=1).astype(np.int64)
    roots = ends - np.diff(ends, prepend=0)
    return roots, table, np.where(leaf, nodes["value"], 0.0)
