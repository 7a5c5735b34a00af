"""What decisions cost, in words, with its unit."""

from collections.abc import Mapping, Sequence
from typing import Any

from truepool.core.formatting import amount

DECISIONS = {
    "fn": "a missed case",
    "fp": "a false alarm",
    "tp": "a hit",
    "tn": "a case left alone correctly",
}


def describe(costs: Mapping[str, Any]) -> str:
    """Say what each decision costs, from the fields of `Costs`.

    >>> describe({"fn": 10.0, "fp": 1.0})
    'a missed case costs 10, a false alarm 1'
    >>> describe({"fn": "amount", "fp": 5.0, "tp": -2.0, "currency": "EUR"})
    "a missed case costs its 'amount', a false alarm 5 EUR, a hit -2 EUR"
    """
    given = {name: costs.get(name, 0.0) for name in DECISIONS}
    parts = [
        f"{what} {_amount(given[name], costs.get('currency', ''))}"
        for name, what in DECISIONS.items()
        if name in ("fn", "fp") or given[name] != 0
    ]
    return ", ".join(parts).replace(DECISIONS["fn"], f"{DECISIONS['fn']} costs", 1)


def describe_classes(costs: Mapping[str, Any], names: Sequence[str]) -> str:
    """Say what errors cost between more than two classes of these names.

    >>> names = ["ok", "spam", "fraud"]
    >>> describe_classes({"fn": 10.0, "fp": 1.0, "currency": "EUR"}, names)
    'ok is the negative class: missing another costs 10 EUR, any other error 1 EUR'
    >>> describe_classes({"fn": 1.0, "fp": 1.0}, names)
    'every error costs 1'
    >>> matrix = [[0, 1, 1], [5, 0, 1], [40, 9, 0]]
    >>> describe_classes({"matrix": matrix}, names)
    'errors cost 1 to 40 by the cost matrix, most of all deciding ok when it is fraud'
    """
    currency = costs.get("currency", "")
    if costs.get("matrix") is None:
        if costs["fn"] == costs["fp"]:
            return f"every error costs {_amount(costs['fn'], currency)}"
        missed, wrong = (_amount(costs[name], currency) for name in ("fn", "fp"))
        return (
            f"{names[0]} is the negative class: missing another costs {missed}, any "
            f"other error {wrong}"
        )
    errors = {
        (y, k): cost
        for y, row in enumerate(costs["matrix"])
        for k, cost in enumerate(row)
        if y != k
    }
    y, k = max(errors, key=lambda pair: errors[pair])
    least, most = amount(min(errors.values())), _amount(errors[y, k], currency)
    return (
        f"errors cost {least} to {most} by the cost matrix, most of all deciding "
        f"{names[k]} when it is {names[y]}"
    )


def unit(costs: Mapping[str, Any], classes: int = 2) -> str:
    """Return the unit of costs: the currency, a kind of error, or nothing.

    >>> unit({"fn": 10.0, "fp": 1.0}), unit({"fp": 5.0}), unit({"currency": "EUR"})
    ('false alarms', '', 'EUR')
    >>> unit({"fn": 1.0, "fp": 1.0}, 3), unit({"matrix": [[0, 1], [5, 0]]}, 3)
    ('errors', 'units of the cost matrix')
    """
    if costs.get("currency"):
        return str(costs["currency"])
    if classes == 2:
        return "false alarms" if costs.get("fp") == 1 else ""
    if costs.get("matrix") is not None:
        return "units of the cost matrix"
    return "errors" if costs.get("fn") == costs.get("fp") == 1 else ""


def _amount(value: Any, currency: str) -> str:
    if isinstance(value, str):
        return f"its {value!r}"
    return f"{amount(value)} {currency}".rstrip()
