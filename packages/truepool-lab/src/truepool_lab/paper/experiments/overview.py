"""The four claims of the paper in one figure, as measured."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

from truepool import VCG
from truepool.core.engine import Cell, Row, cells
from truepool.measures.scores import confusion
from truepool.pages.figures.style import house_style
from truepool.pools import Pool
from truepool.pools.stacked_lr import StackedLR
from truepool.pools.vote import Vote
from truepool_lab.paper.canonical_game import (
    ABOVE,
    CALIBRATED,
    REPEATS,
    game_cells,
    solve,
)
from truepool_lab.paper.charts import Series, draw_bars, draw_lines, side_by_side
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.paper.settings import COSTS, THRESHOLD, VALIDATION_SHARE
from truepool_lab.paper.synthetic_task import task, train_ensemble
from truepool_lab.paper.verdicts import Measurement, Place, numbers, summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURE = "fig:overview"
OFFSETS = (ABOVE, CALIBRATED)
OFFSET_NAMES = [f"offset {ABOVE:+g}", "calibrated"]
MECHANISMS = ("Brier", "VCG")
TRAIN_SIZES, TEST_ROWS = (100, 200, 500), 2000
STEPS = (
    "agents, each on some features",
    "reports: probabilities",
    "weights by marginal contribution,\nupdated online",
    "pool, decided at the threshold",
)


@final
class Overview(Experiment):
    """Bias and misses from the game, data efficiency from the synthetic task."""

    name: ClassVar[str] = "overview"
    readings: ClassVar[Mapping[str, Reading]] = {
        FIGURE: Reading(
            "(a), (b): the game of tab:poa at its belief offset of +0.36 and with "
            "calibrated agents (offset 0); misses (FN) stand for prices, which are "
            "undefined where truth misses nobody. (c): the clean synthetic task, five "
            "scikit-learn agents on silos of 60 % of the features, a fifth of the "
            "training rows held out for the weights. (d): the pipeline, drawn."
        )
    }

    def cells(self, size: Size) -> list[Cell]:
        """Return games and sizes of training sets."""
        game = game_cells(self.name, size, {"part": ["game"], "offset": OFFSETS})
        repeats = REPEATS["full"] if size == "full" else 2
        fitted_axes = cells(self.name, repeats, {"part": ["data"], "rows": TRAIN_SIZES})
        return game + fitted_axes

    def effort(self, cell: Cell) -> float:
        """Mostly the training."""
        return 1.0 if cell["part"] == "data" else 0.02

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Solve a game, or train."""
        return _game_rows(cell) if cell["part"] == "game" else _learning_rows(cell)

    @house_style
    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw the four panels."""
        means = summarise(rows, FIGURE)
        page, axes = side_by_side(4)
        bias, misses, fitted_axes, steps = axes
        draw_bars(
            bias, OFFSET_NAMES, {"Brier": _values(means, "Brier", OFFSETS, "bias")}
        )
        bias.set(ylabel="bias of the pool under Brier")
        series = {
            who: _values(means, who, OFFSETS, "FN") for who in ("truth", *MECHANISMS)
        }
        draw_bars(misses, OFFSET_NAMES, series)
        misses.set(ylabel="misses (FN)")
        fitted = ("VCG", "Stacking-LR", "Majority Vote")
        draw_lines(
            fitted_axes,
            {
                who: Series(TRAIN_SIZES, _values(means, who, TRAIN_SIZES, "FN"))
                for who in fitted
            },
        )
        fitted_axes.set(xlabel="training rows", ylabel="misses (FN)")
        for each in (misses, fitted_axes):
            each.set_ylim(0, 1.5 * each.get_ylim()[1])
            each.legend(loc="upper right")
        _draw_steps(steps)
        for letter, each in zip("abcd", axes, strict=True):
            each.set_title(f"({letter})")
        return page


def _game_rows(cell: Cell) -> list[Row]:
    offset, rows = cell["offset"], []
    for paid in MECHANISMS:
        end = solve(cell, paid, offset=offset)
        rows.append(row(FIGURE, [paid, offset], "bias", end.bias))
        rows.append(row(FIGURE, [paid, offset], "FN", end.fn))
    rows.append(row(FIGURE, ["truth", offset], "FN", end.truthful_fn))
    return rows


def _learning_rows(cell: Cell) -> list[Row]:
    n, seed = cell["rows"], cell.seed("agents")
    X, y = task(max(TRAIN_SIZES) + TEST_ROWS, cell.seed("task"))
    boundary = round(n * (1 - VALIDATION_SHARE))
    team = train_ensemble(X[:boundary], y[:boundary], seed)
    known = team.panel(X[boundary:n], y[boundary:n])
    test = team.panel(X[-TEST_ROWS:], y[-TEST_ROWS:])
    pools: dict[str, Pool] = {
        "VCG": VCG(loss="cost", costs=COSTS, threshold=THRESHOLD),
        "Stacking-LR": StackedLR(),
        "Majority Vote": Vote(),
    }
    rows = []
    for method, pool in pools.items():
        pooled = pool.fit_panel(known).combine(test.values)
        missed = confusion(pooled, test.outcomes, threshold=THRESHOLD).fn_rate
        rows.append(row(FIGURE, [method, n], "FN", missed))
    return rows


def _draw_steps(axes: "Axes") -> None:
    axes.set_axis_off()
    for i, step in enumerate(STEPS):
        height = 0.9 - 0.27 * i
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "grey"}
        axes.text(0.5, height, step, ha="center", va="center", bbox=box)
        if i:
            tip, tail = (0.5, height + 0.08), (0.5, height + 0.19)
            axes.annotate("", tip, tail, arrowprops={"arrowstyle": "->"})


def _values(
    means: Mapping[Place, Measurement], who: str, over: Sequence[Any], column: str
) -> list[float]:
    return numbers(means, [(who, each) for each in over], column)
