"""Gradient boosting on the reports."""

from typing import Any, ClassVar, final

import numpy as np

from truepool.core import kernels
from truepool.core.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    from_log_scale,
    has_gaps,
    mean_report,
)
from truepool.core.errors import SettingError
from truepool.core.kernels.reference import MISSING
from truepool.measures.calibration import clipped_log_scale
from truepool.panel.panel import Panel
from truepool.pools.interface import Pool, learned
from truepool.pools.interface.agent_reports import content_order
from truepool.pools.interface.stacked import MODEL, probabilities_of
from truepool.pools.onnx.graph import take

MIN_LEAF_SIZE = 20
"""The smallest number of cases in a leaf."""
CUT_MARGIN = 1e-9
"""How far a cut lies above the reports, or the mean log-odds, that it falls on."""
CUT_DECIMALS = 9
"""Reports that are equal to so many decimals are one report to training."""
NO_SHARE = 10 * np.finfo(np.float64).eps
"""The share of a class that no case has, and one minus that of one that all have."""
NODES = ("feature", "cut", "left", "right", "missing_left", "value")
"""Arrays with one entry per node."""


@final
class Boosted(Pool):
    """Small trees on the reports and their mean log-odds, by gradient boosting.

    It finds what a weighted sum cannot: an agent that is right only where others are
    unsure, or reports that mean less near 0 and 1. It needs some hundred cases. The
    trees are those of scikit-learn's histogram boosting, grown by a compiled loop: on
    few cases ten times as fast. Missing reports are taken as they are.

    Parameters
    ----------
    trees : int
        Rounds of boosting; each adds one tree, or one per class.
    leaves : int
        Most leaves of a tree.
    rate : float
        How much of each tree is added.

    Attributes
    ----------
    nodes_ : dict of arrays
        The trees, node by node; see `truepool.core.kernels.reference.trees`.
    always_, never_ : (N,)
        Which agents reported in every training case, and which in none.
    baseline_ : (C,)
        Where boosting starts, on the log scale.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> reports = rng.random((400, 2))
    >>> outcomes = reports[:, 0] > 0.5
    >>> Boosted().fit(reports, outcomes).predict([[0.9, 0.1], [0.1, 0.9]])
    array([1, 0])
    """

    name: ClassVar[str] = "boosted"
    complexity: ClassVar[int] = 3
    exemptions: ClassVar = {
        "unanimity": MODEL,
        "duplicate": "boosting breaks ties between equally good splits by the order "
        "of the columns, so it may read one copy and not the other",
        "label swap": "a case on a cut goes left, whichever class is called 1",
    }

    trees: int = 30
    leaves: int = 8
    rate: float = 0.1
    seed: int = 0

    nodes_: dict[str, FloatArray | IntArray] = learned()
    always_: BoolArray = learned()
    never_: BoolArray = learned()
    baseline_: FloatArray = learned()
    columns_: IntArray = learned()

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        if self.trees < 1 or self.leaves < 2 or not 0 < self.rate <= 1:
            raise SettingError(
                "boosting needs at least 1 tree, 2 leaves and a rate in (0, 1]; got "
                f"trees={self.trees}, leaves={self.leaves}, rate={self.rate}"
            )
        missing = np.isnan(panel.values[:, :, 0])
        self.always_ = np.asarray(~missing.any(axis=0))
        self.never_ = np.asarray(missing.all(axis=0))
        order = content_order(panel.values)
        features = _features(
            panel.values[:, order], self.always_[order], self.never_[order]
        )
        # Dividing by a sum moves last bits; no cut may lie between such reports.
        features = features.round(CUT_DECIMALS)
        seen, outcomes = np.unique(panel.outcomes, return_inverse=True)
        if panel.classes == 2:
            seen, outcomes = np.arange(2), panel.outcomes.copy()
        self._place_classes(seen, outcomes, panel.classes, case_weights)
        start = self.baseline_[self.columns_]
        self.nodes_ = self._grow(features, outcomes, case_weights, start)
        self._move_features(np.array(order), panel.values.shape[2])

    def _place_classes(
        self,
        seen: IntArray,
        outcomes: IntArray,
        classes: int,
        case_weights: FloatArray | None,
    ) -> None:
        """Which class each tree of a round adds to, and where boosting starts."""
        counts = np.bincount(outcomes, case_weights, len(seen))
        shares = np.clip(counts / counts.sum(), NO_SHARE, 1.0 - NO_SHARE)
        if classes == 2:
            self.columns_ = np.zeros(1, dtype=np.int64)
            self.baseline_ = np.log(shares[1:] / (1.0 - shares[1:]))
            return
        # A class that no training case had keeps a probability of 0. Of two classes
        # seen, one tree per round is for the second, against the first.
        logs = np.log(shares)
        logs -= logs[0] if len(seen) == 2 else logs.mean()
        self.baseline_ = np.full(classes, -np.inf)
        self.baseline_[seen] = logs
        self.columns_ = seen[1:] if len(seen) == 2 else seen

    def _grow(
        self,
        features: FloatArray,
        outcomes: IntArray,
        case_weights: FloatArray | None,
        start: FloatArray,
    ) -> dict[str, FloatArray | IntArray]:
        """All trees in one set of arrays, on features (T, F)."""
        weights = np.zeros(0) if case_weights is None else np.array(case_weights)
        bins = np.full(features.T.shape, MISSING, np.uint8)
        cuts = []
        for column, row in zip(features.T.copy(), bins, strict=True):
            order = np.argsort(column)
            order = order[: np.count_nonzero(~np.isnan(column))]
            values = column[order]
            cuts.append(_cuts(values, weights[order] if weights.size else None))
            row[order] = np.searchsorted(cuts[-1], values)
        sizes = np.array([len(own) + 1 for own in cuts])
        missing = (bins == MISSING).any(axis=1).astype(np.int64)
        shape = self.trees, self.leaves, self.rate, MIN_LEAF_SIZE
        roots, nodes, value = kernels.boost(
            bins, sizes, missing, outcomes, weights, start, *shape
        )
        feature, last = nodes[:, 0], nodes[:, 1]
        # Behind the last bin only missing features are left.
        table = np.full((len(cuts), MISSING), np.inf)
        for row, own in zip(table, cuts, strict=True):
            row[: len(own)] = own
        names = ("left", "right", "missing_left")
        return {
            "roots": roots,
            "feature": feature,
            "cut": np.where(feature < 0, 0.0, table[feature, last]),
            **dict(zip(names, nodes[:, 2:].T.copy(), strict=True)),
            "value": value,
        }

    def _move_features(self, order: IntArray, coordinates: int) -> None:
        """Let the trees read the agents where they are, not where they were ordered."""
        here = np.append(order, len(order))[:, None] * coordinates
        place = (here + np.arange(coordinates)).ravel()  # the crowd is last in both
        feature = self.nodes_["feature"]
        self.nodes_["feature"] = np.where(feature < 0, feature, place[feature])
        # A cut may fall on a case, where the last bit of its report would decide.
        self.nodes_["cut"] = np.add(self.nodes_["cut"], CUT_MARGIN, dtype=np.float64)

    def check_learned(self) -> None:
        """Refuse trees in which a case could go in circles or out of bounds."""
        super().check_learned()
        nodes, N, K = self.nodes_, len(self.agents_), len(self.classes_)
        features = N + 1 if K == 2 else N * K + K - 1
        count = len(nodes["feature"])
        inner = nodes["feature"] >= 0
        beyond = [nodes[side] > np.arange(count) for side in ("left", "right")]
        indices = [nodes["roots"], nodes["left"], nodes["right"]]
        if not (
            {len(nodes[name]) for name in NODES} == {count}
            and all(array.ndim == 1 for array in nodes.values())
            and all(((i >= 0) & (i < count)).all() for i in indices)
            and all(after[inner].all() for after in beyond)
            and (nodes["feature"] < features).all()
            and self.columns_.size
            and np.isin(self.columns_, np.arange(1 if K == 2 else K)).all()
        ):
            raise ValueError("a tree leads nowhere")

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        scale = np.repeat(self.baseline_[None], len(values), axis=0)
        features = _features(values, self.always_, self.never_)
        scale[:, self.columns_] += kernels.trees(
            features, len(self.columns_), **self.nodes_
        )
        return probabilities_of(scale)

    def jumps(self) -> FloatArray:
        """Reports at which the pooled probability jumps: those on the cuts."""
        feature = self.nodes_["feature"]
        cut = np.subtract(self.nodes_["cut"], CUT_MARGIN, dtype=np.float64)
        reports = len(self.agents_) * len(self.baseline_)
        crowd = from_log_scale(cut[feature >= reports][:, None])[:, 0]
        on_cuts = [cut[(feature >= 0) & (feature < reports)], crowd]
        return np.unique(np.concatenate(on_cuts).clip(0.0, 1.0))

    def to_onnx(self, values: Any) -> Any:
        """Record pooled coordinates (T, C) of a tensor of reports (T, N, C)."""
        nodes: dict[str, Any] = self.nodes_
        features = _features(values, self.always_, self.never_)
        inner = nodes["feature"] >= 0
        own = np.arange(len(inner))  # a leaf leads to itself
        left, right = (np.where(inner, nodes[side], own) for side in ("left", "right"))
        reads = np.maximum(nodes["feature"], 0)
        node: Any = np.zeros_like(features[:, :1]).astype(np.int64) + nodes["roots"]
        for _ in range(_depth(self.nodes_)):
            x = np.take_along_axis(features, take(reads, node), axis=1)
            missing = take(nodes["missing_left"] == 1, node)
            goes_left = np.where(np.isnan(x), missing, x <= take(nodes["cut"], node))
            node = np.where(goes_left, take(left, node), take(right, node))
        width = len(self.columns_)
        leaves = take(nodes["value"], node)  # (T, J)
        leaves = leaves.reshape(-1, len(nodes["roots"]) // width, width)
        every = np.eye(len(self.baseline_))[self.columns_]  # (columns, C)
        return probabilities_of(leaves.sum(axis=1) @ every + self.baseline_)


def _features(values: FloatArray, always: BoolArray, never: BoolArray) -> FloatArray:
    """Reports (T, N * C) and the mean of their log scale.

    Trees learn what a missing report means only where some were missing in training; an
    agent that ``always`` (N,) reported then is taken to agree with the crowd now, and
    so is one that ``never`` did, whatever it reports.
    """
    crowd = mean_report(clipped_log_scale(values))
    if never.any() or has_gaps(values):
        gap = (np.isnan(values) & always[:, None]) | never[:, None]
        values = np.where(gap, from_log_scale(crowd)[:, None], values)
    flat = values.reshape(-1, values.shape[1] * values.shape[2])
    return np.concatenate([flat, crowd], axis=1)


def _cuts(values: FloatArray, case_weights: FloatArray | None) -> FloatArray:
    """Where a sorted feature is cut into at most `MISSING` bins.

    Between all values where there are so few, else at quantiles of the cases.

    >>> _cuts(np.array([0.1, 0.3, 0.3]), None)
    array([0.2])
    """
    distinct = values[np.diff(values, prepend=-np.inf) > 0]
    if len(distinct) <= MISSING:
        return np.asarray((distinct[1:] + distinct[:-1]) / 2)
    weights = np.ones(len(values)) if case_weights is None else case_weights
    mass = np.cumsum(weights)
    # In the arithmetic of scikit-learn, whose last bits decide about ties.
    wanted = np.linspace(0.0, 100.0, MISSING + 1)[1:-1] / 100 * mass[-1]
    last = len(values) - 1
    place = np.minimum(np.searchsorted(mass, wanted), last)
    beyond = mass[place] - wanted > np.finfo(np.float64).eps
    after = np.minimum(np.where(beyond, place, place + 1), last)
    return np.unique((values[place] + values[after]) / 2)


def _depth(nodes: dict[str, FloatArray | IntArray]) -> int:
    """Steps from a root to the deepest leaf."""
    depth, level = 0, nodes["roots"]
    while (level := level[nodes["feature"][level] >= 0]).size:
        level = np.concatenate([nodes["left"][level], nodes["right"][level]])
        depth += 1
    return depth
