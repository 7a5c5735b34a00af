"""Measure `auto` alone again, beside the rows on file: ``python -m race.again [DRAWS]``.

The peers do not change with truepool, so their environments are not needed.
"""

import sys

import numpy as np

from race.__main__ import stored
from race.comparison import MEAN
from race.measurement import OURS, case_losses, pool_answer
from race.panels import DRAWS, JUDGING
from truepool.core.engine import Cell
from truepool.pools.interface import configure


def main() -> None:
    """Print the losses of `auto`, now and on file, relative to those of the mean."""
    draws = int(sys.argv[1]) if sys.argv[1:] else DRAWS
    rows, _ = stored()
    panels = []
    for panel in JUDGING:
        found = []
        for number in range(draws):
            draw = panel.draw(number)
            answer = pool_answer(configure(OURS), draw)
            now = case_losses(answer.pooled, draw).mean(axis=0)
            cell = rows[Cell("race", (("panel", panel.name),), number)]
            on_file = {row["name"]: row["means"] for row in cell if "means" in row}
            found.append((now, on_file[OURS], on_file[MEAN]))
        now, before, mean = np.mean(found, axis=0)
        panels.append((now / mean, before / mean))
        show(panel.name, *panels[-1])
    show("average", *np.mean(panels, axis=0))


def show(name: str, now: np.ndarray, before: np.ndarray) -> None:
    """Print one line: cost, log loss and Brier loss, now and on file."""
    pairs = zip(summarise(now), summarise(before), strict=True)
    print(f"{name:22}" + "".join(f"{a:8.4f} {b:7.4f}" for a, b in pairs), flush=True)


def summarise(relative: np.ndarray) -> tuple[float, float, float]:
    """Return the cost averaged over the ratios, the log loss and the Brier loss."""
    return float(relative[:-2].mean()), float(relative[-2]), float(relative[-1])


if __name__ == "__main__":
    main()
