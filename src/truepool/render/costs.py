"""What decisions cost, in words, with its unit."""

from collections.abc import Mapping
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


def unit(costs: Mapping[str, Any]) -> str:
    """Return the unit of costs: the currency, false alarms, or nothing.

    >>> unit({"fn": 10.0, "fp": 1.0}), unit({"fp": 5.0}), unit({"currency": "EUR"})
    ('false alarms', '', 'EUR')
    """
    if costs.get("currency"):
        return str(costs["currency"])
    return "false alarms" if costs.get("fp") == 1 else ""


def _amount(value: Any, currency: str) -> str:
    if isinstance(value, str):
        return f"its {value!r}"
    return f"{amount(value)} {currency}".rstrip()
