"""The four claims of the paper at a glance, as they come out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

from truepool.lab import Cell, Row, cells
from truepool.paper.interface import Experiment, Reading, Size, row
from truepool.paper.played import ABOVE, CALIBRATED, REPEATS, ended, games
from truepool.paper.settings import COSTS, THRESHOLD, VALIDATION_SHARE
from truepool.paper.simulated import crew, task
from truepool.paper.verdicts import summed_up
from truepool.pools import Pool
from truepool.pools.stacked_lr import StackedLR
from truepool.pools.vcg import VCG
from truepool.pools.vote import Vote
from truepool.scores import confusion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from truepool.paper.verdicts import Measured, Place

FIGURE = "fig:overview"
OFFSETS = (ABOVE, CALIBRATED)
MECHANISMS = ("Brier", "VCG")
TRAINED, TESTED = (100, 200, 500), 2000
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
        played = games(self.name, size, {"part": ["game"], "offset": OFFSETS})
        repeats = REPEATS if size == "full" else 2
        learned = cells(self.name, repeats, {"part": ["data"], "rows": TRAINED})
        return played + learned

    def effort(self, cell: Cell) -> float:
        """Mostly the training."""
        return 1.0 if cell["part"] == "data" else 0.02

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Play, or train."""
        return _played(cell) if cell["part"] == "game" else _learned(cell)

    def figure(self, label: str, rows: Sequence[Row]) -> "Figure":
        """Draw the four panels."""
        from matplotlib.figure import Figure

        means = summed_up(rows, FIGURE)
        page = Figure(figsize=(14, 3.5), layout="constrained")
        bias, misses, learned, steps = page.subplots(1, 4)
        _draw_bias(bias, means)
        _draw_misses(misses, means)
        _draw_learned(learned, means)
        _draw_steps(steps)
        for letter, axes in zip("abcd", page.axes, strict=True):
            axes.set_title(f"({letter})", loc="left")
        return page


def _played(cell: Cell) -> list[Row]:
    offset, rows = cell["offset"], []
    for paid in MECHANISMS:
        end = ended(cell, paid, offset=offset)
        rows.append(row(FIGURE, [paid, offset], "bias", end.bias))
        rows.append(row(FIGURE, [paid, offset], "FN", end.fn))
    rows.append(row(FIGURE, ["truth", offset], "FN", end.truthful_fn))
    return rows


def _learned(cell: Cell) -> list[Row]:
    n, seed = cell["rows"], cell.seed("agents")
    X, y = task(max(TRAINED) + TESTED, cell.seed("task"))
    kept = round(n * (1 - VALIDATION_SHARE))
    team = crew(X[:kept], y[:kept], seed)
    known = team.panel(X[kept:n], y[kept:n])
    tested = team.panel(X[-TESTED:], y[-TESTED:])
    pools: dict[str, Pool] = {
        "VCG": VCG(loss="cost", costs=COSTS, threshold=THRESHOLD),
        "Stacking-LR": StackedLR(),
        "Majority Vote": Vote(),
    }
    rows = []
    for method, pool in pools.items():
        pooled = pool.fit_panel(known).combine(tested.values)
        missed = confusion(pooled, tested.outcomes, threshold=THRESHOLD).fn_rate
        rows.append(row(FIGURE, [method, n], "FN", missed))
    return rows


def _draw_bias(axes: "Axes", means: "Mapping[Place, Measured]") -> None:
    named = [f"offset {offset:+g}" if offset else "calibrated" for offset in OFFSETS]
    axes.bar(named, _values(means, "Brier", OFFSETS, "bias"), width=0.5)
    axes.axhline(0, color="grey", linewidth=1)
    axes.set(ylabel="bias of the pool under Brier")


def _draw_misses(axes: "Axes", means: "Mapping[Place, Measured]") -> None:
    for i, who in enumerate(("truth", *MECHANISMS)):
        places = [k + 0.25 * (i - 1) for k in range(len(OFFSETS))]
        axes.bar(places, _values(means, who, OFFSETS, "FN"), 0.25, label=who)
    named = [f"offset {offset:+g}" if offset else "calibrated" for offset in OFFSETS]
    axes.set_xticks(range(len(OFFSETS)), named)
    axes.set(ylabel="misses (FN)")
    axes.margins(y=0.25)
    axes.legend(frameon=False, loc="upper left", ncols=3, columnspacing=1.0)


def _draw_learned(axes: "Axes", means: "Mapping[Place, Measured]") -> None:
    for method in ("VCG", "Stacking-LR", "Majority Vote"):
        values = _values(means, method, TRAINED, "FN")
        axes.plot(TRAINED, values, marker="o", label=method)
    axes.set(xlabel="training rows", ylabel="misses (FN)", ylim=(0, None))
    axes.legend(frameon=False)


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
    means: "Mapping[Place, Measured]", who: str, over: Sequence[Any], column: str
) -> list[Any]:
    return [means[(who, each), column].value for each in over]
