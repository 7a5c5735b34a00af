"""A summary card of a fitted pool, for people who use a pool that others fitted."""

from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any

from truepool.panel.costs import Costs
from truepool.panel.labels import Labels
from truepool.pools.interface.pool import NO_COSTS, Pool
from truepool.pools.interface.result import Explanation, Training
from truepool.tables.schema import Schema


@dataclass(frozen=True)
class Card:
    """A fitted pool in plain values.

    Attributes
    ----------
    pool : str
        Its name; ``explanation`` has the name of the pool that `auto` chose.
    settings : dict
        What else its constructor was given, as text where JSON has no form for it.
    threshold : float, optional
        Where two classes are decided: the one that was set, or the costs'. None where
        the costs of each case decide.
    library : str
        Version of truepool that fitted it.
    table : Schema, optional
        What the columns were of the table that it was fitted on; `truepool score`
        expects new cases to be alike.
    """

    pool: str
    explanation: Explanation
    settings: dict[str, Any]
    agents: tuple[str, ...]
    labels: Labels
    costs: Costs
    threshold: float | None
    training: Training
    library: str
    table: Schema | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON."""
        values = asdict(replace(self, table=None))
        del values["labels"]
        values["table"] = None if self.table is None else self.table.to_dict()
        values["outcome_labels"] = self.labels.to_dict(self.training.counts)
        values["training"]["base_rates"] = self.training.base_rates
        return values


def card_of(
    pool: Pool, library: str | None = None, table: Schema | None = None
) -> Card:
    """Return the card of a fitted pool.

    >>> from truepool.pools.mean import Mean
    >>> card = card_of(Mean(threshold=0.3).fit([[0.9, 0.6], [0.2, 0.4]], [1, 0]))
    >>> card.pool, card.agents, card.threshold, card.training.cases
    ('mean', ('agent0', 'agent1'), 0.3, 2)
    """
    costs = NO_COSTS if pool.costs is None else pool.costs
    binary = len(pool.classes_) == 2
    implied = pool.threshold is None and binary and costs.constant
    given = float(costs.threshold) if implied else pool.threshold
    return Card(
        pool.name,
        pool.explain(),
        {
            name: _plain(value)
            for name, value in pool.get_params(deep=False).items()
            if name not in ("costs", "threshold")
        },
        pool.agents_,
        pool.labels_,
        costs,
        given,
        pool.training_,
        version("truepool") if library is None else library,
        table,
    )


def _plain(value: Any) -> Any:
    plain = value is None or isinstance(value, bool | int | float | str)
    return value if plain else repr(value)
