"""What every pool is: a scikit-learn classifier whose features are probabilities."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from truepool import kernels, registry
from truepool.arrays import (
    FloatArray,
    IntArray,
    as_case_weights,
    classes,
    frozen,
    to_classes,
)
from truepool.costs import Costs
from truepool.decisions import check_threshold, choose
from truepool.errors import AgentError, ReportError
from truepool.panel import Panel
from truepool.reports import checked_reports, names_of


class Pool(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Many probabilities in, one out.

    A pool is written by two methods: `_learn`, which sees a sound panel, and
    `combine`, which sees sound reports. Checks, names and decisions are done here,
    once. Reports are (T, N) or (T, N, K), NaN where an agent is silent.

    Attributes
    ----------
    name : str
        What the command line and `truepool.pools.every` call it.
    complexity : int
        0 learns nothing, 1 one or two numbers, 2 weights, 3 a model. `auto` prefers
        the simpler of two pools that it cannot tell apart.
    costly : bool
        Whether it takes long to learn or needs an extra; `truepool.compare` then tries
        it only when it is asked for by name.
    excused : mapping of str to str
        Promises of the contract suite this pool does not make, and why.
    """

    name: ClassVar[str]
    complexity: ClassVar[int]
    costly: ClassVar[bool] = False
    excused: ClassVar[Mapping[str, str]] = {}

    classes_: IntArray
    agents_: tuple[str, ...]
    named_: bool

    def __init__(
        self, *, costs: Costs | None = None, threshold: float | None = None
    ) -> None:
        self.costs = costs
        self.threshold = threshold

    @classmethod
    def settings(cls) -> frozenset[str]:
        """Names of what the constructor takes."""
        return frozenset(cls._get_param_names())

    def fit(
        self,
        reports: ArrayLike,
        outcomes: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        positive: Any = None,
    ) -> Self:
        """Learn from reports (T, N) or (T, N, K) and outcomes (T,).

        ``positive`` is which of two labels the reports are probabilities of, where
        the outcomes are not 0 and 1; decisions are 1 for it and 0 for the other.
        """
        panel = Panel(reports, outcomes, positive=positive, copy=False)
        self.fit_panel(panel, as_case_weights(sample_weight, len(panel)))
        self.named_ = bool(names_of(reports))
        return self

    def fit_panel(self, panel: Panel, case_weights: FloatArray | None = None) -> Self:
        """Learn from a panel that is known to be sound."""
        check_threshold(self.threshold)
        (self.costs or Costs()).table(panel.classes)
        self.classes_ = np.arange(panel.classes)
        self.agents_ = panel.agents
        self.named_ = True
        self.n_features_in_ = len(panel.agents)
        self._learn(panel, case_weights)
        return self

    def predict_proba(self, reports: ArrayLike) -> FloatArray:
        """Pooled probability of every class, (T, K).

        Columns of a frame are matched to the agents by name, in any order.
        """
        check_is_fitted(self)
        names = names_of(reports) if self.named_ else ()
        values, _ = checked_reports(reports, names or self._known_as(reports))
        if names and names != self.agents_:
            values = frozen(values[:, self._order(names)])
        if values.shape[1] != len(self.agents_):
            raise AgentError(
                f"{type(self).__name__} learned from {len(self.agents_)} agents "
                f"({', '.join(self.agents_)}); reports of {values.shape[1]} came"
            )
        if classes(values.shape[2]) != len(self.classes_):
            raise ReportError(
                f"{type(self).__name__} learned {len(self.classes_)} classes; "
                f"reports of {classes(values.shape[2])} came"
            )
        return to_classes(self.combine(values))

    def predict(self, reports: ArrayLike) -> IntArray:
        """Class of least expected cost, (T,); binary: 1 where p > threshold."""
        pooled = self.predict_proba(reports)
        pooled = pooled[:, 1:] if len(self.classes_) == 2 else pooled
        return choose(pooled, self.costs or Costs(), self.threshold)

    def _known_as(self, reports: ArrayLike) -> tuple[str, ...]:
        """Agents' names for a message, where the reports have the right width."""
        shape = np.shape(reports)
        fits = len(shape) > 1 and shape[1] == len(self.agents_)
        return self.agents_ if fits else ()

    @abstractmethod
    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        """Set the learned attributes."""

    @abstractmethod
    def combine(self, values: FloatArray) -> FloatArray:
        """Pool sound reports (T, N, C) into (T, C)."""

    def _order(self, names: tuple[str, ...]) -> list[int]:
        missing = [name for name in self.agents_ if name not in names]
        unknown = [name for name in names if name not in self.agents_]
        if missing or unknown:
            raise AgentError(
                "the agents must be the ones learned from; "
                + "; ".join(
                    f"{what} {', '.join(map(repr, which))}"
                    for what, which in (("missing", missing), ("unknown", unknown))
                    if which
                )
            )
        return [names.index(name) for name in self.agents_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        tags.input_tags.positive_only = True
        return tags


def made(pool: Pool | str, /, **settings: Any) -> Pool:
    """Make the pool of that name with what it takes of the settings.

    A pool that is made already gets what it was not given: costs and threshold.
    """
    if isinstance(pool, Pool):
        wanting = {
            key: settings[key]
            for key in ("costs", "threshold")
            if key in settings and getattr(pool, key) is None
        }
        copy: Pool = clone(pool).set_params(**wanting)
        return copy
    cls = cast(type[Pool], registry.named("truepool.pools", "pool", pool))
    return cls(**{key: settings[key] for key in settings if key in cls.settings()})


class FixedPool(Pool):
    """A pool that learns nothing: what it does follows from the reports alone."""

    complexity: ClassVar[int] = 0

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        pass


class LinearPool(Pool):
    """A pool that learns one weight an agent, ``weights_``, on the simplex.

    Where an agent is silent the weights renormalise over those who spoke; where all
    who spoke have weight zero they count equally.
    """

    weights_: FloatArray

    @abstractmethod
    def _weigh(self, panel: Panel, case_weights: FloatArray | None) -> FloatArray:
        """Weights (N,) from a sound panel."""

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        self.weights_ = self._weigh(panel, case_weights)

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool sound reports (T, N, C) into (T, C)."""
        return np.asarray(kernels.linear(values, self.weights_))
