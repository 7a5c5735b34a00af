"""A comparison of pools, as a table a stranger can read."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from truepool.audits.values import Segment
from truepool.comparison import (
    Comparison,
    Estimate,
    GroupComparison,
    Row,
    describe_pending,
    is_significant,
)
from truepool.core.formatting import in_unit, join_names, money
from truepool.pages import labels
from truepool.pages.costs import describe, describe_classes
from truepool.pages.grid import Grid
from truepool.pages.numbers import (
    format_estimate,
    format_interval,
    format_p_value,
    number,
    percent,
    signed,
)
from truepool.panel.costs import Costs

POSITIVE = "Positive: share of positive cases, by weight and propensity if given."
"""What a column of shares means, wherever groups of cases are shown."""
RATES = (
    "Recall: share of positive cases found. Alarms: share of negative cases decided "
    "positive."
)
"""What recall and alarms mean with two classes."""
MEAN_RECALL = (
    "Recall: share of the cases of a class that are decided so, mean over classes."
)
"""What recall means with more than two classes, none of which is the positive one."""


def grid(comparison: Comparison) -> Grid:
    """Lay a comparison out: lowest loss first, differences with their intervals."""
    what = "Cost" if comparison.loss == "cost" else f"{comparison.loss} loss"
    rows = tuple(_row(row, comparison) for row in comparison.rows)
    headers = [
        "pool",
        in_unit(f"{what.lower()} per case", _currency(comparison)),
        "recall",
        *(["alarms"] if comparison.classes == 2 else []),
        in_unit("against mean", _currency(comparison)),
        in_unit("against best agent", _currency(comparison)),
    ]
    headers += ["Brier"] if comparison.loss != "brier" else []
    headers += ["ECE", *_class_headers(comparison)]
    title = (
        f"{len(rows)} pools of {len(comparison.agents)} agents on "
        f"{comparison.tested:,} cases, each tested on cases it was not fitted on"
    )
    recall = RATES if comparison.classes == 2 else MEAN_RECALL
    legend = ("recall", recall), ("ECE", "ECE: calibration error.")
    notes = _notes(comparison)
    return Grid(title, tuple(headers), rows, notes, essential=4, legend=legend)


def _currency(comparison: Comparison) -> str:
    """Return the unit of the loss, where it is a cost."""
    return comparison.costs.currency if comparison.loss == "cost" else ""


def _row(row: Row, comparison: Comparison) -> tuple[str, ...]:
    like, level = row.loss.value, comparison.level
    cells = [
        row.pool,
        f"{number(like)} "
        + format_interval(number(row.loss.low, like), number(row.loss.high, like)),
        _share(row.recall, row.recall_interval),
        *([_share(row.fp_rate, row.fp_interval)] if comparison.classes == 2 else []),
        _difference(row.to_mean, is_significant(row.to_mean, row.p_mean, level), like),
        _difference(row.to_best, is_significant(row.to_best, row.p_best, level), like),
    ]
    cells += [number(row.brier)] if comparison.loss != "brier" else []
    cells += [number(row.ece, 0.1)]
    return (*cells, *(percent(r) for r in row.recalls if comparison.classes > 2))


def _class_headers(comparison: Comparison) -> list[str]:
    """Name the recall of each of more than two classes."""
    if comparison.classes == 2:
        return []
    return [f"recall of {name}" for name in _class_names(comparison)]


def _class_names(comparison: Comparison) -> list[str]:
    return labels.class_names(comparison.labels or range(comparison.classes))


def _share(value: float, interval: tuple[float, float] | None) -> str:
    if interval is None or value != value:
        return percent(value)
    like = 10.0 if value >= 0.01 else max(100 * value, 0.1)
    low, high = (number(100 * end, like) for end in interval)
    return f"{percent(value)} [{low}, {high}]"


def groups(comparison: Comparison) -> Grid:
    """Lay out the pool with the lowest loss within each group, and the plain mean."""
    rows, binary = [], comparison.classes == 2
    for one in comparison.groups:
        share = [percent(one.share)] if binary else []
        counts = (one.group, f"{one.cases:,}", *share)
        if not one.rows:
            rows.append((*counts, *("-",) * 5))
            continue
        best = one.rows[0]
        clear = is_significant(best.to_mean, best.p_mean, comparison.level)
        mean = next(row for row in one.rows if row.pool == "mean")
        rows.append(
            (
                *counts,
                format_estimate(mean.loss),
                _share(mean.recall, mean.recall_interval),
                best.pool,
                format_estimate(best.loss),
                _difference(best.to_mean, clear, mean.loss.value),
            )
        )
    what = "cost" if comparison.loss == "cost" else f"{comparison.loss} loss"
    unit = _currency(comparison)
    headers = (
        str(comparison.by), "cases", *(["positive"] if binary else []),
        in_unit(f"{what} of the mean", unit), "its recall", "best pool",
        in_unit(what, unit), in_unit("against mean", unit),
    )  # fmt: skip
    tried = len(comparison.rows)
    notes = [
        "Per case, on cases the pools were not fitted on. * marks differences whose "
        "interval excludes 0 and that are significant after adjusting for "
        f"{tried} pools in all segments (Holm). {POSITIVE if binary else MEAN_RECALL}",
        *small_groups(comparison.groups),
    ]
    title = f"The pools within segments of {comparison.by}"
    essential = 4 if binary else 3
    return Grid(title, headers, tuple(rows), tuple(notes), essential=essential)


def small_groups(groups: Sequence[GroupComparison | Segment]) -> Iterator[str]:
    """Name the groups that are too small to be judged, and say each reason once."""
    small: dict[str, list[str]] = {}
    for one in groups:
        if one.shortage:
            small.setdefault(one.shortage, []).append(one.group)
    if small:
        named = (f"{join_names(names)} ({why})" for why, names in small.items())
        yield f"Not judged: {'; '.join(named)}."


def _difference(gap: Estimate, clear: bool, like: float) -> str:
    if gap.low == gap.high == 0:
        return "="
    mark = "*" if clear else " "
    interval = format_interval(signed(gap.low, like), signed(gap.high, like))
    return f"{signed(gap.value, like)} {interval} {mark}"


def _notes(comparison: Comparison) -> tuple[str, ...]:
    costs = comparison.costs
    if comparison.classes == 2:
        decision = _decision(costs, comparison.threshold)
    else:
        decision = (
            f"{comparison.classes} classes; {_errors(comparison)}; the class with the "
            "lowest expected cost is decided"
        )
    if comparison.capacity is not None:
        limit = f"at most {comparison.capacity}, the most valuable ones"
        decision += f"; {limit}"
    share = f"{100 * comparison.level:g} %"
    who = ""
    if comparison.competing:
        by_propensity = comparison.by_propensity
        who = f" {describe_pending(comparison.competing, by_propensity=by_propensity)}"
    missing = ""
    if comparison.skipped:
        missing = f" Not tried, for lack of cases: {', '.join(comparison.skipped)}."
    return (
        f"{decision}.{who} Brackets: {share} intervals by resampling cases, or "
        f"whole groups where they are given{_bounds(comparison)}.{missing}",
        f"Differences: below 0 is better; {_allowance(comparison)}* marks those whose "
        "interval excludes 0 and "
        f"that are significant after adjusting for {len(comparison.rows)} pools "
        "(paired t-tests, Holm).",
        _verdict(comparison),
    )


def _bounds(comparison: Comparison) -> str:
    """Say which intervals are not, or not only, by resampling."""
    rows = comparison.rows
    text = "" if rows[0].recall_interval is None else " (recall: Wilson)"
    perfect = any(1.0 in row.recalls for row in rows)
    if comparison.loss == "cost" and perfect:
        text += (
            "; where a pool decided every case of a class correctly, the upper end of "
            "its cost allows for one error there"
        )
    return text


def _allowance(comparison: Comparison) -> str:
    """Say why a difference may have a wider interval than the costs it is made of."""
    if not len(comparison.unseen):
        return ""
    return "intervals allow for one more case of each class decided differently; "


def _errors(comparison: Comparison) -> str:
    return describe_classes(asdict(comparison.costs), _class_names(comparison))


def _decision(costs: Costs, threshold: float | None) -> str:
    text = describe(asdict(costs))
    text = f"{text[0].upper()}{text[1:]}; positive is decided "
    if not costs.constant:
        if threshold is None:
            return f"{text}where that costs less in the case at hand"
        return f"{text}above {number(threshold)} (the costs imply one for each case)"
    line = costs.threshold if threshold is None else threshold
    text += f"above {number(line)}"
    if abs(line - costs.threshold) > 1e-12:
        text += f" (the threshold for these costs is {number(costs.threshold)})"
    return text


def _verdict(comparison: Comparison) -> str:
    first, mean = comparison.rows[0], comparison["mean"]
    unit = "costs" if comparison.loss == "cost" else f"has a {comparison.loss} loss of"
    currency = _currency(comparison)
    cost = money(first.loss.value, currency)
    lowest = f"Lowest: {first.pool} {unit} {cost} per case"
    if first.pool == "mean":
        return f"{lowest}; nothing beats the plain mean here."
    word = (
        "significantly lower"
        if is_significant(first.to_mean, first.p_mean, comparison.level)
        else ("the difference is not statistically significant")
    )
    p_value = format_p_value(first.p_mean)
    shown = f"p {p_value}" if p_value.startswith("<") else f"p = {p_value}"
    return (
        f"{lowest}, the plain mean {money(mean.loss.value, currency)}: {word} "
        f"(adjusted {shown})."
    )
