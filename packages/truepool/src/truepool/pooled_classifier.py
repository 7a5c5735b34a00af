"""A scikit-learn classifier over raw features: agents, their reports, and a pool."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, assert_all_finite, get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
    validate_data,
)

from truepool.agents.interface import as_reports, check_agent, class_probabilities
from truepool.agents.partition import feature_silos
from truepool.core.arrays import Array, FloatArray
from truepool.core.errors import AgentError, SettingError
from truepool.measures.folds import Folds, evaluation_cases, splits
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.labels import Labels, check_labels
from truepool.pools.interface import Pool, configure
from truepool.pools.vcg import VCG


class PooledClassifier(ClassifierMixin, MetaEstimatorMixin, _BaseComposition):  # type: ignore[misc]
    """Train agents, cross-fit their reports, and learn a pool from those.

    The pool never learns from a report on a case that its agent was trained on: the
    reports on each fold come from agents trained on the other folds. Afterwards every
    agent is trained on all cases.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The agents. A classifier wrapped in scikit-learn's ``FrozenEstimator`` is taken
        as it is: its reports on the cases given to `fit` are used directly, so it
        should not have been trained on them.
    pool : Pool or str, optional
        The pool; `VCG` by default.
    positive : label, optional
        Which of two labels is positive: ``fn`` is the cost of missing it, and the
        threshold applies to its probability. With labels 0/1 or False/True it is 1 or
        True. With other labels it is required if costs are unequal or a threshold is
        set; otherwise it is the last label in scikit-learn's order.
    features : float or list, optional
        None: every agent sees all features. A fraction: each agent sees a random silo
        of that share, drawn as in the paper. A list: the columns of each agent.
    cv : int or splitter
        Folds; any scikit-learn splitter, including time-ordered ones: cases that are
        in no test fold are then used to train the agents but not the pool.
    n_jobs : int, optional
        Number of agents to train in parallel.
    partition_seed : int
        Seed of the random silos; 42 as in the paper.

    Attributes
    ----------
    estimators_ : list of fitted classifiers
    pool_ : Pool
    classes_ : (K,) labels, sorted
    labels_ : Labels, in the order of the pool's classes: negative, positive
    features_ : for each agent the columns that it sees, or None for all

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> agents = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    >>> model = PooledClassifier(agents, pool="vcg", features=0.6).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        pool: Pool | str | None = None,
        *,
        positive: Any = None,
        features: float | Sequence[Any] | None = None,
        cv: Folds = 5,
        n_jobs: int | None = None,
        partition_seed: int = 42,
    ) -> None:
        self.estimators = estimators
        self.pool = pool
        self.positive = positive
        self.features = features
        self.cv = cv
        self.n_jobs = n_jobs
        self.partition_seed = partition_seed

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Train the agents and the pool on features X and labels y.

        ``sample_weight`` is passed on to the agents and to the pool, ``groups`` to the
        splitter.
        """
        groups = fit_params.pop("groups", None)
        weights = self._sample_weight(X, fit_params)
        names, agents = self._agents()
        X = self._table(X, reset=True)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        check_consistent_length(X, y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise SettingError(
                "y must have at least two classes; got only one class, "
                f"{self.classes_[0]!r}"
            )
        pool = configure(VCG() if self.pool is None else self.pool)
        self.labels_ = self._labels(pool)
        outcomes = self.labels_.encode(y)
        self.features_ = self._silos(X.shape[1], len(agents))
        pairs = splits(outcomes, self.cv, features=X, groups=groups)
        reports = self._crossfit(agents, X, y, pairs, weights)
        rows = evaluation_cases(pairs)
        self.pool_ = clone(pool).fit(
            reports[rows],
            outcomes[rows],
            None if weights is None else weights[rows],
        )
        everything = np.arange(len(outcomes))
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_train)(agent, _visible(X, columns), y, everything, weights)
            for agent, columns in zip(agents, self.features_, strict=True)
        )
        self.agents_ = names
        return self

    def reports(self, X: Any) -> FloatArray:
        """Return the reports of every agent, (T, N) or (T, N, K).

        With two classes, the probability of the positive one.
        """
        check_is_fitted(self)
        X = self._table(X, reset=False)
        answers = [
            class_probabilities(agent, _visible(X, columns), self.labels_)
            for agent, columns in zip(self.estimators_, self.features_, strict=True)
        ]
        return as_reports(np.stack(answers, axis=1))

    def predict_proba(self, X: Any) -> FloatArray:
        """Pooled probability of every class, (T, K), in the order of ``classes_``."""
        reports = self.reports(X)
        order = self.labels_.encode(self.classes_)
        return np.asarray(self.pool_.predict_proba(reports)[:, order])

    def predict(self, X: Any) -> Array:
        """Label of least expected cost, (T,)."""
        reports = self.reports(X)
        order = np.argsort(self.labels_.encode(self.classes_))
        return np.asarray(self.classes_[order][self.pool_.predict(reports)])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, those of the agents included (``rf__max_depth``)."""
        params: dict[str, Any] = self._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the agents included."""
        self._set_params("estimators", **params)
        return self

    def _agents(self) -> tuple[tuple[str, ...], list[Any]]:
        names, agents = (
            zip(*self.estimators, strict=True) if self.estimators else ((), ())
        )
        if len(agents) < 2:
            raise AgentError(f"pooling needs at least 2 agents; got {len(agents)}")
        self._validate_names(names)
        for name, agent in self.estimators:
            check_agent(name, agent)
        return names, list(agents)

    def _labels(self, pool: Pool) -> Labels:
        """Labels in the order of the pool's classes."""
        found = check_labels(self.classes_)
        convention = self.positive is None and not _depends_on_class(pool)
        if len(found) == 2 and convention:
            return Labels(tuple(found.tolist()))
        return Labels.from_outcomes(found, self.positive)

    def _sample_weight(self, X: Any, fit_params: dict[str, Any]) -> FloatArray | None:
        weights = fit_params.pop("sample_weight", None)
        if fit_params:
            raise TypeError(
                f"fit takes sample_weight and groups; got {sorted(fit_params)}"
            )
        if weights is None:
            return None
        for name, agent in self.estimators:
            fixed = isinstance(agent, FrozenEstimator)
            if not fixed and _weight_name(agent) is None:
                raise AgentError(
                    f"every agent must take sample_weight; {name!r} "
                    f"({type(agent).__name__}) does not. Leave sample_weight or "
                    "this agent out."
                )
        return np.asarray(_check_sample_weight(weights, X), dtype=np.float64)

    def _table(self, X: Any, *, reset: bool) -> Any:
        if hasattr(X, "columns"):  # a frame stays a frame: agents may use its names
            validate_data(self, X=X, reset=reset, skip_check_array=True)
            return X
        return validate_data(
            self,
            X=X,
            reset=reset,
            dtype=None,
            accept_sparse="csr",
            ensure_all_finite=False,
        )

    def _silos(self, width: int, count: int) -> list[Any]:
        if self.features is None:
            return [None] * count
        if isinstance(self.features, int | float | np.number):
            share = float(self.features)
            return list(feature_silos(width, count, share, self.partition_seed))
        if len(self.features) != count:
            raise SettingError(
                f"features must give the columns of each of the {count} agents; "
                f"got {len(self.features)} lists"
            )
        return [list(columns) for columns in self.features]

    def _crossfit(
        self,
        agents: list[Any],
        X: Any,
        y: Any,
        pairs: list[tuple[Any, Any]],
        weights: FloatArray | None,
    ) -> FloatArray:
        reports = np.zeros((len(y), len(agents), len(self.classes_)))
        count = np.zeros((len(y), 1, 1))
        for _, test in pairs:
            count[test] += 1
        tasks = [
            (i, *pair)
            for i, agent in enumerate(agents)
            for pair in pairs
            if not isinstance(agent, FrozenEstimator)
        ]
        seen = [_visible(X, columns) for columns in self.features_]
        answers = Parallel(n_jobs=self.n_jobs)(
            delayed(_fold_reports)(
                agents[i], seen[i], y, learn, test, weights, self.labels_
            )
            for i, learn, test in tasks
        )
        for (i, _, test), answer in zip(tasks, answers, strict=True):
            reports[test, i] += answer
        reports /= np.maximum(count, 1)
        for i, agent in enumerate(agents):
            if isinstance(agent, FrozenEstimator):
                reports[:, i] = class_probabilities(agent, seen[i], self.labels_)
        return as_reports(reports)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = [get_tags(agent).input_tags for _, agent in self.estimators]
        tags.input_tags.allow_nan = all(tag.allow_nan for tag in inputs)
        tags.input_tags.sparse = all(tag.sparse for tag in inputs)
        return tags


