"""What an export of a ledger says about itself: how to read it, and its costs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from truepool.panel.costs import Costs
from truepool.panel.labels import Labels

KEY = b"truepool"
"""Of the metadata of a Parquet file: options of commands as JSON, by parameter."""
TEXT = (
    "outcome",
    "positive",
    "cost_fn",
    "cost_fp",
    "cost_tp",
    "cost_tn",
    "cost_matrix",
    "currency",
)


def describe(
    outcome: str, labels: Labels, costs: Costs, threshold: float | None
) -> dict[str, Any]:
    """Return the options with which a command reads and decides as the pool does."""
    found: dict[str, Any] = {"outcome": outcome}
    if labels.positive is not None and not labels.plain:
        found["positive"] = str(labels.positive)
    if costs.matrix is not None:
        rows = (",".join(map(_text, row)) for row in costs.matrix)
        found["cost_matrix"] = ";".join(rows)
    else:
        found |= {f"cost_{n}": _text(getattr(costs, n)) for n in ("fn", "fp")}
        for name in ("tp", "tn"):
            if getattr(costs, name) != 0:
                found[f"cost_{name}"] = _text(getattr(costs, name))
    if costs.currency:
        found["currency"] = costs.currency
    if threshold is not None:
        found["threshold"] = threshold
    return found


def with_options(table: pa.Table, options: Mapping[str, Any]) -> pa.Table:
    """Return a table that has options in its metadata."""
    return table.replace_schema_metadata({KEY: json.dumps(options).encode()})


def read_options(path: Path) -> dict[str, Any]:
    """Return the options of a Parquet file; none if it has none, or is no such file."""
    try:
        return options_of(parquet.read_schema(path))
    except (pa.ArrowException, OSError):
        return {}


def cost_columns(schema: pa.Schema) -> list[str]:
    """Return the columns of an export that hold what errors cost in each case."""
    options = options_of(schema)
    costs = {str(options.get(name)) for name in TEXT if name.startswith("cost_")}
    return [name for name in schema.names if name in costs]


def options_of(schema: pa.Schema) -> dict[str, Any]:
    """Return the options in the metadata of a table; none if it has none."""
    try:
        found = json.loads((schema.metadata or {})[KEY])
    except (LookupError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    known = {name: found[name] for name in TEXT if isinstance(found.get(name), str)}
    if isinstance(found.get("threshold"), float):
        known["threshold"] = found["threshold"]
    return known


def _text(cost: Any) -> str:
    """A cost as an option has it: a number, or the name of a column."""
    return cost if isinstance(cost, str) else f"{cost:.15g}"
