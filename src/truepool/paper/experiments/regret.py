"""What the paper's online weights lose against the best fixed ones."""

from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np

from truepool.costs import Costs
from truepool.datasets.synthetic import synthetic
from truepool.lab import Cell, Row, cells
from truepool.learners.interface import horizon_rate
from truepool.losses import Loss
from truepool.paper.interface import Experiment, Reading, Size, row
from truepool.rounds import replay

AGENTS = 5
RATES = (0.01, 0.05, 0.1, 0.5, 1.0, None)
"""None is the rate of thm:regret, sqrt(ln n / T)."""
LOSSES = {
    "tab:regret": Loss("brier"),
    "tab:regret_main": Loss("cost-brier", Costs(fn=10, fp=1)),
}


@final
class Regret(Experiment):
    """Stationary agents of graded skill; alg:vcg as printed, at six rates."""

    name: ClassVar[str] = "regret"
    readings: ClassVar[Mapping[str, Reading]] = {
        "tab:regret": Reading(
            "alg:vcg as printed on the squared error (in [0, 1], as Hedge needs), five "
            "calibrated agents of skill 2, 1.5, 1.5, 1 and 0.5 and a base rate of 0.3, "
            "against the best fixed weighting.",
            methods="columns",
        ),
        "tab:regret_main": Reading(
            "The same agents and the rate sqrt(ln n / T); the loss is the asymmetric "
            "one of sec:problem put on the probability, as alg:vcg writes it (squared "
            "errors counted at FN 10, FP 1)."
        ),
    }

    def cells(self, size: Size) -> list[Cell]:
        """Return the horizons of the paper; at full size one ten times as long."""
        horizons = [100, 500, 1000, *([10_000] if size == "full" else [])]
        return cells(self.name, 10, {"T": horizons, "table": tuple(LOSSES)})

    def effort(self, cell: Cell) -> float:
        """Little: the round loop is compiled."""
        return 0.02

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Replay one stream at every rate."""
        T, table = cell["T"], cell["table"]
        panel = synthetic(T, cell.seed("stream"))
        found = {}
        for rate in RATES if table == "tab:regret" else (None,):
            chosen = horizon_rate(AGENTS, T) if rate is None else rate
            trace = replay("marginal", panel, loss=LOSSES[table], rate=chosen)
            found[rate] = float(trace.regret[-1])  # type: ignore[index]
        if table == "tab:regret_main":
            return _by_growth(T, found[None])
        return [
            row(table, [quantity, T], _named(rate), regret / scale)
            for rate, regret in found.items()
            for quantity, scale in (("R_T", 1.0), ("R_T/sqrt(T)", np.sqrt(T)))
        ]


def _by_growth(T: int, regret: float) -> list[Row]:
    parts = {"regret": 1.0, "regret/sqrt(T)": np.sqrt(T), "regret/T": float(T)}
    return [
        row("tab:regret_main", [T], column, regret / part)
        for column, part in parts.items()
    ]


def _named(rate: float | None) -> str:
    return "eta=sqrt(ln n/T)" if rate is None else f"eta={rate}"
