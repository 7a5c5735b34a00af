"""Columns of numbers between 0 and 1 that may be no reports of an agent."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from truepool.core.arrays import FloatArray

SHARES = (
    "discount", "rebate", "tax", "vat", "margin", "commission", "fee", "interest",
    "share", "ratio", "rate", "fraction", "proportion", "utilization",
    "utilisation", "occupancy", "coverage", "humidity", "weight", "propensity",
    "rabatt", "steuer", "zins", "anteil", "remise", "taux",
    "descuento", "impuesto", "tasa", "interés", "sconto", "tasso", "quota",
)  # fmt: skip
"""Quantities between 0 and 1 that are no reports, as columns are called after them."""

PERCENTAGES = (
    "pct", "percent", "percentage", "perc", "prob", "probability", "prozent",
    "wahrscheinlichkeit", "pourcent", "pourcentage", "probabilité", "porcentaje",
    "probabilidad", "percentuale", "probabilità", "percentagem", "porcentagem",
    "probabilidade", "procent", "%",
)  # fmt: skip
"""Words in the names of columns of percentages."""

FEW_VALUES = 20
"""At most so many different values are few, where half of the columns have more."""

FAINT = 0.2
"""A rank correlation with the other agents that is surely below this is faint."""

REACH = 1.96
"""Standard errors beyond which a relation is found, at the 5 % level."""

PRECISE = 0.1
"""An AUC that chance may take further from 1/2 says nothing."""

FULL_SPAN = 5, 95
"""Many numbers from below the first to above the second, and to 100 at most, look like
percentages."""

MEASURES = ("age", "years", "days", "hours", "minutes", "seconds", "amount", "price",
            "cost", "value", "total", "sum", "count", "number", "duration", "betrag",
            "importe", "montant", "id")  # fmt: skip
"""Quantities that may go from 0 to 100 and are no reports, by their names."""

MOST_ROWS = 50_000
"""Rows that are looked at, spread over the table."""


def doubtful_columns(
    columns: Mapping[str, FloatArray], outcomes: FloatArray | None
) -> dict[str, str]:
    """Say why columns (T,) may be no agents, by their names.

    Two of three reasons are enough: few different values, the name of a share, and no
    relation to the outcome (T,) or to the other agents. A weak agent has the third
    reason at most; a judge with five marks has the first.

    >>> import numpy as np
    >>> score = np.arange(40) / 40
    >>> list(doubtful_columns({"a": score, "b": score, "tax": score.round(1)}, None))
    ['tax']
    """
    step = max(1, len(next(iter(columns.values()), ())) // MOST_ROWS)
    columns = {name: values[::step] for name, values in columns.items()}
    known = None if outcomes is None else outcomes[::step]
    coarse = _coarse(columns)
    shares = {n for n in columns if not {*name_parts(n)}.isdisjoint(SHARES)}
    others = [v for n, v in columns.items() if n not in coarse and n not in shares]
    found = {}
    for name, values in columns.items():
        reasons = []
        if name in coarse:
            reasons.append(f"it has only {coarse[name]} different values")
        if name in shares:
            reasons.append("its name is that of a share or rate")
        if reasons and _is_unrelated(values, others, known):
            reasons.append(
                "no relation to the outcome or to the other agents was found"
            )
        if len(reasons) > 1:
            found[name] = f"{', '.join(reasons[:-1])}, and {reasons[-1]}"
    return found


def percent_columns(
    columns: Mapping[str, FloatArray], reports: Sequence[FloatArray]
) -> dict[str, str]:
    """Say why columns (T,) of numbers up to 100 may be agents beside fractions (T,).

    They rise with the reports, surely and more than faintly, are called percentages, or
    go from 0 to 100: an agent may output noise, or the opposite.

    >>> p = np.arange(40) / 40
    >>> list(percent_columns({"vendor": 100 * p, "age": 50 + 9 * np.sin(9 * p)}, [p]))
    ['vendor']
    """
    step = max(1, len(next(iter(reports), ())) // MOST_ROWS)
    mean = _mean([_ranks(values[::step]) for values in reports])
    found = {}
    for name, values in columns.items():
        related, reach = _correlation(values[::step], mean)
        span = f"its numbers go from {np.nanmin(values):g} to {np.nanmax(values):g}"
        if related > max(FAINT, reach):
            found[name] = (
                f"{span} and rise with the reports (rank correlation {related:.2f})"
            )
        elif says_percent(name):
            found[name] = f"{span} and its name says so"
        elif _spans_percentages(name, values):
            falls = -related > max(FAINT, reach)
            relation = "fall" if falls else "do not rise"
            found[name] = (
                f"{span} but {relation} with the reports, so that it may be no agent, "
                f"or one that reports {'the opposite' if falls else 'noise'}"
            )
    return found


def _spans_percentages(name: str, values: FloatArray) -> bool:
    """Whether many numbers go from 0 to 100, and their name says nothing else."""
    low, high = FULL_SPAN
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) <= FEW_VALUES or distinct[0] > low or distinct[-1] < high:
        return False
    return {*name_parts(name)}.isdisjoint((*SHARES, *MEASURES))


def score_columns(
    columns: Mapping[str, FloatArray], others: Sequence[FloatArray], what: str
) -> dict[str, tuple[str, bool]]:
    """Say why columns (T,) may be scores, and whether they fall where others rise.

    They rise or fall with the mean rank of ``others`` (T,), surely and more than
    faintly; ``what`` says what these are.

    >>> p = np.arange(40) / 40
    >>> score_columns({"bureau": 850 - 500 * p}, [p], "the reports")["bureau"]
    ('its numbers go from 362.5 to 850 and fall as the reports rise ...', True)
    """
    step = max(1, len(next(iter(others), ())) // MOST_ROWS)
    mean = _mean([_ranks(values[::step]) for values in others])
    found = {}
    for name, values in columns.items():
        related, reach = _correlation(values[::step], mean)
        if abs(related) > max(FAINT, reach):
            move = f"rise with {what}" if related > 0 else f"fall as {what} rise"
            why = (
                f"its numbers go from {np.nanmin(values):g} to {np.nanmax(values):g} "
                f"and {move} (rank correlation {related:.2f})"
            )
            found[name] = (why, related < 0)
    return found


def _coarse(columns: Mapping[str, FloatArray]) -> dict[str, int]:
    """Columns with few different values, where half of all have more."""
    counts = {n: len(np.unique(v[~np.isnan(v)])) for n, v in columns.items()}
    if not counts or np.median([*counts.values()]) <= FEW_VALUES:
        return {}
    return {name: count for name, count in counts.items() if count <= FEW_VALUES}


def name_parts(name: str) -> list[str]:
    """Return the words of a column's name.

    >>> name_parts("Is-Fraud flag")
    ['is', 'fraud', 'flag']
    """
    return re.findall(r"[^\W_]+|%", name.casefold())


def says_percent(name: str) -> bool:
    """Whether a column is called a percentage, and not that of a share.

    >>> says_percent("echo_pct"), says_percent("discount_pct"), says_percent("age")
    (True, False, False)
    >>> says_percent("bank (Prozent)"), says_percent("modèle [%]")
    (True, True)
    """
    parts = {*name_parts(name)}
    return not parts.isdisjoint(PERCENTAGES) and parts.isdisjoint(SHARES)


def _is_unrelated(
    values: FloatArray, others: Sequence[FloatArray], outcomes: FloatArray | None
) -> bool:
    """Whether no relation is found to the outcome, and at most a faint one to others.

    Both must have been looked for with some precision: of few positives the outcome
    says little about anybody.
    """
    if outcomes is None or not others or _auc_reach(values, outcomes) > PRECISE:
        return False
    related, reach = _correlation(values, outcomes)
    if abs(related) > reach:
        return False
    related, reach = _correlation(values, _mean([_ranks(other) for other in others]))
    return abs(related) <= reach and abs(related) + reach < FAINT


def _auc_reach(values: FloatArray, outcomes: FloatArray) -> float:
    """How far chance alone may take the AUC of values (T,) from 1/2."""
    known = outcomes[~(np.isnan(values) | np.isnan(outcomes))]
    spread = known.var() if len(known) else 0.0
    return REACH / float(np.sqrt(max(12 * len(known) * spread, 1.0)))


def _mean(columns: Sequence[FloatArray]) -> FloatArray:
    """Mean of columns (T,), NaN where none has a value."""
    stacked = np.stack(columns)
    known = ~np.isnan(stacked)
    total, count = np.where(known, stacked, 0.0).sum(axis=0), known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _correlation(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Rank correlation of two columns (T,), and how far chance alone may take it."""
    known = ~(np.isnan(first) | np.isnan(second))
    count = int(known.sum())
    if count < 2:
        return 0.0, float("inf")
    one, two = _ranks(first[known]), _ranks(second[known])
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        return 0.0, float("inf")
    return float(np.corrcoef(one, two)[0, 1]), REACH / float(np.sqrt(count - 1))


def _ranks(values: FloatArray) -> FloatArray:
    """Mean ranks as shares of the values; NaN stays NaN."""
    known = ~np.isnan(values)
    _, place, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    upto = np.cumsum(counts)
    ranks = np.full(len(values), np.nan)
    ranks[known] = (upto - (counts - 1) / 2)[place] / max(len(place), 1)
    return ranks
