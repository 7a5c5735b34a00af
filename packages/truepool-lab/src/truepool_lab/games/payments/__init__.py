"""Payments: what agents are paid for. The folder is the registry."""

from typing import Any, cast

from truepool.core import registry
from truepool_lab.games.payments.interface import Payment
from truepool_lab.games.payoffs import Curve, Payoff, Squares, Steps

__all__ = [
    "Curve",
    "Payment",
    "Payoff",
    "Squares",
    "Steps",
    "as_payment",
    "every",
    "make",
]


def every() -> dict[str, type[Payment]]:
    """All payments by name.

    >>> sorted(every())[:3]
    ['brier', 'externality', 'log']
    """
    return cast(dict[str, type[Payment]], registry.every(__name__))


def make(name: str, /, **settings: Any) -> Payment:
    """Make the payment of that name with these settings.

    >>> make("vcg", loss="brier")
    VCG(loss='brier')
    """
    return cast(Payment, registry.make("payment", name, **settings))


def as_payment(payment: str | Payment) -> Payment:
    """Return the payment of that name; an instance is returned unchanged.

    >>> as_payment("brier")
    Brier()
    """
    return payment if isinstance(payment, Payment) else make(payment)
