"""Panel: every agent's report on every case, and the outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from truepool.core import display, kernels
from truepool.core.arrays import (
    Array,
    BoolArray,
    FloatArray,
    IntArray,
    as_case_weights,
    classes,
    fill_missing,
    read_only,
)
from truepool.core.errors import OutcomeError, PanelError, ReportError
from truepool.panel.case_columns import (
    CaseColumns,
    check_groups,
    check_propensity,
    check_weights,
    one_value_per_case,
)
from truepool.panel.labels import Labels, check_labels, encode_outcomes, one_class_error
from truepool.panel.layout import (
    as_table,
    check_layout,
    count_missing,
    empty_cases,
    join_cases,
    own_memory,
    squeeze,
    take_cases,
)
from truepool.panel.reports import column_names
from truepool.panel.row_names import case_name
from truepool.panel.sparse import SparseReports, prefers_sparse

SPLIT = ("ids", "times", "weights", "groups", "propensity", "questions")
"""What a panel may know of each row, beside its reports and its outcome."""


@dataclass(frozen=True, eq=False)
class PendingCases:
    """Reports of the same agents on cases whose outcome is not known yet.

    ``given`` are reports (P, N) or (P, N, K), or sparse ones, with ids, times and
    columns as the panel has them; ``position`` (P,) is how many of the panel's cases
    come before each in the table.
    """

    given: FloatArray | SparseReports
    ids: Array | None
    times: Array | None
    position: IntArray
    columns: CaseColumns

    @cached_property
    def reports(self) -> FloatArray:
        """Reports (P, N) or (P, N, K), NaN where there is none."""
        return as_table(self.given)

    @property
    def values(self) -> FloatArray:
        """Reports as coordinates, (P, N, C)."""
        return self.reports if self.reports.ndim == 3 else self.reports[:, :, None]

    def take(self, cases: IntArray) -> "PendingCases":
        """Return some of the cases."""
        return PendingCases(
            take_cases(self.given, cases),
            None if self.ids is None else self.ids[cases],
            None if self.times is None else self.times[cases],
            self.position[cases],
            self.columns.take(cases),
        )

    @property
    def layout(self) -> FloatArray | SparseReports:
        """Sparse reports, or coordinates (P, N, C)."""
        return self.given if isinstance(self.given, SparseReports) else self.values

    def __len__(self) -> int:
        """Return the number of cases, P."""
        return len(self.given)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Panel:
    """Reports of N agents on T cases, with the outcomes.

    Parameters
    ----------
    reports : array-like (T, N) or (T, N, K)
        Probability of the positive class, or of each of K classes. NaN: no
        report; an agent without any has no weight yet. A frame with named columns
        names the agents too. K = 2, for labels 0 and 1 in this order, is kept as
        (T, N). `SparseReports` are kept as they are, and so is, without its empty
        cells, a table (T, N) of a million cells or more of which less than 10 % are
        filled.
    outcomes : array-like (T,)
        One of two labels, or of 0..K-1. They are stored as class numbers; of two, 1 is
        the positive one. One class alone is enough for a pool, not for folds.
    agents : sequence of str, optional
        Names, in the order of the columns.
    positive : label, optional
        Which of two labels the reports are probabilities of. Not needed for
        labels 0/1 and False/True (it is 1); needed for any other two.
    ids, times : array-like (T,), optional
        A label and a time for each case; times put the cases in order.
    columns : mapping of str to array-like (T,), optional
        What else is known about each case: an amount, a region.
    weights : array-like (T,), optional
        How much each case counts, positive.
    groups : array-like (T,), optional
        What cases have in common, a customer or a question. Cases of one group are
        never split between what a pool learns from and what it is tested on.
    propensity : array-like (T,), optional
        Chance, in (0, 1], that the outcome of the case became known. Each case then
        counts for all those like it, by its weight over its propensity.
    questions : array-like (T,), optional
        Where a case is split into several rows, as its life is by updates: which case
        each row belongs to. Counts are then of cases, and each case is a group.
    allow_empty_cases : bool
        Accept cases without any report; only `truepool.replay` can skip them.
    copy : bool
        Copy the arrays; False if nothing will write to them.

    Attributes
    ----------
    pending : PendingCases or None
        Reports that `with_pending` added, on cases without an outcome yet: nothing
        learns from them, and the audit's feed checks use them.

    Examples
    --------
    >>> panel = Panel([[0.9, 0.6], [0.2, float("nan")]], [1, 0], agents=("ada", "bob"))
    >>> panel
    Panel(2 cases, 2 agents (ada, bob), 2 classes, 25.0 % missing)
    >>> panel = Panel([[0.9, 0.6], [0.2, 0.1]], ["bad", "good"], positive="bad")
    >>> panel.outcomes, panel.labels.positive
    (array([1, 0]), 'bad')
    """

    given: FloatArray | SparseReports
    outcomes: IntArray
    agents: tuple[str, ...]
    ids: Array | None
    times: Array | None
    columns: CaseColumns
    weights: FloatArray | None
    groups: Array | None
    propensity: FloatArray | None
    questions: Array | None
    silent: int
    labels: Labels
    pending: PendingCases | None

    def __init__(
        self,
        reports: ArrayLike | SparseReports,
        outcomes: ArrayLike,
        agents: Sequence[str] | None = None,
        *,
        positive: Any = None,
        ids: ArrayLike | None = None,
        times: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
        weights: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        propensity: ArrayLike | None = None,
        questions: ArrayLike | None = None,
        allow_empty_cases: bool = False,
        copy: bool = True,
    ) -> None:
        names = column_names(reports) if agents is None else tuple(map(str, agents))
        values, silent = check_layout(
            reports, names, allow_empty_cases=allow_empty_cases, copy=copy
        )
        T, N, C = values.shape
        K = classes(C)
        names = names or tuple(f"agent{i}" for i in range(N))
        if T < 2:
            raise PanelError(f"a panel needs at least 2 cases; got {T}")
        given = check_labels(outcomes)
        if len(given) != T:
            raise OutcomeError(
                f"there must be one outcome per case; got {len(given)} outcomes for "
                f"{T} cases"
            )
        numbers, named = encode_outcomes(given, K, positive)
        tables = not isinstance(reports, SparseReports) and np.ndim(reports) == 3
        if tables and C == 1 and not named.plain:
            raise ReportError(
                "two probabilities per agent must be in the order of the labels 0 "
                f"and 1; got the positive label {named.positive!r} and the negative "
                f"one {named.negative!r}, which have no order. Give one probability "
                f"per agent, that of {named.positive!r}."
            )
        labels = one_value_per_case("ids", ids, T, copy=copy)
        moments = one_value_per_case("times", times, T, copy=copy)
        self._set(
            columns=CaseColumns(columns, T, copy=copy),
            weights=check_weights(weights, T, labels),
            groups=check_groups(questions if groups is None else groups, T, labels),
            questions=check_groups(questions, T, labels),
            propensity=check_propensity(propensity, T, labels),
            given=squeeze(values),
            outcomes=own_memory(numbers, outcomes) if copy else numbers,
            agents=names,
            ids=labels,
            times=check_times(moments),
            silent=silent,
            labels=named,
            pending=None,
        )

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            array = isinstance(value, np.ndarray)
            object.__setattr__(self, name, read_only(value) if array else value)

    def _replace(self, **changes: Any) -> Self:
        """Return a copy with other fields, which are trusted."""
        other = object.__new__(type(self))
        other._set(**{name: vars(self)[name] for name in self.__dataclass_fields__})
        other._set(**changes)
        return other

    @cached_property
    def reports(self) -> FloatArray:
        """Reports (T, N) or (T, N, K), NaN where there is none.

        Sparse reports are written out, and refused where they have too many cells.
        """
        return as_table(self.given)

    @property
    def values(self) -> FloatArray:
        """Reports as coordinates, (T, N, C): C = 1 for binary, else C = K."""
        return self.reports if self.reports.ndim == 3 else self.reports[:, :, None]

    @property
    def sparse(self) -> SparseReports | None:
        """The reports without the empty cells, if they are kept so."""
        return self.given if isinstance(self.given, SparseReports) else None

    @property
    def layout(self) -> FloatArray | SparseReports:
        """Sparse reports, or coordinates (T, N, C): what `Pool.probabilities` takes."""
        return self.values if self.sparse is None else self.sparse

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cases, agents and coordinates, (T, N, C)."""
        T, N, *more = self.given.shape
        return T, N, more[0] if more else 1

    @property
    def missing(self) -> float:
        """Share of the reports that are missing."""
        return self.silent / float(np.prod(self.shape))

    @property
    def mostly_empty(self) -> bool:
        """Whether these reports are kept sparse where nobody says how to keep them.

        It depends on their numbers and not on the layout. By default nothing is tried
        on such a panel that would write all its cells out.
        """
        cells = int(np.prod(self.shape))
        return self.classes == 2 and prefers_sparse(cells, cells - self.silent)

    @property
    def report_counts(self) -> IntArray:
        """Number of reports by each agent, (N,)."""
        if self.sparse is not None:
            return self.sparse.agent_counts
        return np.asarray(kernels.report_counts(self.values)[0])

    @property
    def classes(self) -> int:
        """Number of classes, K."""
        C = self.shape[2]
        return 2 if C == 1 else C

    @property
    def size(self) -> int:
        """Number of cases, however many rows they are split into."""
        return len(self.one_row_each())

    def one_row_each(self, rows: IntArray | None = None) -> IntArray:
        """Return one row of each case among these rows, or among all: its last one."""
        rows = np.arange(len(self)) if rows is None else rows
        if self.questions is None:
            return rows
        return rows[last_rows(self.questions[rows])]

    def unsplit(self) -> Self:
        """Return the panel with one row per case: of those it is split into, the last.

        >>> split = Panel([[0.2, 0.3], [0.6, 0.7], [0.1, 0.2]], [1, 1, 0],
        ...               questions=["a", "a", "b"])
        >>> split.size, split.counts, split.unsplit().reports.tolist()
        (2, (1, 1), [[0.6, 0.7], [0.1, 0.2]])
        """
        if self.questions is None or self.groups is None:
            return self
        alone = np.array_equal(self.groups, self.questions)
        pending = self.pending
        if pending is not None and pending.ids is not None:
            pending = pending.take(last_rows(pending.ids))
        rows = self.one_row_each()
        if pending is not None:
            position = np.searchsorted(rows, pending.position)
            pending = replace(pending, position=read_only(position))
        return self.take(rows)._replace(
            questions=None,
            weights=None,
            pending=pending,
            **({"groups": None} if alone else {}),
        )

    @property
    def counts(self) -> tuple[int, ...]:
        """How many cases each class has, in the order of `labels`."""
        if self.questions is not None:
            outcomes = self.outcomes[self.one_row_each()]
            return tuple(np.bincount(outcomes, minlength=self.classes).tolist())
        if self.classes == 2:  # a bincount would be felt in a million cases
            positive = int(np.count_nonzero(self.outcomes))
            return (len(self) - positive, positive)
        return tuple(np.bincount(self.outcomes, minlength=self.classes).tolist())

    def check_classes_occur(self, user: str) -> None:
        """Refuse outcomes that are all the same, where somebody needs two classes.

        >>> Panel([[0.9, 0.6], [0.2, 0.1]], [0, 0]).check_classes_occur("an audit")
        Traceback (most recent call last):
        truepool.core.errors.OutcomeError: an audit needs cases of at least two ...
        """
        if np.count_nonzero(self.counts) < 2:
            raise one_class_error(user, self.labels.names[int(self.outcomes[0])])

    def base_rate(self, case_weights: FloatArray | None = None) -> FloatArray:
        """Share of each class, each case counted by its weight, as coordinates (C,)."""
        weights = self.case_weights(case_weights)
        if self.classes == 2:
            return np.array([np.average(self.outcomes, weights=weights)])
        counts = np.bincount(self.outcomes, weights, minlength=self.classes)
        return np.asarray(counts / counts.sum(), dtype=np.float64)

    def case_weights(self, sample_weight: ArrayLike | None = None) -> FloatArray | None:
        """How much each case counts (T,), None where all count the same.

        As given, or else by the panel: the weight of a case over its propensity, so
        that a case that was likely to stay unknown stands for more of its kind.

        >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0], propensity=[1.0, 0.25])
        >>> panel.case_weights()
        array([1., 4.])
        """
        if sample_weight is not None:
            return as_case_weights(sample_weight, len(self))
        if self.propensity is None:
            return self.weights
        return (1.0 if self.weights is None else self.weights) / self.propensity

    def take(self, cases: IntArray | BoolArray) -> Self:
        """Return the panel of some of the cases, in the order given.

        The part of a valid panel is trusted: it may lack a class or an agent's reports.
        """
        reports = take_cases(self.given, cases)
        return self._replace(
            given=reports,
            outcomes=self.outcomes[cases],
            columns=self.columns.take(cases),
            silent=count_missing(reports) if self.silent else 0,
            pending=None,
            **{
                name: vars(self)[name][cases]
                for name in SPLIT
                if vars(self)[name] is not None
            },
        )

    def with_pending(
        self,
        reports: ArrayLike | SparseReports,
        *,
        ids: ArrayLike | None = None,
        times: ArrayLike | None = None,
        position: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
    ) -> Self:
        """Return the panel with reports (P, N) on cases that have no outcome yet.

        They need times if the panel has them, and may have ``columns`` of their own.
        ``position`` is the number of cases before each in the table, which orders them
        without times and within equal times; by default they come after its cases.

        >>> panel = Panel([[0.9, 0.6], [0.2, 0.1]], [1, 0])
        >>> len(panel.with_pending([[0.3, 0.4]]).pending)
        1
        """
        values, _ = check_layout(
            reports, self.agents, allow_empty_cases=True, copy=True
        )
        if values.shape[1:] != self.shape[1:]:
            raise PanelError(
                "cases without an outcome need reports of the same agents and classes, "
                f"{self.shape[1:]}; got {values.shape[1:]}"
            )
        P = len(values)
        if (times is None) != (self.times is None):
            raise PanelError(
                "either all cases have times or none; the cases without an outcome "
                f"have {'none' if times is None else 'times'}, the others "
                f"{'times' if times is None else 'none'}"
            )
        places = np.full(P, len(self)) if position is None else position
        given = (
            one_value_per_case("ids", ids, P),
            check_times(one_value_per_case("times", times, P)),
        )
        labels, moments = (None if c is None else read_only(c) for c in given)
        pending = PendingCases(
            squeeze(values),
            labels,
            moments,
            read_only(np.array(places, np.int64)),
            CaseColumns(columns, P),
        )
        return self._replace(pending=pending)

    def without_outcomes(self, cases: BoolArray) -> Self:
        """Return the panel in which the outcomes of some cases (T,) are not known yet.

        >>> panel = Panel([[0.9, 0.6], [0.2, 0.1], [0.3, 0.4]], [1, 0, 0])
        >>> later = panel.without_outcomes(np.array([False, False, True]))
        >>> len(later), len(later.pending)
        (2, 1)
        """
        kept, off = np.flatnonzero(~cases), np.flatnonzero(cases)
        before, later = self.pending, self.take(off)
        names = list(later.columns)
        places = np.searchsorted(kept, off)
        if before is None:
            given, ids, times = later.given, later.ids, later.times
            columns = {name: later.columns[name] for name in names}
        else:
            given = join_cases(before.given, later.given)
            ids, times = (
                None if one is None or two is None else np.concatenate([one, two])
                for one, two in ((before.ids, later.ids), (before.times, later.times))
            )
            columns = {
                name: np.concatenate([before.columns[name], later.columns[name]])
                for name in names
                if name in before.columns
            }
            places = np.append(np.searchsorted(kept, before.position), places)
        pending = PendingCases(
            given, ids, times, read_only(places.astype(np.int64)),
            CaseColumns(columns, len(given), copy=False),
        )  # fmt: skip
        return self.take(kept)._replace(pending=pending)

    def include_pending(self, columns: Sequence[str]) -> Self:
        """Return the panel with its pending cases after its own, and these columns.

        Only their reports, times and columns are known; outcomes, weights and groups
        are placeholders, which nothing may read. Those without any report are left out.

        >>> panel = Panel([[0.9, 0.6], [0.2, 0.1]], [1, 0]).with_pending([[0.3, 0.4]])
        >>> len(panel.include_pending(()))
        3
        """
        later = self.pending
        if later is None:
            return self
        new = np.flatnonzero(~empty_cases(later.layout))
        given = join_cases(self.given, take_cases(later.given, new))
        both = {
            name: np.concatenate([self.columns[name], later.columns[name][new]])
            for name in columns
        }
        unknown = {
            name: np.concatenate([values, np.repeat(values[:1], len(new))])
            for name in ("outcomes", "weights", "groups", "propensity")
            if (values := vars(self)[name]) is not None
        }
        ids, times = (
            None if own is None or more is None else np.concatenate([own, more[new]])
            for own, more in ((self.ids, later.ids), (self.times, later.times))
        )
        return self._replace(
            given=given,
            silent=count_missing(given),
            columns=CaseColumns(both, len(given), copy=False),
            ids=ids,
            times=times,
            pending=None,
            **unknown,
        )

    def fill_missing(self, values: FloatArray | None = None) -> Self:
        """Return the panel with every missing report filled in.

        ``values`` (T, C) are one report per case; by default the mean of the others'.

        >>> Panel([[0.9, 0.5], [0.1, float("nan")]], [1, 0]).fill_missing().reports
        array([[0.9, 0.5],
               [0.1, 0.1]])
        """
        if not self.silent:
            return self
        reports = self.values
        if values is None:
            return self.with_reports(fill_missing(reports))
        return self.with_reports(np.where(np.isnan(reports), values[:, None], reports))

    def with_reports(self, reports: FloatArray) -> Self:
        """Return the panel with other valid reports of the same agents and cases.

        Reports (T, N), or coordinates (T, N, C); they are trusted.

        >>> Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0]).with_reports(np.eye(2)).reports
        array([[1., 0.],
               [0., 1.]])
        """
        return self._replace(given=squeeze(reports), silent=count_missing(reports))

    def select_agents(self, agents: Sequence[str]) -> Self | None:
        """Return the panel of some agents; None if a case is left without a report.

        >>> panel = Panel([[0.9, 0.5, 0.1], [0.1, 0.5, np.nan]], [1, 0], tuple("abc"))
        >>> panel.select_agents(["a", "c"]).reports
        array([[0.9, 0.1],
               [0.1, nan]])
        >>> panel.select_agents(["c"]) is None
        True
        """
        places = [self.agents.index(name) for name in agents]
        parts = [self.reports[:, places]]
        if self.pending is not None:
            parts.append(self.pending.reports[:, places])
        missing = [np.isnan(p).reshape(*p.shape[:2], -1)[:, :, 0] for p in parts]
        if any(gone.all(axis=1).any() for gone in missing):
            return None
        pending = self.pending and replace(self.pending, given=parts[-1])
        return self._replace(
            agents=tuple(agents),
            given=parts[0],
            silent=count_missing(parts[0]) if self.silent else 0,
            pending=pending,
        )

    def with_columns(self, columns: Mapping[str, ArrayLike]) -> Self:
        """Return the panel with more columns of the cases.

        >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
        >>> panel.with_columns({"amount": [120, 80]}).columns
        CaseColumns(amount)
        """
        own = CaseColumns(columns, len(self))
        both = {**self.columns, **own}
        return self._replace(columns=CaseColumns(both, len(self), copy=False))

    def with_labels(self, labels: Labels) -> Self:
        """Return the panel with other labels for the same class numbers.

        >>> panel = Panel([[0.9, 0.5], [0.1, 0.5]], [1, 0])
        >>> panel.with_labels(Labels(("genuine", "fraud"))).labels.positive
        'fraud'
        """
        return self._replace(labels=labels)

    def sort_by_time(self) -> Self:
        """Return the panel sorted by time; cases of the same time keep their order.

        >>> panel = Panel([[0.1, 0.2], [0.8, 0.9]], [0, 1], times=[5, 3])
        >>> panel.sort_by_time().outcomes
        array([1, 0])
        """
        if self.times is None:
            return self
        pending = self.pending
        if pending is not None:
            order, T = self.order_with_pending, len(self)
            before, later = np.cumsum(order < T), np.flatnonzero(order >= T)
            position = np.empty(len(pending), dtype=np.int64)
            position[order[later] - T] = before[later]
            pending = replace(pending, position=read_only(position))
        return self.take(self.order)._replace(pending=pending)

    @property
    def order(self) -> IntArray:
        """Cases from the first in time to the last, (T,)."""
        if self.times is None:
            return np.arange(len(self))
        return np.argsort(self.times, kind="stable")

    @property
    def order_with_pending(self) -> IntArray:
        """Cases, then pending ones, from the first in time to the last, (T + P,).

        Of the same time, all are in the order of the table.

        >>> panel = Panel([[0.1, 0.2], [0.8, 0.9]], [0, 1], times=[5, 5])
        >>> later = {"times": [5], "position": [1]}
        >>> panel.with_pending([[0.3, 0.4]], **later).order_with_pending
        array([0, 2, 1])
        """
        later = self.pending
        if later is None:
            return self.order
        # A pending case comes right before the case that its position names.
        places = np.concatenate([np.arange(len(self)), later.position - 0.5])
        if self.times is None or later.times is None:
            return np.argsort(places, kind="stable")
        return np.lexsort((places, np.concatenate([self.times, later.times])))

    def __len__(self) -> int:
        """Return the number of cases, T."""
        return len(self.given)

    def _repr_html_(self) -> str:
        return str(display.render("truepool.pages.notebook", "panel", self))

    def __repr__(self) -> str:
        shown = ", ".join(self.agents[:5]) + (", ..." if len(self.agents) > 5 else "")
        positive = None if self.labels.plain else self.labels.positive
        labels = "" if positive is None else f" (positive: {positive!r})"
        percent = f"{self.missing:.1%}".replace("%", " %")
        return (
            f"Panel({self.size:,} cases, {len(self.agents)} agents ({shown}), "
            f"{self.classes} classes{labels}, {percent} missing)"
        )


