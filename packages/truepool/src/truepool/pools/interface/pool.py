"""The interface of pools: scikit-learn classifiers whose features are probabilities."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from truepool.core import registry
from truepool.core.arrays import (
    FloatArray,
    IntArray,
    as_case_weights,
    as_probabilities,
    from_classes,
    read_only,
)
from truepool.core.errors import (
    AgentError,
    CostError,
    PanelError,
    ReportError,
    SettingError,
)
from truepool.core.seeds import check_seed
from truepool.measures.decisions import check_threshold, choose
from truepool.panel.costs import Costs
from truepool.panel.labels import Labels
from truepool.panel.panel import Panel
from truepool.panel.reports import column_names
from truepool.panel.sparse import SparseReports
from truepool.panel.weights import linear, on_simplex, proportional
from truepool.pools import persistence
from truepool.pools.interface import contract
from truepool.pools.interface.agent_reports import match_columns, match_one
from truepool.pools.interface.parameters import Parameters, learned
from truepool.pools.interface.result import Explanation, PoolResult, Training
from truepool.pools.training.habits import Habits
from truepool.tables.schema import Schema

if TYPE_CHECKING:
    from truepool.tables.checkpoint import PassTotals
    from truepool.tables.stream import PanelStream

NO_COSTS = Costs()
"""The default costs: a missed case and a false alarm cost 1 each."""


class Pool(Parameters, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Many probabilities in, one out.

    A pool defines two methods: `_learn`, which gets a checked panel, and
    `combine`, which gets checked reports. Checks, names and decisions are done here,
    once: `predict_proba` and `predict` check the reports and show what `pool` makes of
    them. Reports are (T, N) or (T, N, K), NaN where an agent has no report.

    Attributes
    ----------
    name : str
        What the command line and `truepool.pools.every` call it.
    complexity : int
        0 learns nothing, 1 one or two numbers, 2 weights, 3 a model. `auto` prefers
        the simpler of two pools that it cannot tell apart.
    by_default : bool
        Whether `truepool.compare` tries it without being asked for it by name. Pools
        that take long to learn or need an extra are not tried by default.
    scales : bool
        Whether it reads only the reports that were given, so that thousands of agents
        who report on one case in a hundred take no more time and memory than their
        reports do. Others refuse sparse panels of too many cells.
    exemptions : mapping of str to str
        Promises of the contract suite this pool does not make, and why.
    records : tuple of dataclass
        Dataclasses of its own that its learned attributes hold, so that they can be
        saved. Learned attributes are annotated in the class, by names that end in _.
    labels_ : Labels
        What the classes are called; of two, the second is the positive one.
    training_ : Training
        The cases that it learned from.
    habits_ : Habits or None
        How the agents reported there, if that was kept.
    """

    name: ClassVar[str]
    complexity: ClassVar[int]
    by_default: ClassVar[bool] = True
    scales: ClassVar[bool] = False
    exemptions: ClassVar[Mapping[str, str]] = {}
    records: ClassVar[tuple[type, ...]] = (Training, Habits)
    guarded: ClassVar[tuple[str, ...]] = (
        "_learn",
        "_weigh",
        "combine",
        "combine_sparse",
    )
    """Methods whose errors name the plug-in that wrote them."""

    costs: Costs | None = None
    threshold: float | None = None

    classes_: IntArray = learned()
    agents_: tuple[str, ...] = learned()
    has_names_: bool = learned()
    n_features_in_: int = learned()
    labels_: Labels = learned()
    training_: Training = learned()
    habits_: Habits | None = learned(None)
    table: Schema | None = learned(None)
    """What the columns were of the table that a saved pool was fitted on, if known."""

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Names of what the constructor takes, read from its signature once.

        scikit-learn reads it whenever a pool is copied, and a comparison copies
        hundreds.
        """
        return super()._get_param_names()  # type: ignore[no-any-return]

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
        columns: Mapping[str, ArrayLike] | None = None,
    ) -> Self:
        """Learn from reports (T, N) or (T, N, K) and outcomes (T,).

        ``positive`` is which of two labels the reports are probabilities of, where
        the outcomes are not 0 and 1; decisions are 1 for it and 0 for the other.
        ``columns`` (T,) of the cases are needed where the costs name any.
        """
        panel = Panel(reports, outcomes, positive=positive, columns=columns, copy=False)
        self.fit_panel(panel, as_case_weights(sample_weight, len(panel)))
        self.has_names_ = bool(column_names(reports))
        self.remember(panel)
        return self

    def remember(self, panel: Panel, *, whole: bool = True) -> None:
        """Keep how the agents report, to compare new cases with.

        ``whole`` says whether the panel is all that the pool learned from.
        """
        self.habits_ = Habits.learn(panel, whole=whole)

    def fit_panel(self, panel: Panel, case_weights: FloatArray | None = None) -> Self:
        """Learn from a checked panel; settings and costs are checked here, once."""
        self.check(panel)
        return self.learn(panel, case_weights)

    def check(self, panel: Panel) -> None:
        """Refuse settings and costs that do not fit a panel.

        Whoever tries a pool on many parts of a panel checks it once, before `learn`.
        """
        self._check_settings(panel.classes)
        self._check_costs(panel)

    def learn(self, panel: Panel, case_weights: FloatArray | None = None) -> Self:
        """Learn from a panel that fits the settings, which `check` found out."""
        if not self.scales:
            self._check_cells(panel)
        training = Training(panel.size, panel.counts, panel.missing)
        self._describe(panel.agents, panel.labels, training)
        self._learn(panel, panel.case_weights(case_weights))
        return self

    def refit(self, panel: Panel, case_weights: FloatArray | None = None) -> Self:
        """Return a pool that learned from another panel, with what this one chose.

        A pool that chooses among others does not choose again.
        """
        return cast(Self, clone(self).learn(panel, case_weights))

    def fit_stream(self, panels: "PanelStream") -> Self:
        """Learn from a data set, batch by batch, by sums over its cases.

        Only for pools that `streams` says yes for; equal to `fit_panel` but for the
        rounding of sums.
        """
        self._check_settings(panels.classes)
        sums = self._sum_up(panels)
        if panels.totals.empty and panels.totals.cases:
            # Cases without reports do not count, and that was not known at first.
            panels.mass = panels.totals.mass
            sums = self._sum_up(panels)
        totals, agents = panels.totals, len(panels.agents)
        if totals.cases < 2:
            raise PanelError(f"a panel needs at least 2 cases; got {totals.cases}")
        reports = totals.cases * agents * (1 if panels.classes == 2 else panels.classes)
        counts = tuple(totals.counts.tolist())
        training = Training(totals.cases, counts, totals.silent / reports)
        self._describe(panels.agents, panels.labels, training)
        self._learn_sums(sums, totals)
        return self

    def _sum_up(self, panels: "PanelStream") -> FloatArray:
        made_by = repr((self.name, self.get_params(deep=False), panels.prior.tolist()))
        return panels.sum(partial(_panel_sums, self, panels.prior), made_by)

    def streams(self, agents: int) -> bool:
        """Whether it learns from sums over the cases of so many agents."""
        return False

    def _sums(self, panel: Panel, prior: FloatArray) -> FloatArray:
        """Sums over cases that it learns from; ``prior`` (C,) is the base rate."""
        return np.zeros(0)

    def _learn_sums(self, sums: FloatArray, totals: "PassTotals") -> None:
        """Set the learned attributes from sums over all cases."""

    def _check_settings(self, classes: int) -> None:
        contract.check_settings(self)
        check_threshold(self.threshold, classes)
        if "seed" in vars(self):
            check_seed(vars(self)["seed"])

    def _describe(
        self, agents: tuple[str, ...], labels: Labels, training: Training
    ) -> None:
        """Note what the pool is fitted on."""
        self.classes_ = np.arange(len(labels.names))
        self.agents_ = agents
        self.has_names_ = True
        self.n_features_in_ = len(agents)
        self.labels_ = labels
        self.training_ = training
        self.habits_ = None
        if self.table is not None:
            del self.table

    def _check_cells(self, panel: Panel) -> None:
        """Refuse sparse reports of too many cells; name the pools that take them."""
        if panel.sparse is not None:
            every = registry.names("pool").items()
            able = ", ".join(name for name, cls in every if cls.scales)
            user, cure = f"the pool {self.name!r}", f"These do not: {able}."
            panel.sparse.check_cells(user, cure)

    def _check_costs(self, panel: Panel) -> None:
        """Refuse costs that do not fit the panel, or that new cases would not have."""
        costs = self.costs or NO_COSTS
        costs.check_classes(panel.classes)
        if costs.cases is not None:
            raise CostError(
                "a pool decides new cases too, so its costs must be numbers or name "
                f"columns of the cases; got {costs.cases} numbers. Write "
                "Costs(fn='amount') and fit(..., columns={'amount': amounts})."
            )
        costs.resolve(panel.columns, panel.ids)

    def pool(
        self,
        values: FloatArray | SparseReports,
        columns: Mapping[str, ArrayLike] | None = None,
    ) -> PoolResult:
        """Pool reports that were checked already, coordinates (T, N, C), and decide.

        Where the costs name ``columns`` (T,) of the cases, decisions need them, unless
        there is a threshold.
        """
        probabilities = self.probabilities(values)
        decisions = self.decide(from_classes(probabilities), columns)
        return PoolResult(probabilities, decisions)

    def decide(
        self, pooled: FloatArray, columns: Mapping[str, ArrayLike] | None = None
    ) -> IntArray:
        """Decide on cases by their pooled coordinates (T, C)."""
        if isinstance(pooled, Mapping):
            raise ReportError(
                "decide takes pooled probabilities, an array with one row per case; "
                f"got a {type(pooled).__name__}. Give the reports on one case, by "
                "agent, to decide_one."
            )
        costs = NO_COSTS if self.costs is None else self.costs
        if costs.columns and self.threshold is None:
            costs = costs.resolve({} if columns is None else columns)
            costs.check_cases(len(pooled))
        return choose(pooled, costs, self.threshold)

    def probabilities(self, values: FloatArray | SparseReports) -> FloatArray:
        """Pool reports that were checked already, coordinates (T, N, C), into (T, K).

        Sparse reports are pooled by `combine_sparse`.

        What `combine` answers is made a probability by `as_probabilities`: rounding
        may carry a sum of shares a last bit above 1.
        """
        self._check_fitted()
        if len(values.shape) != 3:
            raise ReportError(
                "probabilities takes reports that were checked already, as coordinates "
                f"(T, N, C); got an array of shape {values.shape}. Pass reports (T, N) "
                "or (T, N, K) to predict_proba."
            )
        _, N, C = values.shape
        if len(self.agents_) != N:
            raise AgentError(
                f"{type(self).__name__} learned from {len(self.agents_)} agents "
                f"({', '.join(self.agents_)}); got reports of {N}"
            )
        K = 2 if C == 1 else C
        if len(self.classes_) != K:
            raise ReportError(
                f"{type(self).__name__} learned {len(self.classes_)} classes; "
                f"got reports of {K}"
            )
        return as_probabilities(self.pooled(values))

    def predict_proba(self, reports: ArrayLike) -> FloatArray:
        """Pooled probability of every class, (T, K).

        Columns of a frame are matched to the agents by name, in any order.
        """
        return self.probabilities(self._checked(reports))

    def predict(
        self, reports: ArrayLike, columns: Mapping[str, ArrayLike] | None = None
    ) -> IntArray:
        """Class with the lowest expected cost, (T,); binary: 1 where p > threshold.

        ``columns`` (T,) of the cases are needed where the costs name any.
        """
        return self.pool(self._checked(reports), columns).decisions

    def predict_proba_one(self, reports: Mapping[str, Any]) -> dict[int, float]:
        """Pooled probability of every class of one case, by class number.

        ``reports`` has a probability by agent; of more than two classes, a list in the
        order of ``labels_.names`` or a dict by these names. Agents may be missing.

        >>> from truepool.pools.mean import Mean
        >>> pool = Mean().fit_panel(Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0], ("a", "b")))
        >>> pool.predict_proba_one({"a": 0.75, "b": None}), pool.decide_one({"b": 0.75})
        ({0: 0.25, 1: 0.75}, 1)
        """
        pooled = self.pooled(self._one(reports))
        if pooled.shape[1] == 1:  # numpy takes longer to clip one number than to pool
            p = min(max(float(pooled[0, 0]), 0.0), 1.0)
            return {0: 1.0 - p, 1: p}
        return dict(enumerate(as_probabilities(pooled)[0].tolist()))

    def decide_one(
        self, reports: Mapping[str, Any], columns: Mapping[str, Any] | None = None
    ) -> int:
        """Class with the lowest expected cost of one case, by its number.

        ``columns`` has what the costs need to know of the case, as in {"amount": 120}.
        """
        known = {name: [value] for name, value in (columns or {}).items()}
        costs = self.costs or NO_COSTS
        lacking = [name for name in costs.columns if name not in known]
        if lacking and self.threshold is None:
            example = ", ".join(f"{name!r}: 100" for name in costs.columns)
            raise PanelError(
                f"a decision needs the column {lacking[0]!r} of the case, which its "
                f"costs name; got {', '.join(map(repr, known)) or 'none'}. Write "
                f"decide_one(reports, {{{example}}}), with the numbers of the case."
            )
        return int(self.pool(self._one(reports), known).decisions[0])

    def contributions(self, reports: ArrayLike) -> FloatArray:
        """What each agent changed: pooled probability with minus without its report.

        (T, N) for the positive class, or (T, N, K). An agent without a report changed
        nothing; without its only report a case would have the base rate of the training
        cases.

        >>> from truepool.pools.mean import Mean
        >>> pool = Mean().fit([[0.9, 0.5], [0.1, 0.5]], [1, 0])
        >>> pool.contributions([[0.9, 0.5]]).round(3)
        array([[ 0.2, -0.2]])
        """
        changes = self.contributions_of(self._checked(reports))
        return changes[:, :, 0] if changes.shape[2] == 1 else changes

    def contributions_of(self, values: FloatArray) -> FloatArray:
        """Contributions of reports that were checked already, coordinates (T, N, C)."""
        pooled = from_classes(self.probabilities(values))
        base_rate = from_classes(np.array(self.training_.base_rates))
        reported = ~np.isnan(values[:, :, 0])
        alone = reported.sum(axis=1) == 1
        changes = np.zeros(values.shape)
        for i in range(values.shape[1]):
            # Where nobody else reported the report stays in, and is not used.
            changed = reported[:, i]
            others = values[changed].copy()
            others[~alone[changed], i] = np.nan
            if len(others):
                without = from_classes(self.probabilities(read_only(others)))
                without[alone[changed]] = base_rate
                changes[changed, i] = pooled[changed] - without
        return changes

    def save(self, path: str | Path) -> None:
        """Write the fitted pool to a file, whole or not at all.

        `truepool.load_pool` reads it, and no file can make it run code.
        """
        self._check_fitted()
        persistence.save(self, path, self.table)

    def check_learned(self) -> None:
        """Refuse learned attributes that do not fit together, as ValueError.

        Called when a saved pool is loaded: compiled code trusts the sizes it is given.
        """
        K = len(self.classes_)
        if not (
            isinstance(self.agents_, tuple)
            and all(isinstance(agent, str) for agent in self.agents_)
            and np.array_equal(self.classes_, np.arange(K))
            and len(self.labels_.names) == len(self.training_.counts) == K
        ):
            raise ValueError("the agents or the classes are not what they should be")
        if self.habits_ is not None and not self.habits_.fits(len(self.agents_)):
            raise ValueError("the habits are of other agents")
        for inner in self._inner_pools():
            if inner.is_fitted:
                if inner.agents_ != self.agents_ or len(inner.classes_) != K:
                    raise ValueError("a pool inside is about other agents")
                inner.check_learned()

    def _inner_pools(self) -> Iterator["Pool"]:
        """Pools among the attributes, alone or in tuples."""
        for value in vars(self).values():
            for inner in value if isinstance(value, tuple) else (value,):
                if isinstance(inner, Pool):
                    yield inner

    def explain(self) -> Explanation:
        """Explain the fitted pool: its name, its weights, and their basis."""
        self._check_fitted()
        return self._explanation()

    def _explanation(self) -> Explanation:
        """What `explain` says; a pool with weights says more."""
        return Explanation(self.name)

    def pooled(self, values: FloatArray | SparseReports) -> FloatArray:
        """What `combine` returns, (T, C)."""
        if isinstance(values, SparseReports):
            pooled = self.combine_sparse(values)
        else:
            pooled = self.combine(values)
        contract.check_pooled(self, pooled, values)
        return pooled

    def _check_fitted(self) -> None:
        if not self.is_fitted:  # check_is_fitted takes 30 us to say so
            check_is_fitted(self, "classes_")

    @property
    def is_fitted(self) -> bool:
        """Whether it has learned from cases."""
        return "classes_" in vars(self)

    def _checked(self, reports: ArrayLike) -> FloatArray:
        """Coordinates (T, N, C) of raw reports, in the order of the agents."""
        self._check_fitted()
        return match_columns(reports, self.agents_, by_name=self.has_names_)

    def _one(self, reports: Mapping[str, Any]) -> FloatArray:
        """Coordinates (1, N, C) of the reports on one case."""
        self._check_fitted()
        return match_one(reports, self.agents_, tuple(map(str, self.labels_.names)))

    @abstractmethod
    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        """Set the learned attributes."""

    @abstractmethod
    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C); NaN is a missing report.

        Written in functions of numpy that can be recorded
        (`truepool.pools.onnx.graph.FUNCTIONS`), it also exports the pool to ONNX.
        """

    def combine_sparse(self, reports: SparseReports) -> FloatArray:
        """Pool sparse reports on T cases into (T, 1); like `combine`, to rounding.

        By default some cases at a time are written out as a table.
        """
        return np.concatenate([self.combine(table) for _, table in reports.blocks()])

    def jumps(self) -> FloatArray:
        """Reports at which the pooled probability jumps, where there are any.

        An export is compared with its pool there too.
        """
        inside = [pool.jumps() for pool in self._inner_pools() if pool.is_fitted]
        return np.unique(np.concatenate([np.zeros(0), *inside]))

    def to_onnx(self, values: Any) -> Any:
        """Record pooled coordinates (T, C) of a tensor of reports (T, N, C).

        By default that is `combine`, whose numpy is recorded. A pool that combines by
        compiled code writes here what that computes.
        """
        return self.combine(values)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        tags.input_tags.positive_only = True
        return tags


