"""Five models asked about 500 cases and about one: scikit-learn against ONNX."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, ClassVar, final

import numpy as np

from truepool.core.engine import Cell, Row, cells
from truepool_lab.paper.edge import team
from truepool_lab.paper.edge.machine import describe, load
from truepool_lab.paper.edge.team import Team
from truepool_lab.paper.interface import Experiment, Reading, Size, row

TABLE = "tab:jetson_inference"
RUNS = 5
"""Runs of which the fastest is a repetition: the least affected by other processes."""


@final
class EdgeInference(Experiment):
    """Inference times of single models on this machine, native and in ONNX."""

    name: ClassVar[str] = "edge-inference"
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            "The models of truepool's zoo, trained on 1,000 cases with 60 % of 20 "
            "features: as scikit-learn has them, and exported to ONNX, on one thread. "
            "Time is processor time, of 500 cases in one call or of one case; a "
            "repetition is the least of five runs. Gain is the time of scikit-learn "
            "over that of ONNX; max |dp| is the largest difference of a probability, "
            "in millionths. All rows are of the machine that they name; none is "
            "compared with a Jetson.",
            methods="none",
            elsewhere=("*",),
        )
    }
    packages: ClassVar[Mapping[str, str]] = {
        "onnxruntime": "truepool[onnx]",
        "skl2onnx": "truepool[onnx]",
    }
    alone: ClassVar[bool] = True

    def cells(self, size: Size) -> list[Cell]:
        """Return one cell, so that its repetitions run one after another."""
        return cells(self.name, 1, {"times": [20 if size == "full" else 2]})

    def effort(self, cell: Cell) -> float:
        """Mostly the training of the agents."""
        return 5.0 + 0.5 * float(cell["times"])

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Time every model in both forms."""
        with TemporaryDirectory() as folder:
            trained = team.train(Path(folder), cell.seed("task"))
            return [
                each
                for name in team.MODELS
                for each in _model_rows(name, trained, cell["times"])
            ]


def _model_rows(name: str, trained: Team, times: int) -> list[Row]:
    native, onnx = (trained.load(form)[name] for form in (False, True))
    rows = []
    for cases, column in ((trained.cases, "500 cases"), (trained.cases[:1], "1 case")):
        slow = [
            _milliseconds(partial(native.predict_proba, cases)) for _ in range(times)
        ]
        fast = [_milliseconds(partial(onnx.predict_proba, cases)) for _ in range(times)]
        for key, spent in ((name, slow), (f"{name}, ONNX", fast)):
            rows += _time_rows(key, spent, len(cases))
        gains = (a / b for a, b in zip(slow, fast, strict=True))
        rows += [_row(f"{name}, ONNX", f"gain, {column}", gain) for gain in gains]
    apart = native.predict_proba(trained.cases) - onnx.predict_proba(trained.cases)
    rows.append(_row(f"{name}, ONNX", "max |dp| (1e-6)", 1e6 * np.abs(apart).max()))
    for key in (name, f"{name}, ONNX"):
        rows += [_row(key, "machine", describe()), _row(key, "load", load())]
    return rows


def _time_rows(key: str, spent: list[float], cases: int) -> list[Row]:
    if cases == 1:
        return [_row(key, "1 case (ms)", each) for each in spent]
    return [
        *(_row(key, "time (ms)", each) for each in spent),
        *(_row(key, "us per sample", 1000 * each / cases) for each in spent),
    ]


def _row(key: str, column: str, value: Any) -> Row:
    return row(TABLE, [f"this machine, {key}"], column, value)


def _milliseconds(work: Callable[[], Any]) -> float:
    """Milliseconds of processor time of a call: the least of some."""
    spent = []
    for _ in range(RUNS):
        start = process_time()
        work()
        spent.append(1000 * (process_time() - start))
    return min(spent)
