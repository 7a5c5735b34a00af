"""A comparison of pools, as a table a stranger can read."""

from truepool.comparison import Comparison, Estimate, Row
from truepool.render.numbers import (
    amount,
    between,
    number,
    percent,
    signed,
)
from truepool.render.tables.grid import Grid


def grid(comparison: Comparison) -> Grid:
    """Lay a comparison out: least loss first, differences with their intervals."""
    what = "Cost" if comparison.loss == "cost" else f"{comparison.loss} loss"
    doubt = 1 - comparison.level
    rows = tuple(_row(row, comparison.loss, doubt) for row in comparison.rows)
    headers = [
        "pool",
        f"{what.lower()} a case",
        "against mean",
        "against best agent",
    ]
    headers += ["Brier"] if comparison.loss != "brier" else []
    headers += ["ECE", "recall", "alarms"]
    title = (
        f"{len(rows)} pools of {len(comparison.agents)} agents on "
        f"{comparison.tested:,} cases, each case pooled by weights that never saw it"
    )
    return Grid(title, tuple(headers), rows, _notes(comparison), essential=3)


def _row(row: Row, loss: str, doubt: float) -> tuple[str, ...]:
    like = row.loss.value
    cells = [
        row.pool,
        f"{number(like)} "
        + between(number(row.loss.low, like), number(row.loss.high, like)),
        _difference(row.to_mean, row.p_mean < doubt, like),
        _difference(row.to_best, row.p_best < doubt, like),
    ]
    cells += [number(row.brier)] if loss != "brier" else []
    return (*cells, number(row.ece, 0.1), percent(row.recall), percent(row.fp_rate))


def _difference(gap: Estimate, clear: bool, like: float) -> str:
    if gap.low == gap.high == 0:
        return "="
    mark = "*" if clear else " "
    interval = between(signed(gap.low, like), signed(gap.high, like))
    return f"{signed(gap.value, like)} {interval} {mark}"


def _notes(comparison: Comparison) -> tuple[str, ...]:
    costs = comparison.costs
    if comparison.classes == 2:
        line = costs.threshold if comparison.threshold is None else comparison.threshold
        decision = (
            f"A missed case costs {amount(costs.fn)}, a false alarm "
            f"{amount(costs.fp)}; 1 is decided above {number(line)}"
        )
        if abs(line - costs.threshold) > 1e-12:
            decision += f" (these costs would ask for {number(costs.threshold)})"
    else:
        decision = (
            f"{comparison.classes} classes; the class of least expected cost is "
            "decided; recall is the mean over classes"
        )
    share = f"{100 * comparison.level:g} %"
    missing = ""
    if comparison.untried:
        missing = f" Too few cases to try: {', '.join(comparison.untried)}."
    return (
        f"{decision}. Brackets: {share} intervals by resampling cases.{missing}",
        "Differences: below 0 is better; * marks what is clear even after trying "
        f"{len(comparison.rows)} pools (paired t-tests, Holm).",
        "ECE: calibration error. Alarms: false ones, where 0 happened.",
        _verdict(comparison),
    )


def _verdict(comparison: Comparison) -> str:
    first, mean = comparison.rows[0], comparison["mean"]
    unit = "costs" if comparison.loss == "cost" else f"has a {comparison.loss} loss of"
    told = f"Least: {first.pool} {unit} {number(first.loss.value)} a case"
    if first.pool == "mean":
        return f"{told}; nothing beats the plain mean here."
    told += f", the plain mean {number(mean.loss.value)}"
    if first.p_mean < 1 - comparison.level:
        return f"{told}: better by more than the luck of the cases."
    return f"{told}: the luck of the cases may explain that."