def _depends_on_class(pool: Pool) -> bool:
    """Whether a pool treats two classes differently: by costs or by a threshold."""
    settings = pool.get_params()
    for value in settings.values():
        if isinstance(value, list | tuple):  # the pools that `auto` may choose
            inner = [other for other in value if isinstance(other, Pool)]
            if any(map(_depends_on_class, inner)):
                return True
    losses = [value for value in settings.values() if isinstance(value, Loss)]
    costs = [value for value in settings.values() if isinstance(value, Costs)]
    costs += [loss.costs for loss in losses]
    lines = [settings[key] for key in settings if key.endswith("threshold")]
    lines += [loss.threshold for loss in losses]
    unequal = any(cost.fn != cost.fp for cost in costs)
    return unequal or any(line not in (None, 0.5) for line in lines)


def _visible(X: Any, columns: Any) -> Any:
    return X if columns is None else _safe_indexing(X, columns, axis=1)


def _train(agent: Any, X: Any, y: Any, rows: Array, weights: FloatArray | None) -> Any:
    if isinstance(agent, FrozenEstimator):
        return agent
    extra = {} if weights is None else {str(_weight_name(agent)): weights[rows]}
    return clone(agent).fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **extra)


def _weight_name(agent: Any) -> str | None:
    """Name of the weight argument of an agent; of the last step, for a pipeline."""
    if isinstance(agent, Pipeline):
        name, last = agent.steps[-1]
        inner = _weight_name(last)
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if has_fit_parameter(agent, "sample_weight") else None


def _fold_reports(
    agent: Any,
    X: Any,
    y: Any,
    learn: Array,
    test: Array,
    weights: FloatArray | None,
    labels: Labels,
) -> FloatArray:
    """Return reports on the test fold by a copy trained on the other folds."""
    copy = _train(agent, X, y, learn, weights)
    return class_probabilities(copy, _safe_indexing(X, test), labels)
