"""The terminal: tables and sentences on standard output, progress on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

WIDTH = 120
"""Width of tables where standard output is not a terminal."""


def console() -> Console:
    """Return the console for standard output."""
    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=WIDTH)


def print_line(sentence: str) -> None:
    """Print a sentence on one line; names in it come from users and are no markup."""
    console().print(sentence, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def progress_bar(
    title: str, *, remaining: bool = False
) -> Iterator[Callable[[str, float, float], None]]:
    """Show progress when standard error is a terminal.

    Counts steps; with ``remaining``, shows the share done and the time left instead.
    """
    columns: list[ProgressColumn] = [MofNCompleteColumn()]
    if remaining:
        columns = [TaskProgressColumn(), TimeRemainingColumn()]
    errors = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        TextColumn("{task.fields[name]}"),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
        speed_estimate_period=600.0,
    )
    with bar:
        task = bar.add_task(title, total=None, name="")

        def step(name: str, done: float, total: float) -> None:
            bar.update(task, total=total, completed=done, name=name)

        yield step
