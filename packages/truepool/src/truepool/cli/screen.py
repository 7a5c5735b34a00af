"""The terminal: tables and sentences on standard output, progress on standard error."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from time import monotonic

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
"""Width of tables where standard output is not a terminal, unless COLUMNS is set."""
PATIENCE = 2.0
"""Seconds before the progress of reading a data set is shown."""
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


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
    if terminal.is_terminal:
        return terminal
    asked = os.environ.get("COLUMNS", "")
    return screen(width=int(asked) if asked.isdecimal() else WIDTH)


def print_line(sentence: str) -> None:
    """Print a sentence on one line."""
    console().print(sentence, soft_wrap=True)


@contextmanager
def no_progress(quiet: bool) -> Iterator[None]:
    """Show no progress inside, if so told (``--quiet``)."""
    before = _quiet.set(quiet)
    try:
        yield
    finally:
        _quiet.reset(before)


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


@contextmanager
def row_progress(
    title: str, total: int | None, what: str
) -> Iterator[Callable[[int], None]]:
    """Show rows per second, time left, memory and ``what`` will be written.

    From `PATIENCE` on, when standard error is a terminal. ``total`` rows are read; None
    where nobody knows. The function that is lent is called with the rows just read.
    """
    bar = _bar([TaskProgressColumn(), TimeRemainingColumn()])
    task = bar.add_task(title, total=total, name=what)
    start, done = monotonic(), 0

    def step(rows: int) -> None:
        nonlocal done
        done += rows
        took = monotonic() - start
        if took >= PATIENCE and not bar.disable:
            bar.start()
            name = f"{done / took:,.0f} rows/s, {_memory()}{what}"
            bar.update(task, completed=done, name=name)

    try:
        yield step
    finally:
        bar.stop()


def _memory() -> str:
    """Most memory used so far, for the user; nothing where the system does not say."""
    if sys.platform == "win32":
        return ""
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return f"{used:,.0f} MiB of memory, "


def _bar(columns: list[ProgressColumn]) -> Progress:
    errors = console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *columns,
        TextColumn("{task.fields[name]}", markup=False),
        console=errors,
        transient=True,
        disable=_quiet.get() or not errors.is_terminal,
        speed_estimate_period=600.0,
    )
