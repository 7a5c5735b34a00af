"""How many labelled rows learned weights need, on real data."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from truepool import Mean, Panel
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.engine import Cell, Row
from truepool.pools import Pool
from truepool.pools.vote import Vote
from truepool_lab.paper.charts import Series, lines
from truepool_lab.paper.interface import Axes, Experiment, Reading, Size, row
from truepool_lab.paper.methods import ON_LOG_ODDS, pool_with, stack, tally, vcg
from truepool_lab.paper.real_task import PACKAGES, PROTOCOL, ROWS, SOURCES, Task, task
from truepool_lab.paper.settings import THRESHOLD, VALIDATION_SHARE
from truepool_lab.paper.verdicts import numbers, summarise
from truepool_lab.pools.stacked_mlp import StackedMLP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLE, SPLIT, FIGURE = "tab:sample", "tab:vcg_decomp", "fig:vcg_decomp"
SIZES = {SAMPLE: (100, 200, 500, 1000, 2000), SPLIT: (50, 100, 200, 500, 2000)}
ALL = (50, 100, 200, 500, 1000, 2000)
POSITIVE = {"NSL-KDD": 0.48, "Credit Card": 0.0098, "UNSW-NB15": 0.5506}
"""Share of positives at the paper's size (of UNSW-NB15: in our partition)."""
LEAST = 10
"""Fewest rows of each class in a sample: 100 rows would have one fraud or none."""
READING = (
    f"{PROTOCOL}; of these 70 % only n rows are labelled, by class as in the data but "
    f"at least {LEAST} of each: agents learn from four fifths of them and the pool "
    "from the last fifth; threshold 0.5, as tab:hyperparams says where nothing else is "
    "said; VCG by the 0/1 cost loss"
)
STACKED = (
    "; stacking on the probabilities of agents cross-fitted in 3 folds over all n rows "
    "(sec:experiments; the extra columns that end in 'on log-odds': on the log-odds of "
    "the last fifth)."
)
MORE = (
    ". In the columns that end in 'more labels' it learns from a fifth of all of the "
    "70 % instead."
)

UNSW = (
    "Of UNSW-NB15 one partition is at hand (55 % attacks, "
    "not 64 %): VCG's printed recall there is 0.945 with 100 rows already, ours grows "
    "from 0.855 to 0.955; and Credit Card with 1,000 rows. "
)
WEIGHTS_CAUSE = (
    "With 200 rows of NSL-KDD the weights of VCG are learned from 40 of them here, and "
    "it then misses more than equal weights; learned from a "
    "fifth of all training rows (extra columns) it misses less than these from 100 "
    "rows on, as printed. "
)
FRAUD = (
    "Levels of Credit Card hang on how many frauds are among n rows, which is not said "
    "and on which the paper's tables disagree: with 200 rows VCG misses 0.227 in "
    "tab:sample and 0.270 in tab:vcg_decomp."
)


@final
class SampleSize(Experiment):
    """Nested samples of growing size, with the same test rows."""

    name: ClassVar[str] = "sample-size"
    axes: ClassVar[Axes] = {"data": tuple(SOURCES)}
    by_size: ClassVar[bool] = True
    version: ClassVar[str] = "2"  # stacking as sec:experiments states it
    repeats: ClassVar[Mapping[Size, int]] = {"quick": 1, "full": 10}
    readings: ClassVar[Mapping[str, Reading]] = {
        SAMPLE: Reading(
            READING + STACKED,
            UNSW + FRAUD,
            methods="columns",
        ),
        SPLIT: Reading(
            READING + MORE,
            WEIGHTS_CAUSE + FRAUD,
            methods="columns",
        ),
        FIGURE: Reading("The curves of tab:vcg_decomp."),
    }
    needs: ClassVar[tuple[str, ...]] = tuple(SOURCES.values())
    packages: ClassVar[Mapping[str, str]] = PACKAGES

    def effort(self, cell: Cell) -> float:
        """One hundred and thirty small agents."""
        return 50.0 if cell["size"] == "full" else 18.0

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Train on more and more rows."""
        data = cell["data"]
        here = task(SOURCES[data], ROWS[cell["size"]][data], cell)
        return [found for n in ALL for found in _learning_rows(data, here, n)]

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw misses against n for both data sets."""
        means = summarise(rows, SPLIT)
        sizes = SIZES[SPLIT]
        keys = [(n,) for n in sizes]
        panels = {
            data: {
                method: Series(sizes, numbers(means, keys, f"{data}/{method} FN"))
                for method in ("VCG", "Equal")
            }
            for data in ("NSL-KDD", "Credit Card")
        }
        return lines(panels, "labelled rows", "FN", log_x=True)


def labelled_rows(here: Task, n: int, share: float) -> tuple[IntArray, IntArray]:
    """Return the labelled training rows of the agents, and those of the pool.

    ``share`` of them are positive.
    """
    rest = np.concatenate([here.train_rows, here.validation_rows])
    y = here.y[rest]
    positive = min(max(round(n * share), LEAST), n - LEAST)
    parts = [rest[y == k][:wanted] for k, wanted in ((0, n - positive), (1, positive))]
    validation = [part[: round(VALIDATION_SHARE * len(part))] for part in parts]
    train = [part[len(some) :] for part, some in zip(parts, validation, strict=True)]
    return np.concatenate(train), np.concatenate(validation)


def _learning_rows(data: str, here: Task, n: int) -> list[Row]:
    learn, validation = labelled_rows(here, n, POSITIVE[data])
    team = here.train_agents(learn=learn)
    test = team.panel(here.test_rows)
    known, more = (
        team.panel(validation),
        team.panel(np.setdiff1d(here.validation_rows, learn)),
    )
    rows = _fn_rows(data, n, known, test, more) if n in SIZES[SPLIT] else []
    if n in SIZES[SAMPLE]:
        labelled = np.concatenate([learn, validation])
        stacked = stack(*here.cross_fitted(labelled=labelled), here.seed)
        rows += _recalls(data, n, known, test, here.seed, stacked)
    return rows


def _recalls(
    data: str,
    n: int,
    known: Panel,
    test: Panel,
    seed: int,
    stacked: Mapping[str, FloatArray],
) -> list[Row]:
    pools: dict[str, Pool] = {
        "VCG": vcg(),
        ON_LOG_ODDS["Stacking-MLP"]: StackedMLP(seed=seed),
        "Majority Vote": Vote(threshold=THRESHOLD),
    }
    outputs = {m: pool_with(pool, known, test) for m, pool in pools.items()}
    outputs.update(stacked)
    return [
        row(SAMPLE, [n], f"{data}/{m}", tally(pooled, test).recall)
        for m, pooled in outputs.items()
    ]


def _fn_rows(data: str, n: int, known: Panel, test: Panel, more: Panel) -> list[Row]:
    ways: dict[str, tuple[Pool, Panel]] = {
        "VCG FN": (vcg(), known),
        "Equal FN": (Mean(), known),
        "VCG FN, more labels": (vcg(), more),
    }
    found = {w: tally(pool_with(*way, test), test) for w, way in ways.items()}
    return [row(SPLIT, [n], f"{data}/{w}", got.fn_rate) for w, got in found.items()]