def last_rows(names: Array) -> IntArray:
    """Return the place of the last row with each name, in order.

    >>> last_rows(np.array(["a", "a", "b", "a"]))
    array([2, 3])
    """
    places = {name: t for t, name in enumerate(names.tolist())}
    return np.array(sorted(places.values()), dtype=np.int64)


def check_times(times: Array | None) -> Array | None:
    """Times that can be put in order: numbers, dates, or ISO 8601 text."""
    if times is None:
        return None
    if times.dtype.kind in "OUST":
        parsed = []
        for t, value in enumerate(times.tolist()):
            try:
                parsed.append(_time(value))
            except (TypeError, ValueError, OverflowError):
                raise PanelError(
                    "a time must be a number, a date, or text such as "
                    f"2026-01-31T12:00; {case_name(t)} has {value!r:.60}"
                ) from None
        times = np.array(parsed)
    if times.dtype.kind not in "biufMm":
        raise PanelError(
            "a time must be a number, a date, or text such as 2026-01-31T12:00; case 0 "
            f"has {times[0]!r:.60}"
        )
    if times.dtype.kind == "f" and np.isinf(times).any():
        t = int(np.argmax(np.isinf(times)))
        raise PanelError(f"a time must be finite; {case_name(t)} has {times[t]}")
    missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times * 1.0)
    if missing.any():
        raise PanelError(
            f"every case needs a time; {case_name(int(np.argmax(missing)))} has none"
        )
    return times


def _time(value: Any) -> np.datetime64:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def check_panel(given: Any, what: str) -> None:
    """Refuse what is no panel, and say how one is read."""
    if not isinstance(given, Panel):
        raise PanelError(
            f"{what} takes a Panel; got {type(given).__name__}. Read one from a file "
            "or a frame: tp.read_panel(table, outcome=...)."
        )
