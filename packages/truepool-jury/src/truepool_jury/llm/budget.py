"""Budgets in calls, tokens and money, and what was spent of them."""

from dataclasses import dataclass, field

from truepool.core.errors import EndpointError, SettingError
from truepool.core.formatting import number, pluralize
from truepool_jury.llm.completion import Completion

MILLION = 1_000_000
"""Prices are per so many tokens."""


@dataclass(frozen=True)
class Budget:
    """How much one run may spend; None is no limit.

    Parameters
    ----------
    calls, tokens, money : number, optional
        Requests sent, with those that had to be repeated; tokens read and written;
        their price.
    price_in, price_out : float, optional
        Price of a million tokens of prompts, and of answers.
    currency : str
        Unit of the prices.
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    currency: str = "USD"

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "money", "price_in", "price_out"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise SettingError(
                    f"{name.replace('_', '-')} must be a number of at least 0; got "
                    f"{value}"
                )
        if (self.price_in is None) != (self.price_out is None):
            raise SettingError(
                "prices are needed of prompts and of answers; got one of price-in "
                "and price-out. Give both."
            )
        if self.money is not None and self.price_in is None:
            raise SettingError(
                "a budget in money needs the prices of a million tokens; give "
                "price-in and price-out"
            )


@dataclass
class Spending:
    """What a run has spent so far.

    Calls under way count as much as the largest finished one, so that many of them
    at once do not exceed the budget together.
    """

    budget: Budget
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    under_way: int = 0
    largest: tuple[int, int] = field(default=(0, 0))

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.tokens_in + self.tokens_out

    @property
    def money(self) -> float | None:
        """Price of the tokens; None where the prices are unknown."""
        return self._price(self.tokens_in, self.tokens_out)

    @property
    def calls_used_up(self) -> bool:
        """Whether not even a retry may be sent."""
        return self.budget.calls is not None and self.calls >= self.budget.calls

    def exhausted(self) -> str | None:
        """Return the budget that one more call might exceed, None if there is room."""
        budget, coming = self.budget, self.under_way + 1
        if self.calls_used_up:
            return pluralize(self.calls, "call")
        largest_in, largest_out = (coming * part for part in self.largest)
        most = self.tokens + largest_in + largest_out
        if budget.tokens is not None and (not budget.tokens or most > budget.tokens):
            return pluralize(budget.tokens, "token")
        price = self._price(self.tokens_in + largest_in, self.tokens_out + largest_out)
        if budget.money is not None and (
            not budget.money or (price or 0) > budget.money
        ):
            return f"{number(budget.money)} {budget.currency}"
        return None

    def add(self, completion: Completion) -> None:
        """Count a finished call."""
        used = completion.tokens_in, completion.tokens_out
        if None in used:
            if self.budget.tokens is not None or self.budget.money is not None:
                raise EndpointError(
                    "a budget in tokens or money needs an endpoint that counts tokens; "
                    "this one does not. Limit the calls instead (budget-calls)."
                )
            return
        self.tokens_in += used[0] or 0
        self.tokens_out += used[1] or 0
        self.largest = (
            max(self.largest[0], used[0] or 0),
            max(self.largest[1], used[1] or 0),
        )

    def describe(self) -> str:
        """Return calls, tokens and money in words.

        >>> Spending(Budget(price_in=1, price_out=2), 3, 1000, 500).describe()
        '3 calls, 1,500 tokens, 0.00200 USD'
        """
        words = [pluralize(self.calls, "call"), pluralize(self.tokens, "token")]
        if self.money is not None:
            words.append(f"{number(self.money)} {self.budget.currency}")
        return ", ".join(words)

    def _price(self, tokens_in: int, tokens_out: int) -> float | None:
        if self.budget.price_in is None or self.budget.price_out is None:
            return None
        paid = tokens_in * self.budget.price_in + tokens_out * self.budget.price_out
        return paid / MILLION