def configure(
    pool: Pool | str,
    /,
    *,
    costs: Costs | None = None,
    threshold: float | None = None,
    seed: int | None = None,
    **settings: Any,
) -> Pool:
    """Give a pool the settings that several pools share, as far as it takes them.

    By its name it is made with those of ``costs``, ``threshold`` and ``seed`` that it
    takes, and with its own ``settings``, of which an unknown one is refused. A pool
    object is copied, and gets the costs and the threshold if it has none.

    >>> from truepool.pools.mean import Mean
    >>> configure("mean", threshold=0.3, seed=1), configure(Mean(), threshold=0.3)
    (Mean(threshold=0.3), Mean(threshold=0.3))
    """
    if not isinstance(pool, str):
        contract.check_settings(pool)
        if settings:
            raise SettingError(
                "a pool object has its own settings; got "
                f"{', '.join(settings)}. Set them in its constructor, or give its name."
            )
        copy: Pool = clone(pool)
        copy.costs = costs if copy.costs is None else copy.costs
        copy.threshold = threshold if copy.threshold is None else copy.threshold
        return copy
    takes = registry.find("pool", pool).settings()
    shared = {"costs": costs, "threshold": threshold, "seed": seed}
    common = {k: v for k, v in shared.items() if v is not None and k in takes}
    made = cast(Pool, registry.make("pool", pool, **common, **settings))
    contract.check_settings(made)
    return made


