"""Panel: what every agent said in every case, and what happened."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from truepool.core import display, kernels
from truepool.core.arrays import (
    Array,
    FloatArray,
    IntArray,
    classes,
    frozen,
    with_silence_filled,
)
from truepool.core.errors import AgentError, OutcomeError, PanelError, ReportError
from truepool.data.labels import Labels, as_labels, encoded
from truepool.data.reports import checked_reports, names_of


@dataclass(frozen=True, eq=False)
class Pending:
    """Reports of the same agents on cases whose outcome is not known yet.

    ``reports`` (P, N) or (P, N, K), with ids and times as the panel has them; ``above``
    (P,) is how many of the panel's cases stand before each in the table.
    """

    reports: FloatArray
    ids: Array | None
    times: Array | None
    above: IntArray

    @property
    def values(self) -> FloatArray:
        """Reports as coordinates, (P, N, C)."""
        return self.reports if self.reports.ndim == 3 else self.reports[:, :, None]

    def __len__(self) -> int:
        """Return the number of cases, P."""
        return len(self.reports)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Panel:
    """Reports of N agents on T cases, with the outcomes.

    Parameters
    ----------
    reports : array-like (T, N) or (T, N, K)
        Probability of the positive class, or of each of K classes. NaN: the agent was
        silent. A frame with named columns names the agents too. K = 2, for labels 0
        and 1 in this order, is kept as (T, N).
    outcomes : array-like (T,)
        What happened: one of two labels, or of 0..K-1. They are kept as class numbers;
        of two, 1 is the positive one.
    agents : sequence of str, optional
        Names, in the order of the columns.
    positive : label, optional
        Which of two labels the reports are probabilities of. Labels 0/1 and False/True
        need no word (it is 1); any other two do.
    ids, times : array-like (T,), optional
        A label and a moment for each case; times put the cases in order.
    mute_cases : bool
        Let in cases in which nobody spoke; only `truepool.replay` can skip them.
    copy : bool
        Keep reports of its own; False for arrays that nobody will write to.

    ``pending`` holds reports on cases that have no outcome yet, where `awaiting` gave
    it some: nothing learns from them, and the audit's feed checks look at them.

    Examples
    --------
    >>> panel = Panel([[0.9, 0.6], [0.2, float("nan")]], [1, 0], agents=("ada", "bob"))
    >>> panel
    Panel(2 cases, 2 agents (ada, bob), 2 classes, 25.0 % silent)
    >>> panel = Panel([[0.9, 0.6], [0.2, 0.1]], ["bad", "good"], positive="bad")
    >>> panel.outcomes, panel.labels.positive
    (array([1, 0]), 'bad')
    """

    reports: FloatArray
    outcomes: IntArray
    agents: tuple[str, ...]
    ids: Array | None
    times: Array | None
    silent: int
    labels: Labels
    pending: Pending | None

    def __init__(
        self,
        reports: ArrayLike,
        outcomes: ArrayLike,
        agents: Sequence[str] | None = None,
        *,
        positive: Any = None,
        ids: ArrayLike | None = None,
        times: ArrayLike | None = None,
        mute_cases: bool = False,
        copy: bool = True,
    ) -> None:
        names = names_of(reports) if agents is None else tuple(map(str, agents))
        values, silent = checked_reports(reports, names, mute_cases=mute_cases)
        if copy and np.may_share_memory(values, np.asarray(reports)):
            values = values.copy()
        T, N, C = values.shape
        names = names or tuple(f"agent{i}" for i in range(N))
        if T < 2:
            raise PanelError(f"a panel needs at least 2 cases; it has {T}")
        if silent:
            spoken, _, _ = kernels.report_counts(values)
            if not spoken.all():
                raise AgentError(
                    f"agent {names[int(np.argmin(spoken))]!r} is silent in every case; "
                    "leave that agent out"
                )
        happened = as_labels(outcomes)
        if len(happened) != T:
            raise OutcomeError(
                f"there must be one outcome per case; got {len(happened)} outcomes for "
                f"{T} cases"
            )
        settled, called = encoded(happened, classes(C), positive)
        if np.ndim(reports) == 3 and C == 1 and not called.plain:
            raise ReportError(
                "two probabilities per agent must stand in the order of the labels 0 "
                f"and 1; got the positive label {called.positive!r} and the negative "
                f"one {called.negative!r}, which have no order. Give one probability "
                f"per agent, that of {called.positive!r}."
            )
        named = None if ids is None else _one_a_case("ids", ids, T)
        moments = None if times is None else _moments(_one_a_case("times", times, T))
        self._set(
            _squeezed(values), settled, names, named, moments, silent, called, None
        )

    def _set(self, *fields: Any) -> None:
        for name, value in zip(self.__dataclass_fields__, fields, strict=True):
            array = isinstance(value, np.ndarray)
            object.__setattr__(self, name, frozen(value) if array else value)

    @property
    def values(self) -> FloatArray:
        """Reports as coordinates, (T, N, C): C = 1 for binary, else C = K."""
        return self.reports if self.reports.ndim == 3 else self.reports[:, :, None]

    @property
    def classes(self) -> int:
        """Number of classes, K."""
        return 2 if self.reports.ndim == 2 else self.reports.shape[2]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many cases each class has, in the order of `labels`."""
        return tuple(np.bincount(self.outcomes, minlength=self.classes).tolist())

    def base_rate(self, case_weights: FloatArray | None = None) -> FloatArray:
        """Share of each class, each case counted by its weight, as coordinates (C,)."""
        if self.classes == 2:
            return np.array([np.average(self.outcomes, weights=case_weights)])
        counts = np.bincount(self.outcomes, case_weights, minlength=self.classes)
        return np.asarray(counts / counts.sum(), dtype=np.float64)

    def take(self, cases: IntArray) -> Self:
        """Return the panel of some of the cases, in the order given.

        The part of a sound panel is trusted: it may lack a class or an agent's voice.
        """
        part = object.__new__(type(self))
        reports = self.reports[cases]
        part._set(
            reports,
            self.outcomes[cases],
            self.agents,
            None if self.ids is None else self.ids[cases],
            None if self.times is None else self.times[cases],
            int(np.isnan(reports).sum()) if self.silent else 0,
            self.labels,
            None,
        )
        return part

    def awaiting(
        self,
        reports: ArrayLike,
        *,
        ids: ArrayLike | None = None,
        times: ArrayLike | None = None,
        above: ArrayLike | None = None,
    ) -> Self:
        """Return the panel with reports (P, N) on cases that have no outcome yet.

        They need times where the panel has them. Without, they come after its cases,
        or where ``above``, the number of cases before each, puts them.

        >>> panel = Panel([[0.9, 0.6], [0.2, 0.1]], [1, 0])
        >>> len(panel.awaiting([[0.3, 0.4]]).pending)
        1
        """
        values, _ = checked_reports(reports, self.agents, mute_cases=True)
        if values.shape[1:] != self.values.shape[1:]:
            raise PanelError(
                "cases without an outcome need reports of the same agents and classes, "
                f"{self.values.shape[1:]}; got {values.shape[1:]}"
            )
        P = len(values)
        if (times is None) != (self.times is None):
            raise PanelError(
                "either all cases have times or none; the cases without an outcome "
                f"have {'none' if times is None else 'times'}, the others "
                f"{'times' if times is None else 'none'}"
            )
        pending = Pending(
            frozen(_squeezed(values)),
            None if ids is None else _one_a_case("ids", ids, P),
            None if times is None else _moments(_one_a_case("times", times, P)),
            np.full(P, len(self)) if above is None else np.asarray(above, np.int64),
        )
        return self._with(pending)

    def _with(self, pending: Pending | None) -> Self:
        other = object.__new__(type(self))
        kept = (self.outcomes, self.agents, self.ids, self.times, self.silent)
        other._set(self.reports, *kept, pending)
        return other

    def filled(self, words: FloatArray | None = None) -> Self:
        """Return the panel with words put into the mouths of silent agents.

        ``words`` (T, C) are one report a case; by default the mean of those who spoke.

        >>> Panel([[0.9, 0.5], [0.1, float("nan")]], [1, 0]).filled().reports
        array([[0.9, 0.5],
               [0.1, 0.1]])
        """
        if not self.silent:
            return self
        values = self.values
        if words is None:
            return self.saying(with_silence_filled(values))
        return self.saying(np.where(np.isnan(values), words[:, None], values))

    def saying(self, reports: FloatArray) -> Self:
        """Return the panel with other sound reports of the same agents and cases.

        Reports (T, N), or coordinates (T, N, C); they are trusted.

        >>> Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0]).saying(np.eye(2)).reports
        array([[1., 0.],
               [0., 1.]])
        """
        other = object.__new__(type(self))
        silent = int(np.isnan(reports).sum()) if self.silent else 0
        fields = (self.outcomes, self.agents, self.ids, self.times, silent)
        other._set(_squeezed(reports), *fields, self.labels, self.pending)
        return other

    def labelled(self, labels: Labels) -> Self:
        """Return the panel with other labels for the same class numbers.

        >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
        >>> panel.labelled(Labels(("genuine", "fraud"))).labels.positive
        'fraud'
        """
        other = object.__new__(type(self))
        fields = (self.reports, self.outcomes, self.agents, self.ids, self.times)
        other._set(*fields, self.silent, labels, self.pending)
        return other

    def in_order(self) -> Self:
        """Return the panel sorted by its times; cases of one moment keep their order.

        >>> Panel([[0.1, 0.2], [0.8, 0.9]], [0, 1], times=[5, 3]).in_order().outcomes
        array([1, 0])
        """
        if self.times is None:
            return self
        return self.take(self.order)._with(self.pending)

    @property
    def order(self) -> IntArray:
        """Cases from the first in time to the last, (T,)."""
        if self.times is None:
            return np.arange(len(self))
        return np.argsort(self.times, kind="stable")

    def __len__(self) -> int:
        """Return the number of cases, T."""
        return len(self.reports)

    def _repr_html_(self) -> str:
        return str(display.by("html.notebook", "panel", self))

    def __repr__(self) -> str:
        shown = ", ".join(self.agents[:5]) + (", ..." if len(self.agents) > 5 else "")
        share = self.silent / self.reports.size
        told = "" if self.labels.plain else f" (positive: {self.labels.positive!r})"
        percent = f"{share:.1%}".replace("%", " %")
        return (
            f"Panel({len(self):,} cases, {len(self.agents)} agents ({shown}), "
            f"{self.classes} classes{told}, {percent} silent)"
        )


def _squeezed(values: FloatArray) -> FloatArray:
    return values[:, :, 0] if values.shape[2:] == (1,) else values


def _moments(times: Array) -> Array:
    """Times that can be put in order: numbers, dates, or ISO 8601 text."""
    if times.dtype.kind in "OUST":
        moments = []
        for t, value in enumerate(times.tolist()):
            try:
                moments.append(_moment(value))
            except (TypeError, ValueError):
                raise PanelError(
                    "a time must be a number, a date, or text such as "
                    f"2026-01-31T12:00; case {t} has {value!r}"
                ) from None
        times = np.array(moments)
    missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times * 1.0)
    if missing.any():
        raise PanelError(
            f"every case needs a time; case {int(np.argmax(missing))} has none"
        )
    return times


def _moment(value: Any) -> np.datetime64:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def _one_a_case(what: str, column: ArrayLike, cases: int) -> Array:
    array = np.asarray(column)
    if array.shape != (cases,):
        raise PanelError(
            f"{what} must hold one value per case, {cases}; got {array.shape}"
        )
    return array
