"""Whether online weights miss less when the features drift."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np

from truepool import Panel, replay
from truepool.core.engine import Cell, Row
from truepool.measures.losses import Loss
from truepool.measures.scores import confusion, ece
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.paper.settings import COSTS, THRESHOLD
from truepool_lab.paper.synthetic_task import task, train_ensemble
from truepool_lab.stress.drift import shift_features

CASES = 1000
TRAIN_ROWS, VALIDATION_ROWS = 1000, 200
KINDS = ("Sudden", "Gradual", "Recurring")
STRATEGIES = {"static": "static", "adaptive": "window", "EMA": "ema"}
MAGNITUDES = (0.1, 0.25, 0.5, 1.0, 2.0)
WINDOWS = (10, 25, 50, 100, 200)
DECAYS = (0.01, 0.05, 0.1, 0.2, 0.5)
LOSS = Loss("cost", COSTS, THRESHOLD)

READING = (
    "Five scikit-learn agents on silos of 60 % of a clean synthetic task, trained on "
    f"{TRAIN_ROWS:,} rows; weights from the 0/1 cost loss (FN 10, FP 1, threshold 0.5) "
    "on "
    f"{VALIDATION_ROWS} further rows, then {CASES:,} cases in which every feature "
    "moves by "
    "sigma_drift of its standard deviations; misses and ECE over all of these."
)
LEVELS = (
    "The task and what moves are not stated, and the paper's own tables give 0.152, "
    "0.064 and 0.070 for one and the same setting (X32), so no run can agree with "
    "all. At ten seeds adaptive weights miss less than static ones after a sudden "
    "drift by 0.061 with a standard error of 0.037, which is not clear; slower decays "
    "miss clearly less, as printed, and so do longer windows, which the print has "
    "flat from 25 on."
)
UNMOVED = (
    "The printed misses do not move with the size of the drift (0.064 to 0.074 from "
    "0.1 to 2); when every feature moves by that many standard deviations they do. "
    "Static weights are then clearly better at 0.1 and 0.25 and adaptive ones at 2, "
    "where the print has them equal (X32)."
)


@final
class Drift(Experiment):
    """One ensemble per repeat, with drifts of every kind and size."""

    name: ClassVar[str] = "drift"
    repeats: ClassVar[Mapping[Size, int]] = {"quick": 5, "full": 10}
    readings: ClassVar[Mapping[str, Reading]] = {
        "tab:drift": Reading(
            READING,
            LEVELS,
            methods="columns",
        ),
        "tab:drift_magnitude": Reading(
            READING,
            UNMOVED,
            methods="columns",
        ),
        "tab:drift_window": Reading(
            READING,
            LEVELS,
            methods="none",
        ),
        "tab:drift_ema": Reading(
            READING,
            LEVELS,
            methods="none",
        ),
    }

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Train, let the features drift, and replay."""
        drift_task = _DriftTask(cell)
        swept = (_by_kind, _by_size, _by_window, _by_decay)
        return [found for sweep in swept for found in sweep(drift_task)]


class _DriftTask:
    """Agents of one repeat, and their reports on a stream that drifts."""

    def __init__(self, cell: Cell) -> None:
        X, y = task(TRAIN_ROWS + VALIDATION_ROWS + CASES, cell.seed("task"))
        self.team = train_ensemble(X[:TRAIN_ROWS], y[:TRAIN_ROWS], cell.seed("agents"))
        self.X, self.y = X[TRAIN_ROWS:], y[TRAIN_ROWS:]
        self.seed = cell.seed("drift")

    def panel(self, kind: str = "sudden", magnitude: float = 1.0) -> Panel:
        """Return reports before the stream (to learn weights from) and along it."""
        shifted = shift_features(
            self.X[VALIDATION_ROWS:], kind, magnitude=magnitude, seed=self.seed
        )
        return self.team.panel(
            np.concatenate([self.X[:VALIDATION_ROWS], shifted]), self.y
        )


def _replay(panel: Panel, strategy: str, **settings: Any) -> np.ndarray[Any, Any]:
    """Pooled probabilities of the stream."""
    if strategy == "static":
        settings["warmup"] = VALIDATION_ROWS
    trace = replay(strategy, panel, loss=LOSS, path=False, **settings)
    return trace.pooled[VALIDATION_ROWS:]


def _fn_rate(panel: Panel, pooled: np.ndarray[Any, Any]) -> float:
    return confusion(
        pooled, panel.outcomes[VALIDATION_ROWS:], threshold=THRESHOLD
    ).fn_rate


def _by_kind(drift_task: _DriftTask) -> list[Row]:
    found = {}
    for kind in KINDS:
        panel = drift_task.panel(kind.lower())
        for column, strategy in STRATEGIES.items():
            found[kind, column] = _fn_rate(panel, _replay(panel, strategy))
    for column in STRATEGIES:
        every = [found[kind, column] for kind in KINDS]
        found["Average", column] = float(np.mean(every))
    return [row("tab:drift", [kind], c, value) for (kind, c), value in found.items()]


def _by_size(drift_task: _DriftTask) -> list[Row]:
    rows = []
    for magnitude in MAGNITUDES:
        panel = drift_task.panel(magnitude=magnitude)
        for column, strategy in STRATEGIES.items():
            missed = _fn_rate(panel, _replay(panel, strategy))
            rows.append(row("tab:drift_magnitude", [magnitude], column, missed))
    return rows


def _by_window(drift_task: _DriftTask) -> list[Row]:
    panel = drift_task.panel()
    return [
        found
        for length in WINDOWS
        for found in _fn_and_ece(
            "tab:drift_window", length, panel, _replay(panel, "window", length=length)
        )
    ]


def _by_decay(drift_task: _DriftTask) -> list[Row]:
    panel = drift_task.panel()
    return [
        found
        for alpha in DECAYS
        for found in _fn_and_ece(
            "tab:drift_ema", alpha, panel, _replay(panel, "ema", alpha=alpha)
        )
    ]


def _fn_and_ece(
    table: str, key: float, panel: Panel, pooled: np.ndarray[Any, Any]
) -> list[Row]:
    return [
        row(table, [key], "FN", _fn_rate(panel, pooled)),
        row(table, [key], "ECE", ece(pooled, panel.outcomes[VALIDATION_ROWS:])),
    ]
