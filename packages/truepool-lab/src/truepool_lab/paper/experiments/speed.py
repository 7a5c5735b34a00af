"""Running time of pooling and of the agents, on this machine."""

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, final

import numpy as np

from truepool import VCG, Panel
from truepool.core.engine import Cell, Row, cells
from truepool.datasets import synthetic
from truepool.measures.credit import leave_one_out
from truepool.pools import Pool
from truepool.pools.brier import Brier
from truepool.pools.vote import Vote
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.paper.settings import COSTS, THRESHOLD
from truepool_lab.paper.synthetic_task import Ensemble, task, train_ensemble
from truepool_lab.pools.externality import Externality
from truepool_lab.pools.mlp_2 import MLP2

SAMPLES = 2000
TRAIN_ROWS = 2000
BATCHES = (100, 500, 1000, 5000)
HERE = (
    " One process, one thread, on the machine at hand, not the paper's; a repetition "
    "is the least of three runs."
)
PER_BATCH = (
    "Milliseconds for 2,000 cases at once: the printed breakdown adds up to the time "
    "tab:throughput gives for a batch, not for a case. The weights are learned from "
    "the cases and the cases are pooled."
)
SLOWER = (
    "Another machine and other code: VCG's credit is compiled here and the other "
    "pools are plain numpy, so that VCG is the fastest of the four, where the print "
    "has it slowest."
)


@final
class Speed(Experiment):
    """Running times; the spread is that of repetitions."""

    name: ClassVar[str] = "speed"
    readings: ClassVar[Mapping[str, Reading]] = {
        "tab:latency": Reading(
            "One case at a time: VCG pools it and finds every agent's leave-one-out "
            "contribution, the others pool it; Neural is the network of two layers."
            + HERE,
            "Another machine and other code; the order is as printed.",
            methods="none",
            timed=("*",),
        ),
        "tab:overhead": Reading(
            PER_BATCH + HERE,
            SLOWER,
            methods="none",
            timed=("*",),
        ),
        "tab:throughput": Reading(
            "Five scikit-learn agents are asked and their reports pooled, a batch at a "
            "time; VCG finds every leave-one-out contribution too." + HERE,
            "Another machine and other models: asking the forest and the boosted "
            "trees takes 95 % of the time of all agents here, and the pools are "
            "within 8 % of each other at every batch size, in print as here; which "
            "comes first hangs on small differences that the print has otherwise.",
            methods="none",
            timed=("*",),
        ),
        "tab:latency_breakdown": Reading(
            "scikit-learn agents on 12 of 20 features. " + PER_BATCH + HERE,
            SLOWER,
            methods="none",
            timed=("*",),
        ),
    }
    packages: ClassVar[Mapping[str, str]] = {"torch": "truepool-lab[neural]"}
    alone: ClassVar[bool] = True

    def cells(self, size: Size) -> list[Cell]:
        """Return one cell, so that its repetitions run one after another."""
        return cells(self.name, 1, {"times": [20 if size == "full" else 3]})

    def effort(self, cell: Cell) -> float:
        """Mostly the batches of throughput."""
        return 3.0 * float(cell["times"])

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Time everything."""
        times = cell["times"]
        X, y = task(TRAIN_ROWS + max(BATCHES), cell.seed("task"))
        team = train_ensemble(X[:TRAIN_ROWS], y[:TRAIN_ROWS], cell.seed("agents"))
        cases = X[TRAIN_ROWS:], y[TRAIN_ROWS:]
        return [
            *_latency(times, cell.seed("reports")),
            *_overhead(times, cell.seed("reports")),
            *_breakdown(times, team, *cases),
            *_throughput(times, team, *cases),
        ]


def _latency(times: int, seed: int) -> list[Row]:
    rows = []
    for n in (3, 5, 10):
        panel = synthetic(SAMPLES, seed, skill=np.ones(n))
        one = panel.take(np.array([0]))
        for name, pool in {"VCG": _vcg(), "Brier": Brier(), "Neural": MLP2()}.items():
            pool.fit_panel(panel)
            rows += _time_rows(
                "tab:latency", [n], name, partial(_pool, pool, one), times
            )
    return rows


def _overhead(times: int, seed: int) -> list[Row]:
    rows = []
    for n in (2, 5, 10, 20, 50):
        panel = synthetic(SAMPLES, seed, skill=np.ones(n))
        for name, pool in _aggregators().items():
            fit = partial(_learn, pool, panel)
            rows += _time_rows("tab:overhead", [n], name, fit, times)
    return rows


def _breakdown(times: int, team: Ensemble, X: Any, y: Any) -> list[Row]:
    table = "tab:latency_breakdown"
    seen, happened = X[:SAMPLES], y[:SAMPLES]
    rows = []
    for name, model, silo in zip(team.names, team.models, team.silos, strict=True):
        inference = partial(model.predict_proba, seen[:, silo])
        rows += _time_rows(
            table, ["Agent Inference", name], "time (ms)", inference, times
        )
    rows += _shares(rows, table)
    panel = team.panel(seen, happened)
    for name, pool in _aggregators().items():
        fit = partial(_learn, pool, panel)
        rows += _time_rows(table, ["Aggregation", name], "time (ms)", fit, times)
    return rows


def _shares(rows: list[Row], table: str) -> list[Row]:
    """Share of each agent in the total time."""
    spent: dict[str, list[float]] = {}
    for each in rows:
        spent.setdefault(each["key"][1], []).append(each["value"])
    means = {name: float(np.mean(found)) for name, found in spent.items()}
    total = sum(means.values())
    column = "share of total (%)"
    return [
        row(table, ["Agent Inference", name], column, 100 * mean / total)
        for name, mean in means.items()
    ]


def _throughput(times: int, team: Ensemble, X: Any, y: Any) -> list[Row]:
    rows = []
    for size in BATCHES:
        cases = X[:size], y[:size]
        for name, pool in _aggregators().items():
            pool.fit_panel(team.panel(*cases))
            served = partial(_serve, pool, team, *cases)
            found = _time_rows("tab:throughput", [size], name, served, times)
            rows += [{**each, "value": 1000 * size / each["value"]} for each in found]
    return rows


def _pool(pool: Pool, panel: Panel) -> None:
    """Pool cases with fitted weights; with VCG, compute the credit as well."""
    pool.combine(panel.values)
    if isinstance(pool, VCG):
        leave_one_out(panel, weights=pool.weights_)


def _serve(pool: Pool, team: Ensemble, X: Any, y: Any) -> None:
    """Get the agents' reports, then pool them."""
    _pool(pool, team.panel(X, y))


def _learn(pool: Pool, panel: Panel) -> None:
    """Learn weights from cases, then pool them."""
    pool.fit_panel(panel).combine(panel.values)


def _vcg() -> VCG:
    return VCG(loss="cost", costs=COSTS, threshold=THRESHOLD)


def _aggregators() -> dict[str, Pool]:
    return {
        "VCG": _vcg(),
        "Brier": Brier(),
        "Externality": Externality(),
        "Majority Vote": Vote(),
    }


def _time_rows(
    table: str, key: list[Any], column: str, work: Callable[[], Any], times: int
) -> list[Row]:
    """One row per repetition, in milliseconds: the minimum of three, after a warm-up.

    The minimum is the least affected by other processes.
    """
    work()
    milliseconds = [min(_milliseconds(work) for _ in range(3)) for _ in range(times)]
    return [row(table, key, column, each) for each in milliseconds]


def _milliseconds(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return 1000 * (perf_counter() - start)
