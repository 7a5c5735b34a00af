r"""What an agent earns as a function of its own report, everything else given.

Every payment, whatever it looks at, comes down to one of three shapes in the report
m of a case: a parabola (`Squares`), a step (`Steps`) or another curve (`Curve`). Best
responses are found on these shapes, so a payment only says which one it is.
Payoffs are expectations over the outcome, given its chance; larger is better.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from truepool.core import kernels
from truepool.core.arrays import FloatArray

Extra = Callable[[], FloatArray | float]
"""What the agent gets whatever it reports; only worked out when somebody asks."""

BLOCK = 2_000_000
"""Numbers held at once when a payoff is tried on many reports."""


def nothing() -> float:
    """Return what most payments pay whatever is reported."""
    return 0.0


@final
@dataclass(frozen=True, eq=False)
class Squares:
    r""":math:`-scale\,(m - target)^2`."""

    targets: FloatArray
    scale: float = 1.0
    extra: Extra = nothing

    def of(self, reports: FloatArray) -> FloatArray:
        """Payoff of reports (T,) or (T, G), without the extra."""
        return -self.scale * (reports - _beside(self.targets, reports)) ** 2

    def over_shifts(self, beliefs: FloatArray, shifts: FloatArray) -> FloatArray:
        """Mean payoff (G,) of reporting beliefs + shift, clipped to [0, 1]."""
        sums = kernels.shading.squares(beliefs, self.targets, shifts)
        return np.asarray(-self.scale * sums / len(beliefs))

    def best(self, truth: FloatArray) -> FloatArray:
        """Report the target, as far as a probability can."""
        return truth if self.scale == 0 else np.clip(self.targets, 0.0, 1.0)


@final
@dataclass(frozen=True, eq=False)
class Steps:
    r""":math:`gain` where :math:`rest + weight \cdot m > line`, else 0.

    ``rest`` (T,) and ``weight`` (T,) or (1,) are those of the pool; ``rest`` 0 and
    ``weight`` 1 is a decision on the agent's report alone.
    """

    rest: FloatArray
    weight: FloatArray
    line: float
    gains: FloatArray
    extra: Extra = nothing

    def of(self, reports: FloatArray) -> FloatArray:
        """Payoff of reports (T,) or (T, G), without the extra."""
        weight = _beside(self.weight, reports) if self.weight.size > 1 else self.weight
        pooled = _beside(self.rest, reports) + weight * reports
        return np.where(pooled > self.line, _beside(self.gains, reports), 0.0)

    def over_shifts(self, beliefs: FloatArray, shifts: FloatArray) -> FloatArray:
        """Mean payoff (G,) of reporting beliefs + shift, clipped to [0, 1]."""
        sums = kernels.shading.flips(
            beliefs, self.rest, self.weight, self.line, self.gains, shifts
        )
        return np.asarray(sums / len(beliefs))

    def turning(self) -> FloatArray:
        """Report above which the decision is 1; -inf always, inf never."""
        with np.errstate(divide="ignore", invalid="ignore"):
            at = (self.line - self.rest) / self.weight
        at = np.where((at < 0) | (self.rest > self.line), -np.inf, at)
        return np.where((at >= 1) | np.isnan(at), np.inf, at)

    def best(self, truth: FloatArray) -> FloatArray:
        """Report 0 or 1 where that turns a decision the right way; else the truth."""
        extreme = (self.gains > 0).astype(np.float64)
        return np.where(self.of(extreme) > self.of(truth), extreme, truth)


@final
@dataclass(frozen=True, eq=False)
class Curve:
    """Any other function of the reports (T,) or (T, G); ``peak`` is its best report."""

    function: Callable[[FloatArray], FloatArray]
    peak: FloatArray | None = None
    extra: Extra = nothing

    def of(self, reports: FloatArray) -> FloatArray:
        """Payoff of reports (T,) or (T, G), without the extra."""
        return self.function(reports)

    def over_shifts(self, beliefs: FloatArray, shifts: FloatArray) -> FloatArray:
        """Mean payoff (G,) of reporting beliefs + shift, clipped to [0, 1]."""
        return over(
            self, lambda part: np.clip(beliefs[:, None] + shifts[part], 0, 1),
            len(beliefs), len(shifts),
        )  # fmt: skip

    def best(self, truth: FloatArray) -> FloatArray:
        """Report at the peak, where it is known; else stay with the truth."""
        return truth if self.peak is None else self.peak


Payoff: TypeAlias = Squares | Steps | Curve
"""Expected payoff of each case by the agent's own report."""


def over(
    payoff: Payoff,
    reports: Callable[[slice], FloatArray],
    cases: int,
    candidates: int,
) -> FloatArray:
    """Mean payoffs (G,) of candidates tried in blocks that fit in memory."""
    size = max(1, BLOCK // cases)
    parts = [slice(k, k + size) for k in range(0, candidates, size)]
    return np.concatenate([payoff.of(reports(part)).mean(axis=0) for part in parts])


def _beside(array: FloatArray, reports: FloatArray) -> FloatArray:
    return array[:, None] if reports.ndim == 2 else array
