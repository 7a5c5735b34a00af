"""What a saved pool is, as tables."""

from collections.abc import Iterator
from dataclasses import asdict

from truepool.pages.costs import describe, describe_classes
from truepool.pages.grid import Grid
from truepool.pages.labels import class_names, sentence
from truepool.pages.numbers import percent
from truepool.pages.weights import SHOWN, explanation_grids
from truepool.panel.labels import format_names
from truepool.pools.interface.card import Card
from truepool.tables.schema import Schema


def grids(card: Card) -> tuple[Grid, ...]:
    """Lay out what a pool is and, where it has them, its weights."""
    explanation = card.explanation
    rows = [
        ("pool", card.pool),
        ("agents", _agents(card.agents)),
        ("costs", _costs(card)),
        ("training cases", f"{card.training.cases:,}"),
        ("missing reports", percent(card.training.missing)),
        ("truepool", card.library),
    ]
    if card.table is not None:
        rows += _columns(card.table)
    if card.threshold is not None:
        rows.insert(3, ("decides positive above", f"{card.threshold:.4g}"))
    if explanation.name != card.pool:
        rows.insert(1, ("chosen", explanation.name))
    given = ((n, v) for n, v in card.settings.items() if v is not None)
    rows += [(f"setting {name}", str(value)) for name, value in given]
    notes = [sentence(card.labels, card.training.counts)]
    if explanation.why is not None:
        notes.append(f"Why: {explanation.why}.")
    title = f"Pool: {card.pool}"
    first = Grid(title, ("", ""), tuple(rows), tuple(notes), prose=True)
    return (first, *explanation_grids(explanation))


def _columns(table: Schema) -> Iterator[tuple[str, str]]:
    """Say which columns the table of the fit had, and in which units agents report."""
    named = {"outcome": table.outcome, "id": table.id, "time": table.time}
    named["long table"] = None if table.long is None else ", ".join(table.long)
    yield from ((what, name) for what, name in named.items() if name is not None)
    units = [
        f"{agent} {'in percent' if unit.kind == 'percent' else unit.span}"
        for agent, unit in table.units.items()
    ]
    if units:
        yield "units", format_names(units)


def _agents(agents: tuple[str, ...]) -> str:
    if len(agents) <= SHOWN:
        return ", ".join(agents)
    return f"{len(agents):,}: {format_names(agents)}"


def _costs(card: Card) -> str:
    if card.costs.matrix is not None:
        return "; ".join(
            ", ".join(f"{cost:g}" for cost in row) for row in card.costs.matrix
        )
    if len(card.labels.names) > 2:
        return describe_classes(asdict(card.costs), class_names(card.labels.names))
    return describe(asdict(card.costs))
