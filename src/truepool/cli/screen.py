"""The terminal: where tables go and where progress shows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

WIDE = 120
"""Width of what is printed where there is no terminal to ask."""


def out() -> Console:
    """Return the console for standard output."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDE)


@contextmanager
def watched(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar on standard error while something runs, if anybody looks."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[name]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(what, total=None, name="")

        def step(name: str, done: int, total: int) -> None:
            bar.update(task, total=total, completed=done, name=name)

        yield step
