"""Where a verb does its work: the keys ``engine`` and ``address``."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from truepool.core.engine import Engine


def choose(name: str, address: str | None, jobs: int | None) -> "Engine | None":
    """Return the engine of a verb that counts jobs; None for processes here."""
    from truepool.core.engine import make_engine
    from truepool.core.errors import SettingError

    engine = make_engine(name, address)
    if engine.in_process:
        return None
    if jobs is not None:
        raise SettingError(
            f"jobs counts processes of this machine; got {jobs} with engine="
            f"{name}, which uses every core that the cluster has free. Leave out one."
        )
    return engine


@contextmanager
def opened(engine: "Engine | None") -> Iterator[None]:
    """Open an engine, if there is one, for as long as it works.

    Ray prints to standard output when a worker dies; only results belong there.
    """
    if engine is None or engine.in_process:
        yield
        return
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
        engine,
    ):
        yield
