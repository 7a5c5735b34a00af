"""The terminal: where tables go and where progress shows."""

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

WIDE = 120
"""Width of what is printed where there is no terminal to ask."""


def out() -> Console:
    """Return the console for standard output."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDE)


def say(sentence: str) -> None:
    """Print a sentence whole; names in it come from users and are no markup."""
    out().print(sentence, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def watched(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar on standard error while something runs, if anybody looks."""
    with _bar(what, MofNCompleteColumn()) as step:
        yield step


@contextmanager
def timed(what: str) -> Iterator[Callable[[str, float, float], None]]:
    """Show how much is done, and how much time is left by the pace so far."""
    with _bar(what, TaskProgressColumn(), TimeRemainingColumn()) as step:
        yield step


@contextmanager
def _bar(
    what: str, *columns: ProgressColumn
) -> Iterator[Callable[[str, float, float], None]]:
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        TextColumn("{task.fields[name]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=600.0,
    )
    with bar:
        task = bar.add_task(what, total=None, name="")

        def step(name: str, done: float, total: float) -> None:
            bar.update(task, total=total, completed=done, name=name)

        yield step
