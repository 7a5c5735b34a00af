"""Ways to misreport, and the best of each: shifts, affine maps, cuts, anything."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol, cast, final

import numpy as np
from scipy.special import expit

from truepool.core import kernels
from truepool.core.arrays import FloatArray, logit
from truepool.core.errors import SettingError
from truepool.core.registry import make
from truepool.games.payoffs import Payoff, Steps, over

NO_BETTER = 1e-12
"""Payoffs a case that differ by less are equal, and the truer report is sent."""


@dataclass(frozen=True, eq=False)
class Move:
    """What an agent decided to send: the deviation in its family, and the reports."""

    deviation: tuple[float, ...]
    reports: FloatArray
    gain: float = 0.0

    @cached_property
    def key(self) -> bytes:
        """What tells two moves apart; reports that differ below 1e-9 are one."""
        if self.deviation:
            return np.array(self.deviation).tobytes()
        return (self.reports.round(9) + 0.0).tobytes()  # -0.0 is 0.0


class Response(Protocol):
    """A family of misreports; ``truth`` is the deviation that is none."""

    name: ClassVar[str]
    truth: ClassVar[tuple[float, ...]]

    def respond(self, payoff: Payoff, truth: FloatArray) -> Move:
        """Best reports of the family; the truer of equals."""


@final
@dataclass(frozen=True)
class Shift:
    """Report belief + d, clipped to [0, 1]; d on a grid of equal steps.

    The default grid is the paper's (tab:hyperparams): -0.5 to 0.5 in steps of 0.01.

    >>> len(Shift().shifts), Shift(reach=0.1, step=0.05).shifts.tolist()
    (101, [-0.1, -0.05, 0.0, 0.05, 0.1])
    """

    name: ClassVar[str] = "shift"
    truth: ClassVar[tuple[float, ...]] = (0.0,)
    reach: float = 0.5
    step: float = 0.01
    shifts: FloatArray = field(init=False, repr=False, compare=False)
    sizes: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 < self.step <= self.reach <= 1:
            raise SettingError(
                "a grid of shifts needs 0 < step <= reach <= 1; step is "
                f"{self.step!r}, reach {self.reach!r}"
            )
        steps = int(self.reach / self.step + 1e-9)
        # Whole steps over a whole number: 0.29, not 0.29000000000000004.
        grid = np.arange(-steps, steps + 1) * self.step
        object.__setattr__(self, "shifts", grid.round(12))
        object.__setattr__(self, "sizes", np.abs(self.shifts))

    def values(self, payoff: Payoff, truth: FloatArray) -> FloatArray:
        """Mean payoff (G,) of every shift."""
        return payoff.over_shifts(truth, self.shifts)

    def respond(self, payoff: Payoff, truth: FloatArray) -> Move:
        """Best shift; the smaller of equals."""
        values = self.values(payoff, truth)
        k = truest(values, self.sizes)
        d = float(self.shifts[k])
        gain = float(values[k] - values[len(values) // 2])
        return Move((d,), self.sent((d,), truth), gain)

    def sent(self, deviation: tuple[float, ...], truth: FloatArray) -> FloatArray:
        """Reports that this shift makes of beliefs."""
        if deviation == self.truth:
            return truth
        pushed = truth + deviation[0]
        np.maximum(pushed, 0.0, out=pushed)
        return np.minimum(pushed, 1.0, out=pushed)


@final
@dataclass(frozen=True)
class Affine:
    r"""Report with log-odds :math:`a + s \cdot \mathrm{logit}(b)`.

    Intercepts a from ``-reach`` to ``reach`` and slopes s from 0 to ``steepest``, both
    in steps of ``step``: slope below 1 hedges, above 1 exaggerates.
    """

    name: ClassVar[str] = "affine"
    truth: ClassVar[tuple[float, ...]] = (0.0, 1.0)
    reach: float = 3.0
    steepest: float = 2.0
    step: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.step <= min(self.reach, self.steepest):
            raise SettingError(
                f"the step must be positive and below reach and steepest; it is "
                f"{self.step!r}"
            )

    @property
    def intercepts(self) -> FloatArray:
        """Intercepts tried, (A,)."""
        steps = int(self.reach / self.step + 1e-9)
        return np.asarray((np.arange(-steps, steps + 1) * self.step).round(12))

    @property
    def slopes(self) -> FloatArray:
        """Slopes tried, (S,); 1 is one of them."""
        below = int(1 / self.step + 1e-9)
        above = int((self.steepest - 1) / self.step + 1e-9)
        return np.asarray((1 + np.arange(-below, above + 1) * self.step).round(12))

    def values(self, payoff: Payoff, truth: FloatArray) -> FloatArray:
        """Mean payoff (S, A) of every slope and intercept."""
        odds = logit(truth)
        if isinstance(payoff, Steps):
            return self._turned(payoff, odds)
        rows = [self._tried(payoff, slope * odds) for slope in self.slopes]
        return np.stack(rows)

    def _turned(self, payoff: Steps, odds: FloatArray) -> FloatArray:
        """Payoffs of steps: each case turns at one intercept, for each slope."""
        at = payoff.turning()
        with np.errstate(divide="ignore"):
            line = np.log(np.clip(at, 0, 1)) - np.log1p(-np.clip(at, 0, 1))
        line[np.isinf(at)] = at[np.isinf(at)]
        crossed, intercepts = kernels.shading.crossed, self.intercepts
        sums = [crossed(line - s * odds, payoff.gains, intercepts) for s in self.slopes]
        return np.stack(sums) / len(odds)

    def _tried(self, payoff: Payoff, odds: FloatArray) -> FloatArray:
        intercepts = self.intercepts
        even = np.exp(-np.clip(odds, -700, 700))[:, None]
        factors = np.exp(-intercepts)
        return over(
            payoff, lambda part: 1 / (1 + even * factors[part]),
            len(odds), len(intercepts),
        )  # fmt: skip

    def respond(self, payoff: Payoff, truth: FloatArray) -> Move:
        """Best affine map; the one nearest to the truth of equals."""
        values = self.values(payoff, truth)
        distance = np.abs(self.slopes - 1)[:, None] + np.abs(self.intercepts)
        k = truest(values.ravel(), distance.ravel())
        s, a = np.unravel_index(k, values.shape)
        slope, intercept = float(self.slopes[s]), float(self.intercepts[a])
        gain = float(values.flat[k] - values.flat[int(np.argmin(distance))])
        deviation = (intercept, slope)
        return Move(deviation, self.sent(deviation, truth), gain)

    def sent(self, deviation: tuple[float, ...], truth: FloatArray) -> FloatArray:
        """Reports that this map makes of beliefs."""
        intercept, slope = deviation
        if deviation == self.truth:
            return truth
        return np.asarray(expit(intercept + slope * logit(truth)))


@final
@dataclass(frozen=True)
class Cut:
    """Report 1 above some belief and 0 up to it: all or nothing.

    Every cut is tried, at the cost of one sort.
    """

    name: ClassVar[str] = "threshold"
    truth: ClassVar[tuple[float, ...]] = ()

    def respond(self, payoff: Payoff, truth: FloatArray) -> Move:
        """Best cut; the truth where none gains."""
        low, high = payoff.of(np.zeros_like(truth)), payoff.of(np.ones_like(truth))
        order = np.argsort(truth)
        beliefs = truth[order]
        ends = np.append(np.flatnonzero(np.diff(beliefs)), len(beliefs) - 1)
        below = np.cumsum((low - high)[order])[ends]
        values = np.append(0.0, below) + high.sum()  # nobody below the cut, then some
        k = int(np.argmax(values))
        gain = float(values[k] - payoff.of(truth).sum()) / len(truth)
        if gain <= NO_BETTER:
            return Move((), truth)
        cut = -1.0 if k == 0 else float(beliefs[ends[k - 1]])
        return Move((cut,), self.sent((cut,), truth), gain)

    def sent(self, deviation: tuple[float, ...], truth: FloatArray) -> FloatArray:
        """Reports that this cut makes of beliefs."""
        return truth if not deviation else (truth > deviation[0]).astype(np.float64)


@final
@dataclass(frozen=True)
class Exact:
    """The best report in each case, given what the agent knows of it.

    For a score that is E[y | what the agent knows]; for a decision it is 0 or 1 where
    the truth would decide against the agent's interest.
    """

    name: ClassVar[str] = "exact"
    truth: ClassVar[tuple[float, ...]] = ()

    def respond(self, payoff: Payoff, truth: FloatArray) -> Move:
        """Best report in each case."""
        best = payoff.best(truth)
        gain = float((payoff.of(best) - payoff.of(truth)).mean())
        return Move((), best, gain)


def every() -> dict[str, type[Response]]:
    """All families of misreports by name.

    >>> list(every())
    ['shift', 'affine', 'threshold', 'exact']
    """
    families: tuple[type[Response], ...] = (Shift, Affine, Cut, Exact)
    return {family.name: family for family in families}


def as_response(response: str | Response) -> Response:
    """Return the family of that name; one that is made already is passed through.

    >>> as_response("shift")
    Shift(reach=0.5, step=0.01)
    """
    if not isinstance(response, str):
        return response
    return cast(Response, make("response", response))


def truest(values: FloatArray, distance: FloatArray) -> int:
    """Index of the highest value; of equals, of the one at the least distance.

    >>> truest(np.array([1.0, 1.0, 0.5]), np.array([0.2, 0.1, 0.0]))
    1
    """
    top = values.max()
    scale = max(1.0, abs(float(top)), abs(float(values.min())))
    best = np.flatnonzero(values >= top - NO_BETTER * scale)
    return int(best[distance[best].argmin()])
