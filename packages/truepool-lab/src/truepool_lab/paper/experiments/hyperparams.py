"""The settings of the reproduction, read from the code that uses them."""

from collections.abc import Iterator, Mapping
from inspect import signature
from math import isclose, log, sqrt
from typing import Any, ClassVar, final

from truepool import datasets
from truepool.agents import zoo
from truepool.core.engine import Cell, Row, cells
from truepool.learners import horizon_rate
from truepool_lab.games import Game, Shift
from truepool_lab.learners.ema import EMA
from truepool_lab.learners.window import Window
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.paper.settings import COSTS, TEST_SHARE, THRESHOLD
from truepool_lab.pools.mlp_2 import MLP2

TABLE = "tab:hyperparams"
AGENTS = {
    ("lightgbm", "n_estimators"): "LightGBM: # estimators",
    ("lightgbm", "max_depth"): "LightGBM: max depth",
    ("catboost", "iterations"): "CatBoost: iterations",
    ("catboost", "depth"): "CatBoost: depth",
    ("xgboost", "n_estimators"): "XGBoost: # estimators",
    ("xgboost", "max_depth"): "XGBoost: max depth",
    ("random-forest", "n_estimators"): "Random Forest: # estimators",
    ("random-forest", "max_depth"): "Random Forest: max depth",
    ("mlp", "hidden_layer_sizes"): "MLP: hidden layer sizes",
    ("mlp", "max_iter"): "MLP: max iterations",
    ("mlp", "learning_rate_init"): "MLP: learning rate (initial)",
}
"""Category of the table, by setting of an agent."""


@final
class Hyperparams(Experiment):
    """Defaults and constants as the experiments use them."""

    name: ClassVar[str] = "hyperparams"
    version: ClassVar[str] = "2"
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            "Each value is read from the part that uses it when it runs; the share of "
            "fraud is no setting: it follows from all 492 frauds among 50,000 rows.",
            methods="none",
            basis="stated",
            constructed=("*",),
        )
    }

    def cells(self, size: Size) -> list[Cell]:
        """Return one cell: there is nothing to repeat."""
        return cells(self.name, 1)

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Read the settings."""
        return [row(TABLE, key, "value", value) for key, value in _settings()]


def _settings() -> Iterator[tuple[tuple[str, str], Any]]:
    yield from _agents()
    yield from _mechanism()
    yield from _design()


def _agents() -> Iterator[tuple[tuple[str, str], Any]]:
    category = "Agent Training"
    for (model, setting), name in AGENTS.items():
        value = zoo.make(model).settings[setting]
        counted = isinstance(value, int | float) and value > 0
        yield (category, name), value if counted else str(value)


def _mechanism() -> Iterator[tuple[tuple[str, str], Any]]:
    category = "Aggregation Mechanism"
    yield (category, "Decision threshold"), THRESHOLD
    yield (category, "FN loss weight"), COSTS.fn
    yield (category, "FP loss weight"), COSTS.fp
    category = "Online Weight Learning"
    if isclose(horizon_rate(7, 1234), sqrt(log(7) / 1234)):
        yield (category, "Multiplicative update learning rate"), "sqrt(ln n / T)"
    yield (category, "Sliding window size (adaptive)"), Window().length
    yield (category, "EMA smoothing parameter"), EMA().alpha


def _design() -> Iterator[tuple[tuple[str, str], Any]]:
    from truepool_lab.paper.experiments.regret import Regret

    category = "Experimental Design"
    repeats = {cell.repeat for cell in Regret().cells("full")}
    yield (category, "Number of random seeds"), len(repeats)
    nsl_kdd, credit = datasets.find("nsl-kdd"), datasets.find("credit-card")
    defaults = signature(nsl_kdd.load).parameters
    yield (category, "NSL-KDD: number of samples"), defaults["rows"].default
    yield (category, "NSL-KDD: number of features"), nsl_kdd.columns
    yield (category, "NSL-KDD: attack prevalence"), f"{defaults['attacks'].default:.0%}"
    defaults = signature(credit.load).parameters
    yield (category, "Credit Card: number of samples"), defaults["rows"].default
    classes = datasets.find("intrusion").labels
    yield (category, "Intrusion: number of classes"), len(classes)
    split = f"{1 - TEST_SHARE:.0%} / {TEST_SHARE:.0%}"
    yield (category, "Train/test split"), split
    yield (category, "MLP aggregator: hidden units"), MLP2().hidden
    yield (category, "MLP aggregator: layers"), MLP2.layers
    rounds = signature(Game.solve).parameters["rounds"].default
    yield (category, "Best-response dynamics: rounds"), rounds
    step, reach = Shift().step, Shift().reach
    grid = f"delta in [-{reach:g}, {reach:g}], step {step:g}"
    yield (category, "Best-response dynamics: deviation grid"), grid
