"""What a comparison of pools returns."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

import numpy as np

from truepool.core import display
from truepool.core.arrays import FloatArray
from truepool.panel.costs import Costs


@dataclass(frozen=True)
class Estimate:
    """A number with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """Out-of-fold results of one pool: its loss, and the difference to the baselines.

    ``p_mean`` and ``p_best`` are paired t-tests of those differences, adjusted (Holm)
    for the number of pools that were tried.
    """

    pool: str
    loss: Estimate
    to_mean: Estimate
    to_best: Estimate
    p_mean: float
    p_best: float
    cost: float
    brier: float
    log: float
    ece: float
    recall: float
    precision: float
    fn_rate: float
    fp_rate: float
    """Of two classes; NaN with more, of which none is the positive one."""
    recalls: tuple[float, ...]
    """Share of the cases of each class that are decided so, in the order of labels."""
    recall_interval: tuple[float, float] | None = None
    fp_interval: tuple[float, float] | None = None
    """Of two classes (Wilson)."""


def is_significant(gap: Estimate, p_value: float, level: float) -> bool:
    """Whether a difference is significant: by its adjusted test and by its interval.

    The two may disagree where costs are skewed; then there is too little to say so.

    >>> gap = Estimate(-0.2, -0.4, 0.01)
    >>> is_significant(gap, 0.001, 0.95), is_significant(gap, 0.001, 0.9)
    (False, False)
    >>> is_significant(Estimate(-0.2, -0.4, -0.1), 0.001, 0.95)
    True
    """
    return p_value < 1 - level and not gap.low <= 0 <= gap.high


@dataclass(frozen=True)
class GroupComparison:
    """The pools on the tested cases of one segment; no rows where they are too few.

    The p-values of the rows are adjusted for all segments and pools together.
    """

    group: str
    cases: int
    positives: int
    shortage: str | None
    rows: tuple[Row, ...] = ()
    share: float = 0.0
    """Share of positives, each case counted by its weight."""


@dataclass(frozen=True)
class Comparison:
    """Every pool on one panel, lowest loss first; ``skipped`` had too few cases.

    ``by_case`` holds the loss of every tested case by pool, for tests of your own; of
    weighted or grouped cases, their independent parts of the mean loss
    (`truepool.measures.inference.independent_units`).
    """

    rows: tuple[Row, ...]
    loss: str
    costs: Costs
    threshold: float | None
    level: float
    cases: int
    tested: int
    agents: tuple[str, ...]
    classes: int
    skipped: tuple[str, ...] = ()
    by_case: Mapping[str, FloatArray] = field(
        default_factory=dict, repr=False, compare=False
    )
    capacity: str | None = None
    """How many cases could be decided positive, in words."""
    by: str | None = None
    """Column that divides the cases into ``groups``, the largest first."""
    groups: tuple[GroupComparison, ...] = ()
    labels: tuple[Any, ...] = ()
    """What the user calls each class."""
    unseen: FloatArray = field(
        default_factory=lambda: np.empty(0), repr=False, compare=False
    )
    """Differences of cost that the cases may not have shown
    (`truepool.measures.inference.unseen_differences`); tests and intervals add them."""
    competing: int = 0
    """Cases without an outcome that competed for the capacity."""
    by_propensity: bool = False
    """Whether each case counts by the chance that its outcome became known."""

    def __getitem__(self, pool: str) -> Row:
        for row in self.rows:
            if row.pool == pool:
                return row
        raise KeyError(pool)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON (NaN becomes None)."""
        values = asdict(replace(self, by_case={}))
        for name in ("by_case", "labels", "unseen"):  # labels do not change numbers
            del values[name]
        return cast(dict[str, Any], _plain(values))

    def _repr_html_(self) -> str:
        return str(display.render("truepool.pages.notebook", "comparison", self))

    def __repr__(self) -> str:
        best = self.rows[0]
        return (
            f"Comparison({len(self.rows)} pools on {self.tested:,} cases; "
            f"least {self.loss}: {best.pool} {best.loss.value:.4g})"
        )


def _plain(value: Any) -> Any:
    """Values with None for NaN and infinity, which JSON cannot express."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
