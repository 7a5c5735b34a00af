"""Units of reports: numbers that were meant as fractions, and not as percentages."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.errors import ReportError
from truepool.core.formatting import join_names, pluralize
from truepool.panel.labels import format_labels
from truepool.panel.report_units import (
    MAX_SCORE,
    SMALL,
    UNIT_RATIO,
    describe_mix,
    mixed_units,
    percent_option,
    scores_option,
)
from truepool.panel.row_names import case_name
from truepool.panel.sparse import SparseReports
from truepool.tables.table_format import TableFormat

ENOUGH = 20
"""Reports of an agent of a long table that say in which unit it reports; on half of the
cases, fewer do."""

LIKELIER = 3.0
"""Log-likelihood by which fractions must explain outcomes better than percentages."""

SCORES = 5
"""Reports per agent from which small whole numbers are taken for scores."""

FAR = 50.0
"""Percentages beside which whole numbers up to 10 of another agent look like scores."""

EDGE = 1e-6
"""Least probability of an outcome: no single report may rule anything out."""


@dataclass(frozen=True)
class SmallScale:
    """The scale of scores, and what is said of the numbers that look like them."""

    description: str
    option: str

    @classmethod
    def of(cls, values: FloatArray, least: int) -> "SmallScale | None":
        """Return the scale of whole numbers and halves up to 10; None if few or others.

        >>> SmallScale.of(np.array([1.5, 4.0]), 2)
        SmallScale(description='whole or halves, from 1.5 to 4', option='1-5')
        >>> SmallScale.of(np.array([1.2, 4.0]), 2) is None
        True
        """
        known = values[~np.isnan(values)]
        halves = np.round(2 * known) / 2
        if len(known) < max(1, least) or np.abs(known - halves).max() > EDGE:
            return None
        low, high = float(halves.min()), float(halves.max())
        if not 3 <= high <= MAX_SCORE:
            return None
        what = "whole or halves" if (halves % 1).any() else "whole"
        return cls(
            f"{what}, from {low:g} to {high:g}",
            f"{min(1, int(low))}-{5 if high <= 5 else MAX_SCORE}",
        )


def check_percentages(
    reports: Mapping[str, FloatArray],
    written: TableFormat,
    signed: Collection[str],
    kind: str = "column",
    *,
    aligned: bool = True,
) -> None:
    """Refuse percentages of some agents, or of all, that were fractions as written.

    ``reports`` (T,) of each agent lie in [0, 1] already. Those that were ``signed``
    leave no doubt, and a column of zeros fits both units. Reports that are not
    ``aligned`` are on other cases for each agent, and are not compared case by case.
    """
    percent = {n: 100 * r for n, r in reports.items() if written.in_percent(n)}
    fractions = {
        n: r
        for n, r in reports.items()
        if n not in percent and written.score_range(n) is None
    }
    bare = {n: values for n, values in percent.items() if n not in signed}
    _check_no_scores(bare, [n for n in percent if n in signed])
    if written.percent is True:
        top = max(map(_top, percent.values()), default=0.0)
        _check_no_small_scale(bare, [*percent], top)
    if aligned:
        _check_mixed(bare, [*fractions.values()])
    largest = {n: _top(values) for n, values in percent.items()}
    small = [n for n in bare if 0 < largest[n] <= 1]
    large = [n for n, top in largest.items() if top > 1 or (top and n in signed)]
    if not small:
        return
    if not large:
        check_some_above_1(
            {n: largest[n] for n in small},
            max(map(_top, fractions.values()), default=0.0),
            written,
            kind,
        )
        return
    if largest[large[0]] < UNIT_RATIO * largest[small[0]]:
        return  # events are rare, and percentages small
    if aligned:
        _check_mixed({n: bare[n] for n in large if n in bare}, [bare[n] for n in small])
    who = "every agent" if written.percent is True else "every agent that it names"
    only = join_names([repr(name) for name in large])
    raise ReportError(
        f"with --percent {who} must report percentages; {kind} "
        f"{large[0]!r} goes up to {largest[large[0]]:g}, {kind} {small[0]!r} only to "
        f"{largest[small[0]]:g}. If only {only} {'is' if len(large) == 1 else 'are'} "
        f"in percent, pass {percent_option(large)}; else write a percent sign after "
        f"each number of {small[0]!r}."
    )


def check_long_percentages(
    given: FloatArray | SparseReports,
    agents: Sequence[str],
    written: TableFormat,
    signed: Collection[str],
) -> None:
    """Refuse percentages of agents of a long table that were fractions as written.

    An agent that reports rarely may have small percentages alone, beside larger ones of
    others.
    """
    sparse = isinstance(given, SparseReports)
    if isinstance(given, SparseReports):
        order = np.argsort(given.agent, kind="stable")
        own = np.split(given.values[order], given.agent_counts.cumsum()[:-1])
    else:
        own = [*given.T]
    reports = dict(zip(agents, own, strict=True))
    counts = {n: int(np.isfinite(values).sum()) for n, values in reports.items()}
    rare = {n for n, count in counts.items() if count < min(ENOUGH, len(given) / 2)}
    tops = {n: _top(v) for n, v in reports.items() if written.in_percent(n)}
    if max(tops.values(), default=0.0) > SMALL:
        low = {n for n in rare & {*tops} if tops[n] <= SMALL}
        reports = {n: values for n, values in reports.items() if n not in low}
    check_percentages(reports, written, signed, "agent", aligned=not sparse)


def _check_no_scores(columns: Mapping[str, FloatArray], signed: Sequence[str]) -> None:
    """Refuse percentages of several agents that are scores on a small scale.

    Those of the agents that are ``signed`` are percentages.
    """
    values = np.concatenate([*columns.values(), np.empty(0)])
    scale = SmallScale.of(values, SCORES * len(columns))
    if len(columns) < 2 or scale is None:
        return
    cure = f"--scores {scale.option} instead"
    if signed:
        cure = f"{percent_option(signed)} {scores_option([*columns], scale.option)}"
    raise ReportError(
        f"with --percent reports are percentages; all numbers of "
        f"{format_labels([*columns])} are {scale.description}, and look like scores. "
        f"If they are, pass {cure}; if they are percentages, write a percent sign "
        "after each."
    )


def _check_no_small_scale(
    columns: Mapping[str, FloatArray], agents: Sequence[str], top: float
) -> None:
    """Refuse scores of one agent beside percentages of other agents, up to ``top``.

    Where agents in percent are named, nothing is in doubt.
    """
    for name, values in columns.items() if top > FAR else ():
        scale = SmallScale.of(values, ENOUGH)
        if scale is not None:
            others = [other for other in agents if other != name]
            scores = scores_option([name], scale.option)
            raise ReportError(
                "with --percent every agent must report percentages; all numbers of "
                f"{name!r} are {scale.description}, and look like scores, while others "
                f"go up to {top:g}. If they are scores, pass "
                f"{percent_option(others)} {scores} (the highest first if a "
                "high score means a low probability); if they are percentages, name "
                f"all agents: {percent_option(agents)}."
            )


def check_some_above_1(
    largest: Mapping[str, float], fraction: float, written: TableFormat, kind: str
) -> None:
    """Refuse percentages of which none is above 1, by the largest of each column.

    Where events are rare, percentages are small too, and the largest ``fraction`` of
    the other agents is much smaller.
    """
    name = max(largest, key=largest.__getitem__)
    if 0 < UNIT_RATIO * fraction <= largest[name] or not 0 < largest[name] <= 1:
        return
    named = not isinstance(written.percent, bool)
    cure = f"Leave {'these agents ' * named}out{' of' * named} --percent"
    where = "in" if kind == "column" else "of"
    raise ReportError(
        "with --percent some report must be above 1; the largest is "
        f"{largest[name]:g} {where} {kind} {name!r}. {cure}; if these are percentages, "
        "write a percent sign after each."
    )


def _top(values: FloatArray) -> float:
    return float(np.nanmax(values, initial=0.0))


def _check_mixed(
    columns: Mapping[str, FloatArray], fractions: Sequence[FloatArray]
) -> None:
    """Refuse percentages (T,) among which are fractions, by the fractions of others."""
    for name, values in columns.items() if fractions else ():
        mixed = mixed_units(values, np.stack(fractions, axis=1))
        if mixed is not None:
            raise ReportError(
                "with --percent every report must be a percentage; "
                f"{describe_mix(name, values, mixed)}"
            )


def check_rows(
    columns: Iterable[tuple[str, FloatArray, IntArray]],
    outcomes: IntArray,
    ids: Array | None,
) -> None:
    """Refuse an agent of whose reports some were fractions and no percentages.

    Each column is an agent, its reports (M,), and the cases (M,) that they are about.

    Numbers up to 1 are small percentages where events are rare. They were fractions if
    the outcomes (T,) are likelier under them than under the percentages, and than under
    the share of positives that these cases have.
    """
    for agent, reports, cases in columns:
        small = np.flatnonzero((reports > 0) & (reports <= SMALL))
        if len(small) in (0, len(reports)):
            continue
        p, y = reports[small], outcomes[cases[small]]
        rate = np.full(len(p), y.mean())
        apart = _log_likelihood(100 * p, y) - max(
            _log_likelihood(p, y), _log_likelihood(rate, y)
        )
        if apart > LIKELIER:
            t = int(cases[small[0]])
            raise ReportError(
                f"with --percent every report must be a percentage; agent {agent!r} "
                f"has {pluralize(len(small), 'number')} up to 1, such as "
                f"{100 * p[0]:g} in {case_name(t, ids)}, that fit the "
                "outcomes only as probabilities. Write all in one unit; if they are "
                "percentages, write a percent sign after each."
            )


def _log_likelihood(p: FloatArray, outcomes: IntArray) -> float:
    inside = np.clip(p, EDGE, 1 - EDGE)
    return float(np.where(outcomes > 0, np.log(inside), np.log1p(-inside)).sum())
