"""The command line, as its parsers describe it."""

from typing import Any

from reference.page import NOTE, join

WIDTH = 100
"""Characters of a line of help."""


def cli() -> str:
    """Return the help of every verb, as the parsers print it."""
    from truepool.cli.verbs import every_command

    parts = [
        "# Command line",
        NOTE,
        "What `--help` prints. Each command has a [page](../which_command.md) with"
        " examples.",
    ]
    for words, command in every_command():
        path = f"truepool {words}".strip()
        if len(path.split()) > 1:
            parts.append(f"{'#' * len(path.split())} {path}")
        parts.append(f"```text\n{help_text(path, command)}\n```")
    return join(parts)


def keys() -> str:
    """Return every key of pool.toml and --set, as ``truepool help keys`` lists them."""
    from truepool.cli import keys

    rows = ["| key | value | meaning | commands |", "|---|---|---|---|"]
    for name, value, meaning, verbs in keys.every():
        cells = [f"`{name}`", f"`{value}`" if value else "", meaning, ", ".join(verbs)]
        rows.append(f"| {' | '.join(_escape(cell) for cell in cells)} |")
    return join([
        "# Keys",
        NOTE,
        "What `truepool help keys` prints. A key stands in `pool.toml`, or is set with "
        "`--set key=value` ([how](../config.md)).",
        "\n".join(rows),
    ])  # fmt: skip


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|").replace("*", "\\*")


def verbs() -> str:
    """Return what ``truepool --help`` prints on a screen of the usual width."""
    from typer.main import get_command

    from truepool.cli import PAGE_WIDTH
    from truepool.cli.verbs import app

    return help_text("truepool", get_command(app), PAGE_WIDTH) + "\n"


def help_text(path: str, command: Any, width: int = WIDTH) -> str:
    """Return the help of a command at a fixed width."""
    context = command.context_class(
        command,
        info_name=path,
        terminal_width=width,
        max_content_width=width,
        **command.context_settings,
    )
    lines = command.get_help(context).splitlines()
    return "\n".join(line.rstrip() for line in lines)
