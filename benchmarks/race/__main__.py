"""Measure what is missing, and write the page: ``python -m race``."""

import os
import sys
import warnings
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from race import page
from race.comparison import Rows
from race.libraries import LIBRARIES, Peer, prepare
from race.measurement import measure
from race.panels import DEVELOPMENT, DRAWS, JUDGING
from truepool.core.engine import Batch, Cell, RowFile, run
from truepool.core.files import cache_folder

VERSION = "3"
"""Of what is judged: a new one measures everything again."""
EARLIER = {
    "1": "before learning was made faster",
    "2": "before every rare positive counted",
}
"""Versions that were judged before; the page shows what they reached."""
DEVELOPMENT_DRAWS = 2
SPEED = ("heart-40", "unsw-exploits", "web-sparse", "unsw-kinds-K5")
"""Panels on which times are measured: few cases, many, many agents, many classes."""
HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"


def cells() -> list[Cell]:
    """Every panel and draw, a draw of all panels before the next; then the speed."""
    counts = [(panel, DRAWS) for panel in JUDGING]
    counts += [(panel, DEVELOPMENT_DRAWS) for panel in DEVELOPMENT]
    race = [
        Cell("race", (("panel", panel.name),), number)
        for number in range(DRAWS)
        for panel, draws in counts
        if number < draws
    ]
    return race + [Cell("speed", (("panel", name),), 0) for name in SPEED]


def main() -> None:
    """Run the race and write ``docs/race.md`` with its figures."""
    # Libraries warn about few cases, missing values and settings to come.
    warnings.simplefilter("ignore")
    os.environ["OMP_NUM_THREADS"] = "1"
    file = RowFile(RESULTS, VERSION)
    every = cells()
    if any(cell not in file for cell in every):
        folder = cache_folder() / "race"
        with ExitStack() as stack:
            peers: dict[str, Peer | str] = {}
            for library in LIBRARIES:
                python = prepare(library, folder)
                if isinstance(python, str):
                    say(f"{library.name} {python}")
                    peers[library.name] = python
                    continue
                peer = Peer(library, python, folder / "answers")
                peers[library.name] = stack.enter_context(peer)
            work = partial(measure, peers=peers)
            run([Batch(work, every, file)], progress=show)
    page.write(*stored(), HERE.parents[1] / "docs")


def stored() -> tuple[Rows, dict[str, Rows]]:
    """Rows of this version, and those of the earlier ones by what they were."""
    files = {version: RowFile(RESULTS, version) for version in (*EARLIER, VERSION)}
    rows = {
        version: {cell: file[cell] for cell in cells() if cell in file}
        for version, file in files.items()
    }
    return rows[VERSION], {what: rows[version] for version, what in EARLIER.items()}


def show(name: str, done: float, total: float) -> None:
    """Say how far the race is."""
    say(f"{name}: {done:.0f} of {total:.0f}")


def say(text: str) -> None:
    """Write a line for whoever waits."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
