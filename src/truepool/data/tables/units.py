"""Units of reports: numbers that were meant as fractions, and not as percentages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.errors import ReportError
from truepool.core.formatting import pluralize
from truepool.data.reports import UNIT_RATIO, describe_mix, mixed_units
from truepool.data.row_names import case_name
from truepool.data.tables.numbers import EDGE, is_signed

LIKELIER = 3.0
"""Log-likelihood by which fractions must explain outcomes better than percentages."""


def check_percentages(
    columns: Iterable[nw.Series[Any]], reports: Mapping[str, FloatArray]
) -> None:
    """Refuse reports, of one agent or of all, that were fractions and no percentages.

    Percent signs leave no doubt, and a column of zeros fits both units.
    """
    if any(is_signed(column) for column in columns):
        return
    largest = {name: np.nanmax(r, initial=0.0) * 100 for name, r in reports.items()}
    fractions = [name for name, top in largest.items() if 0 < top <= 1]
    percents = [name for name, top in largest.items() if top > 1]
    if not fractions:
        return
    fraction = fractions[0]
    if percents and largest[percents[0]] < UNIT_RATIO * largest[fraction]:
        return  # events are rare, and percentages small
    if not percents:
        top = max(largest, key=largest.__getitem__)
        raise ReportError(
            "with --percent some report must be above 1; the largest is "
            f"{largest[top]:g} in column {top!r}. Leave out --percent; "
            "if these are percentages, write a percent sign after each."
        )
    for name in percents:
        others = np.stack([100 * reports[other] for other in fractions], axis=1)
        mixed = mixed_units(100 * reports[name], others)
        if mixed is not None:
            raise ReportError(
                "with --percent every report must be a percentage; "
                f"{describe_mix(name, 100 * reports[name], mixed)}"
            )
    percent = percents[0]
    cure = f"Multiply {_quoted(fractions)} by 100 in the table."
    if len(percents) < len(fractions):
        cure = (
            f"Divide {_quoted(percents)} by 100 in the table and leave out --percent."
        )
    raise ReportError(
        "with --percent every agent must report percentages; column "
        f"{percent!r} goes up to {largest[percent]:g}, column {fraction!r} only to "
        f"{largest[fraction]:g}. {cure}"
    )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


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
        small = np.flatnonzero((reports > 0) & (reports <= 0.01))
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
                "outcomes only as probabilities. Multiply them by 100 in the table; if "
                "they are percentages, write a percent sign after each."
            )


def _log_likelihood(p: FloatArray, outcomes: IntArray) -> float:
    inside = np.clip(p, EDGE, 1 - EDGE)
    return float(np.where(outcomes > 0, np.log(inside), np.log1p(-inside)).sum())
