"""How the new cases of ``truepool score`` are written."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from truepool.tables import TableFormat

WRITTEN = ("time_format", "sep", "decimal", "missing", "percent", "scores")
LONG = ("long", "decision_time", "updates")
"""What new cases take from the table of the fit: how it is written, and its layout."""


def _is_there(source: Path | BinaryIO) -> bool:
    return not isinstance(source, Path) or source.is_file()


def _check_keys(
    keys: list[str], long: tuple[str, str, str], agents: tuple[str, ...]
) -> None:
    """Refuse JSON lines that have neither the columns of a long table nor an agent."""
    from truepool.core.errors import AgentError
    from truepool.panel.labels import format_names

    if keys and not set(long) <= set(keys) and set(keys).isdisjoint(agents):
        raise AgentError(
            f"JSON lines must have the keys {', '.join(long)}, as the table of the fit "
            f"had, or agents of the pool ({format_names(agents)}); got "
            f"{format_names(keys)}. Rename them, or say which they are: --long CASE "
            "AGENT REPORT."
        )


def format_of_new(
    source: Path | BinaryIO,
    given: dict[str, Any],
    fitted_on: "TableFormat",
    agents: tuple[str, ...],
) -> "TableFormat":
    """How the new cases are written: as was said, else like the table of the fit.

    They need not have its id column, nor be a long table because it was one. Words for
    no report are added to those that it had.
    """
    from truepool.core.errors import SettingError
    from truepool.tables import TableFormat, read_column_names
    from truepool.tables.batches import is_json_lines
    from truepool.tables.dataset import open_dataset
    from truepool.tables.files import is_dataset, parse_header
    from truepool.tables.json_lines import json_keys, peek
    from truepool.tables.table_format import TIME_WEIGHTED

    before = vars(fitted_on.of_new_cases(()))
    known = {name: before[name] for name in ("time", *WRITTEN, *LONG)} | given
    words = dict.fromkeys((*fitted_on.missing, *given.get("missing", ())))
    known["missing"] = tuple(words)
    if known["updates"] == TIME_WEIGHTED:
        raise SettingError(
            "new cases are decided by the last report of each agent; got --updates "
            f"{TIME_WEIGHTED}. Leave it out."
        )
    if fitted_on.long and "long" not in given:
        names: list[str] = []
        if isinstance(source, Path) and is_dataset(source):
            names = open_dataset(source).columns
        elif isinstance(source, Path) and not is_json_lines(source):
            names = read_column_names(source, sep=known["sep"])
        elif is_json_lines(source):
            names = json_keys(source) if _is_there(source) else []
            _check_keys(names, fitted_on.long, agents)
        elif not isinstance(source, Path):
            header = peek(source).partition(b"\n")[0]
            names = parse_header(header, known["sep"])[0] if header.strip() else []
        if not set(fitted_on.long) <= set(names):
            known |= {name: vars(TableFormat())[name] for name in LONG}
    return TableFormat(**known)


def usual_id_of(fitted_on: "TableFormat") -> str:
    """Return the column that named the cases when the pool was fitted."""
    return fitted_on.id or (fitted_on.long or ("id",))[0]
