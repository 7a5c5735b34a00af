r"""An agent's payoff as a function of its own report, everything else given.

Under every payment the payoff of a case is one of three functions of the report m: a
parabola (`Squares`), a step (`Steps`) or another curve (`Curve`). Best responses are
found for these functions, so a payment only says which one it is. Payoffs are
expectations over the outcome, given its probability; larger is better.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool_lab import kernels

Extra = Callable[[], FloatArray | float]
"""The part of a payoff that does not depend on the report, computed on demand."""

BLOCK = 2_000_000
"""Numbers kept in memory when a payoff is computed for many reports."""


def no_extra() -> float:
    """Return 0: most payments have no extra part."""
    return 0.0


@final
@dataclass(frozen=True, eq=False)
class Squares:
    r""":math:`-scale\,(m - target)^2`."""

    targets: FloatArray
    scale: float = 1.0
    extra: Extra = no_extra

    def evaluate(self, reports: FloatArray) -> FloatArray:
        """Payoff of reports (T,) or (T, G), without the extra."""
        return -self.scale * (reports - _like(self.targets, reports)) ** 2

    def over_shifts(self, beliefs: FloatArray, shifts: FloatArray) -> FloatArray:
        """Mean payoff (G,) of reporting beliefs + shift, clipped to [0, 1]."""
        sums = kernels.shading.squared_distances(beliefs, self.targets, shifts)
        return np.asarray(-self.scale * sums / len(beliefs))

    def best(self, truth: FloatArray) -> FloatArray:
        """Report the target, clipped to [0, 1]."""
        return truth if self.scale == 0 else np.clip(self.targets, 0.0, 1.0)


@final
@dataclass(frozen=True, eq=False)
class Steps:
    r""":math:`gain` where :math:`rest + weight \cdot m > cutoff`, else 0.

    ``rest`` (T,) and ``weight`` (T,) or (1,) are those of the pool; ``rest`` 0 and
    ``weight`` 1 is a decision on the agent's report alone.
    """

    rest: FloatArray
    weight: FloatArray
    cutoff: float
    gains: FloatArray
    extra: Extra = no_extra

    def evaluate(self, reports: FloatArray) -> FloatArray:
        """Payoff of reports (T,) or (T, G), without the extra."""
        weight = _like(self.weight, reports) if self.weight.size > 1 else self.weight
        pooled = _like(self.rest, reports) + weight * reports
        return np.where(pooled > self.cutoff, _like(self.gains, reports), 0.0)

    def over_shifts(self, beliefs: FloatArray, shifts: FloatArray) -> FloatArray:
        """Mean payoff (G,) of reporting beliefs + shift, clipped to [0, 1]."""
        sums = kernels.shading.decision_gains(
            beliefs, self.rest, self.weight, self.cutoff, self.gains, shifts
        )
        return np.asarray(sums / len(beliefs))

    def turning_points(self) -> FloatArray:
        """Report above which the decision is 1; -inf if always, inf if never."""
        with np.errstate(divide="ignore", invalid="ignore"):
            at = (self.cutoff - self.rest) / self.weight
        at = np.where((at < 0) | (self.rest > self.cutoff), -np.inf, at)
        return np.where((at >= 1) | np.isnan(at), np.inf, at)

    def best(self, truth: FloatArray) -> FloatArray:
        """Report 0 or 1 where that improves the decision; else the truth."""
        extreme = (self.gains > 0).astype(np.float64)
        return np.where(self.evaluate(extreme) > self.evaluate(truth), extreme, truth)


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """Any other function of reports (T,) or (T, G); ``peak`` is the best report."""

    function: Callable[[FloatArray], FloatArray]
    peak: FloatArray | None = None
    extra: Extra = no_extra

    def evaluate(self, reports: FloatArray) -> FloatArray:
        """Payoff of reports (T,) or (T, G), without the extra."""
        return self.function(reports)

    def over_shifts(self, beliefs: FloatArray, shifts: FloatArray) -> FloatArray:
        """Mean payoff (G,) of reporting beliefs + shift, clipped to [0, 1]."""
        return mean_in_blocks(
            self, lambda part: np.clip(beliefs[:, None] + shifts[part], 0, 1),
            len(beliefs), len(shifts),
        )  # fmt: skip

    def best(self, truth: FloatArray) -> FloatArray:
        """Report the peak where it is known; else the truth."""
        return truth if self.peak is None else self.peak


Payoff: TypeAlias = Squares | Steps | Curve
"""Expected payoff of each case as a function of the agent's own report."""


def mean_in_blocks(
    payoff: Payoff,
    reports: Callable[[slice], FloatArray],
    cases: int,
    candidates: int,
) -> FloatArray:
    """Mean payoffs (G,) of candidates, computed in blocks that fit in memory."""
    size = max(1, BLOCK // cases)
    parts = [slice(k, k + size) for k in range(0, candidates, size)]
    return np.concatenate(
        [payoff.evaluate(reports(part)).mean(axis=0) for part in parts]
    )


def _like(array: FloatArray, reports: FloatArray) -> FloatArray:
    return array[:, None] if reports.ndim == 2 else array
