"""The terminal: tables and sentences on standard output, progress on standard error."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment

from truepool.core.formatting import printable

WIDTH = 120
"""Width of tables where standard output is not a terminal."""


class Screen(Console):
    """A console that shows names literally, as they come from users.

    Nothing in text is markup, and what a terminal would obey is left out.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render an object to segments of text."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            plain = control or text.isprintable() or not text.strip(" \n")
            yield segment if plain else Segment(printable(text), style)


def console(*, stderr: bool = False) -> Console:
    """Return the console for standard output, or for standard error."""
    screen = partial(Screen, markup=False, highlight=False, stderr=stderr)
    terminal = screen()
    return terminal if terminal.is_terminal else screen(width=WIDTH)


def print_line(sentence: str) -> None:
    """Print a sentence on one line."""
    console().print(sentence, soft_wrap=True)


@contextmanager
def clock(title: str, name: str) -> Iterator[None]:
    """Show how long one step has taken, when standard error is a terminal."""
    with _bar([TimeElapsedColumn()]) as bar:
        bar.add_task(title, total=None, name=name)
        yield


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
    with _bar(columns) as bar:
        task = bar.add_task(title, total=None, name="")

        def step(name: str, done: float, total: float) -> None:
            bar.update(task, total=total, completed=done, name=name)

        yield step


def _bar(columns: list[ProgressColumn]) -> Progress:
    errors = console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *columns,
        TextColumn("{task.fields[name]}", markup=False),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
        speed_estimate_period=600.0,
    )
