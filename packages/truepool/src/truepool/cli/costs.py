"""Costs that a verb cannot use, refused before anything is computed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truepool.panel.costs import Costs
    from truepool.panel.labels import Labels


def check_class_costs(costs: "Costs | None", labels: "Labels") -> None:
    """Refuse costs of misses and false alarms with more than two classes.

    Which class would be the negative one is not to be guessed. Where all errors cost
    the same, and all right decisions, nothing is.
    """
    from truepool.core.errors import CostError
    from truepool.core.formatting import amount
    from truepool.pages.config import cost_matrix
    from truepool.pages.labels import class_names

    names, usual = class_names(labels.names), (1.0, 1.0, 0.0, 0.0)
    if costs is None:
        return
    rows = (
        "one row of costs per true class and one column per decision, in the order "
        f"{', '.join(names)}"
    )
    if costs.matrix is not None and len(costs.matrix) != len(names):
        size = len(costs.matrix)
        raise CostError(
            f"a cost matrix must have {rows}; got {size} x {size} for {len(names)} "
            f"classes. For example: --set cost-matrix='{cost_matrix(len(names))}'."
        )
    if len(names) < 3 or costs.matrix is not None:
        return
    amounts = (costs.fn, costs.fp, costs.tp, costs.tn)
    if costs.constant and costs.fn == costs.fp and costs.tp == costs.tn:
        return
    kinds = ("fn", "fp", "tp", "tn")
    given = [k for k, a, u in zip(kinds, amounts, usual, strict=True) if a != u]
    missed = costs.fn if isinstance(costs.fn, float) and costs.fn != 1 else 10.0
    first, others = cost_matrix(len(names)).split("; ", 1)
    example = f"{first.replace('1', amount(missed))}; {others}"
    raise CostError(
        f"cost-{given[0]} is for two classes, of which one is positive; there are "
        f"{len(names)}. Give {rows}: --set cost-matrix='{example}' if missing "
        f"{names[0]} costs {amount(missed)} and any other error 1."
    )


def check_constant_costs(costs: "Costs", why: str) -> None:
    """Refuse costs per case where all cases share one rule."""
    from truepool.core.errors import CostError
    from truepool.core.formatting import join_names

    named = [
        f"cost-{kind} names the column {name!r}" for kind, name in costs.named.items()
    ]
    if named:
        raise CostError(
            f"{why}, so a cost must be one number; {join_names(named)}. Give numbers; "
            "in a file of keys, costs per case belong in the sections of commands that "
            "take them, such as [audit] and [fit] (docs/config.md)."
        )
