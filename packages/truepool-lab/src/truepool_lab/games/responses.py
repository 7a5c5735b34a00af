"""Families of misreports and the best response in each."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, cast, final

import numpy as np
from scipy.special import expit

from truepool.core.arrays import FloatArray, logit
from truepool.core.errors import SettingError
from truepool.core.registry import make
from truepool_lab import kernels
from truepool_lab.games.payoffs import Payoff, Steps, mean_in_blocks

TIE_TOLERANCE = 1e-12
"""Payoffs per case that differ by less are tied, and the tie goes to the truth."""


@dataclass(frozen=True, eq=False)
class Move:
    """What an agent sends: the deviation in its family, and the reports (T,)."""

    deviation: tuple[float, ...]
    reports: FloatArray
    gain: float = 0.0

    @cached_property
    def key(self) -> bytes:
        """Bytes that are equal for equal moves; reports are compared to 1e-9."""
        if self.deviation:
            return np.array(self.deviation).tobytes()
        return (self.reports.round(9) + 0.0).tobytes()  # -0.0 is 0.0


class Response(Protocol):
    """A family of misreports; ``truth`` is the deviation of truthful reports."""

    name: ClassVar[str]
    truth: ClassVar[tuple[float, ...]]

    def respond(self, payoff: Payoff, truth: FloatArray) -> Move:
        """Best reports of the family; ties go to the one nearest to the truth."""


class GridResponse(ABC):
    """A family of misreports whose deviations lie on a grid of G points."""

    name: ClassVar[str]
    truth: ClassVar[tuple[float, ...]]

    @property
    @abstractmethod
    def deviations(self) -> FloatArray:
        """All deviations of the grid, (G, parameters)."""

    @cached_property
    def distances(self) -> FloatArray:
        """Distance of each deviation from the truth, (G,)."""
        return np.asarray(np.abs(self.deviations - self.truth).sum(axis=1))

    @abstractmethod
    def mean_payoffs(self, payoff: Payoff, truth: FloatArray) -> FloatArray:
        """Mean payoff (G,) of every deviation."""

    @abstractmethod
    def apply(self, deviation: tuple[float, ...], truth: FloatArray) -> FloatArray:
        """Reports that this deviation makes of beliefs."""

    def respond(self, payoff: Payoff, truth: FloatArray) -> Move:
        """Best deviation of the grid; ties go to the one nearest to the truth."""
        values = self.mean_payoffs(payoff, truth)
        k = best_index(values, self.distances)
        deviation = tuple(self.deviations[k].tolist())
        gain = float(values[k] - values[self.distances.argmin()])
        return Move(deviation, self.apply(deviation, truth), gain)


@final
@dataclass(frozen=True)
class Shift(GridResponse):
    """Report belief + d, clipped to [0, 1]; d on a grid of equal steps.

    The default grid is the paper's (tab:hyperparams): -0.5 to 0.5 in steps of 0.01.

    >>> len(Shift().shifts), Shift(reach=0.1, step=0.05).shifts.tolist()
    (101, [-0.1, -0.05, 0.0, 0.05, 0.1])
    """

    name: ClassVar[str] = "shift"
    truth: ClassVar[tuple[float, ...]] = (0.0,)
    reach: float = 0.5
    step: float = 0.01

    def __post_init__(self) -> None:
        if not 0 < self.step <= self.reach <= 1:
            raise SettingError(
                "a grid of shifts needs 0 < step <= reach <= 1; got "
                f"step={self.step!r}, reach={self.reach!r}"
            )

    @cached_property
    def shifts(self) -> FloatArray:
        """Shifts tried, (G,)."""
        return _symmetric_grid(self.reach, self.step)

    @cached_property
    def deviations(self) -> FloatArray:
        """All shifts, (G, 1)."""
        return self.shifts[:, None]

    def mean_payoffs(self, payoff: Payoff, truth: FloatArray) -> FloatArray:
        """Mean payoff (G,) of every shift."""
        return payoff.over_shifts(truth, self.shifts)

    def apply(self, deviation: tuple[float, ...], truth: FloatArray) -> FloatArray:
        """Shift the beliefs."""
        if deviation == self.truth:
            return truth
        shifted = truth + deviation[0]
        np.maximum(shifted, 0.0, out=shifted)
        return np.minimum(shifted, 1.0, out=shifted)


@final
@dataclass(frozen=True)
class Affine(GridResponse):
    r"""Report with log-odds :math:`a + s \cdot \mathrm{logit}(b)`.

    Intercepts a from ``-reach`` to ``reach`` and slopes s from 0 to ``max_slope``, both
    in steps of ``step``: a slope below 1 hedges, one above 1 exaggerates.
    """

    name: ClassVar[str] = "affine"
    truth: ClassVar[tuple[float, ...]] = (0.0, 1.0)
    reach: float = 3.0
    max_slope: float = 2.0
    step: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.step <= min(self.reach, self.max_slope):
            raise SettingError(
                "the step must be positive and at most reach and max_slope; got "
                f"step={self.step!r}"
            )

    @cached_property
    def intercepts(self) -> FloatArray:
        """Intercepts tried, (A,)."""
        return _symmetric_grid(self.reach, self.step)

    @cached_property
    def slopes(self) -> FloatArray:
        """Slopes tried, (S,); 1 is one of them."""
        below = int(1 / self.step + 1e-9)
        above = int((self.max_slope - 1) / self.step + 1e-9)
        return np.asarray((1 + np.arange(-below, above + 1) * self.step).round(12))

    @cached_property
    def deviations(self) -> FloatArray:
        """All pairs of intercept and slope, (G, 2), slope by slope."""
        pairs = np.meshgrid(self.intercepts, self.slopes)
        return np.stack(pairs, axis=2).reshape(-1, 2)

    def mean_payoffs(self, payoff: Payoff, truth: FloatArray) -> FloatArray:
        """Mean payoff (G,) of every pair of intercept and slope."""
        odds = logit(truth)
        if isinstance(payoff, Steps):
            return self._steps_payoffs(payoff, odds)
        return np.concatenate(
            [self._slope_payoffs(payoff, slope * odds) for slope in self.slopes]
        )

    def _steps_payoffs(self, payoff: Steps, odds: FloatArray) -> FloatArray:
        """Payoffs of steps: for each slope, a case changes at one intercept."""
        at = payoff.turning_points()
        with np.errstate(divide="ignore"):
            turn = np.log(np.clip(at, 0, 1)) - np.log1p(-np.clip(at, 0, 1))
        turn[np.isinf(at)] = at[np.isinf(at)]
        intercepts = self.intercepts
        sums = [
            kernels.shading.sums_below(turn - s * odds, payoff.gains, intercepts)
            for s in self.slopes
        ]
        return np.concatenate(sums) / len(odds)

    def _slope_payoffs(self, payoff: Payoff, odds: FloatArray) -> FloatArray:
        intercepts = self.intercepts
        even = np.exp(-np.clip(odds, -700, 700))[:, None]
        factors = np.exp(-intercepts)
        return mean_in_blocks(
            payoff, lambda part: 1 / (1 + even * factors[part]),
            len(odds), len(intercepts),
        )  # fmt: skip

    def apply(self, deviation: tuple[float, ...], truth: FloatArray) -> FloatArray:
        """Map the beliefs."""
        intercept, slope = deviation
        if deviation == self.truth:
            return truth
        return np.asarray(expit(intercept + slope * logit(truth)))


@final
@dataclass(frozen=True)
class Cut:
    """Report 1 above some belief and 0 up to it.

    Every cut is tried, at the cost of one sort.
    """

    name: ClassVar[str] = "threshold"
    truth: ClassVar[tuple[float, ...]] = ()

    def respond(self, payoff: Payoff, truth: FloatArray) -> Move:
        """Best cut; the truth where no cut gains."""
        low, high = (
            payoff.evaluate(np.zeros_like(truth)),
            payoff.evaluate(np.ones_like(truth)),
        )
        order = np.argsort(truth)
        beliefs = truth[order]
        ends = np.append(np.flatnonzero(np.diff(beliefs)), len(beliefs) - 1)
        below = np.cumsum((low - high)[order])[ends]
        values = (
            np.append(0.0, below) + high.sum()
        )  # first no case below the cut, then some
        k = int(np.argmax(values))
        gain = float(values[k] - payoff.evaluate(truth).sum()) / len(truth)
        if gain <= TIE_TOLERANCE:
            return Move((), truth)
        cut = -1.0 if k == 0 else float(beliefs[ends[k - 1]])
        return Move((cut,), self.apply((cut,), truth), gain)

    def apply(self, deviation: tuple[float, ...], truth: FloatArray) -> FloatArray:
        """Round the beliefs to 0 and 1 at the cut."""
        return truth if not deviation else (truth > deviation[0]).astype(np.float64)


@final
@dataclass(frozen=True)
class Exact:
    """The best report in each case, given what the agent knows of it.

    Under a score this is E[y | what the agent knows]; under a payment for decisions it
    is 0 or 1 where the truth would lead to a decision against the agent's interest.
    """

    name: ClassVar[str] = "exact"
    truth: ClassVar[tuple[float, ...]] = ()

    def respond(self, payoff: Payoff, truth: FloatArray) -> Move:
        """Best report in each case."""
        best = payoff.best(truth)
        gain = float((payoff.evaluate(best) - payoff.evaluate(truth)).mean())
        return Move((), best, gain)


def every() -> dict[str, type[Response]]:
    """All families of misreports by name.

    >>> list(every())
    ['shift', 'affine', 'threshold', 'exact']
    """
    families: tuple[type[Response], ...] = (Shift, Affine, Cut, Exact)
    return {family.name: family for family in families}


def as_response(response: str | Response) -> Response:
    """Return the family of that name; an instance is returned unchanged.

    >>> as_response("shift")
    Shift(reach=0.5, step=0.01)
    """
    if not isinstance(response, str):
        return response
    return cast(Response, make("response", response))


def _symmetric_grid(reach: float, step: float) -> FloatArray:
    """Equal steps from -reach to reach, with 0 among them."""
    steps = int(reach / step + 1e-9)
    # Rounded, so that a point is 0.29 and not 0.29000000000000004.
    return np.asarray((np.arange(-steps, steps + 1) * step).round(12))


def best_index(values: FloatArray, distance: FloatArray) -> int:
    """Index of the highest value; ties go to the smallest distance from the truth.

    >>> best_index(np.array([1.0, 1.0, 0.5]), np.array([0.2, 0.1, 0.0]))
    1
    """
    top = values.max()
    scale = max(1.0, abs(float(top)), abs(float(values.min())))
    best = np.flatnonzero(values >= top - TIE_TOLERANCE * scale)
    return int(best[distance[best].argmin()])
