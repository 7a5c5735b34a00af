"""Options that a table brings along: an export of a ledger has labels and costs."""

import shlex
from pathlib import Path
from typing import Any

import typer

TABLES = ("panel", "table", "train")
"""Parameters of verbs that name a table with outcomes."""
COSTS = ("cost_fn", "cost_fp", "cost_tp", "cost_tn", "cost_matrix", "threshold")
"""Options that are taken from the export together, or not at all."""


def apply(given: dict[str, Any], context: typer.Context) -> list[str]:
    """Fill in the options that an export has and nobody gave; return notes on them."""
    from truepool.tables.export import read_options
    from truepool.tables.files import is_dataset, is_parquet

    table = next((given[name] for name in TABLES if given.get(name)), None)
    if not isinstance(table, Path) or not is_parquet(table) or is_dataset(table):
        return []
    known = read_options(table)
    if _is_given(context, "outcome") and given["outcome"] != known.get("outcome"):
        known.pop("positive", None)
    if any(_is_given(context, name) for name in COSTS):
        known = {n: v for n, v in known.items() if n not in (*COSTS, "currency")}
    used = {
        name: value
        for name, value in known.items()
        if name in given and not _is_given(context, name)
    }
    if not used:
        return []
    given |= used
    words = [f"--{n.replace('_', '-')} {shlex.quote(str(v))}" for n, v in used.items()]
    notes = [f"From the export: {' '.join(words)}."]
    if context.info_name == "audit" and not _is_given(context, "pool"):
        notes.append(
            f"This audits the pool {given['pool']} on these reports, not the "
            "coordinator's rule; --pool names another."
        )
    return notes


def _is_given(context: typer.Context, name: str) -> bool:
    """Whether the command line or a config file has the option."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"