def _panel_sums(pool: Pool, prior: FloatArray, panel: Panel) -> FloatArray:
    pool._check_costs(panel)
    return pool._sums(panel, prior)


def by_agent(agents: tuple[str, ...], numbers: FloatArray) -> dict[str, float]:
    """One number for each agent, by its name."""
    return dict(zip(agents, numbers.tolist(), strict=True))


class FixedPool(Pool):
    """A pool that learns nothing: it depends on the reports alone."""

    complexity: ClassVar[int] = 0

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        pass

    def streams(self, agents: int) -> bool:
        """Whether it learns from sums over the cases: it needs none.

        Unless it learns something nevertheless, as `vote` does the mean costs.
        """
        return type(self)._learn is FixedPool._learn


class LinearPool(Pool):
    """A pool that learns one weight per agent, ``weights_``, on the simplex.

    Where an agent has no report the weights renormalise over the others; where all
    who reported have weight zero they count equally. An agent that never reported has
    no weight yet.
    """

    weights_: FloatArray = learned()

    @abstractmethod
    def _weigh(self, panel: Panel, case_weights: FloatArray | None) -> FloatArray:
        """Weights (N,) from a checked panel."""

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        weights = self._weigh(panel, case_weights)
        counts = panel.report_counts if panel.silent else None
        self.weights_ = self._checked_weights(weights, counts)

    def _learn_sums(self, sums: FloatArray, totals: "PassTotals") -> None:
        counts = totals.reported if totals.silent else None
        self.weights_ = self._checked_weights(self._weigh_sums(sums), counts)

    def _weigh_sums(self, sums: FloatArray) -> FloatArray:
        """Weights (N,) from sums over the cases, where the pool learns from them."""
        raise NotImplementedError

    def _checked_weights(self, weights: Any, counts: IntArray | None) -> FloatArray:
        """Weights of those who reported; ``counts`` (N,) where reports are missing."""
        checked = contract.check_weights(self, weights, len(self.agents_))
        if counts is None or self.complexity == 0:  # equal weights are not learned
            return checked
        return _without_absent(checked, counts)

    def _explanation(self) -> Explanation:
        return Explanation(self.name, weights=by_agent(self.agents_, self.weights_))

    def check_learned(self) -> None:
        """Refuse weights that do not lie on the simplex, one per agent."""
        super().check_learned()
        if not on_simplex(self.weights_, len(self.agents_)):
            raise ValueError("the weights do not lie on the simplex")

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        return linear(values, self.weights_)

    def combine_sparse(self, reports: SparseReports) -> FloatArray:
        """Pool sparse reports on T cases into (T, 1)."""
        return reports.linear(self.weights_)[:, None]


def _without_absent(weights: FloatArray, counts: IntArray) -> FloatArray:
    """Weights of the agents that reported at least once; the others have none yet."""
    if counts.all():
        return weights
    left = np.where(counts > 0, weights, 0.0)
    return proportional(left if left.any() else (counts > 0).astype(np.float64))
