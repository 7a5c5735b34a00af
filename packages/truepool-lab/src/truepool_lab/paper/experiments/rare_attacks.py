"""Which pool detects rare attacks that single agents detect."""

from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np

from truepool import VCG, Features, Panel
from truepool.core.arrays import FloatArray
from truepool.core.engine import Cell, Row
from truepool.measures.scores import confusion, ece
from truepool.pools import Pool
from truepool.pools.best_agent import BestAgent
from truepool.pools.brier import Brier
from truepool.pools.vote import Vote
from truepool_lab.datasets import cicids2017_mix
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.paper.methods import pool_with
from truepool_lab.paper.real_task import PACKAGES, PROTOCOL, prepare
from truepool_lab.paper.settings import COSTS
from truepool_lab.paper.synthetic_task import FIXED
from truepool_lab.pools.confidence import Confidence
from truepool_lab.pools.externality import Externality

WHOLE, BY_CLASS = "tab:cicids2017", "tab:cicids_perclass"
RARE = ("Bots", "Brute Force", "Web Attacks")
QUICK = 3000
READING = (
    f"{PROTOCOL}; of the 100,000 flows the 23,650 that are at hand at natural "
    "proportions, without the port; the likeliest class is decided; VCG and the best "
    "single agent by the cost loss (FN 10, FP 1), Brier by inverse Brier loss; rare "
    "are the three classes that the paper names (in the extra column all below 5 %); "
    "ECE of the confidence in the likeliest class, 15 bins."
)

CAUSE = (
    "The paper's 100,000 flows are not at hand: among ours are 19 web attacks and 13 "
    "bots, of which 6 and 4 are tested; and the printed rare recalls (0.563 for VCG) "
    "are not the means of the printed recalls by class (0.420). LightGBM, with the "
    "stated settings, diverges on classes of ten training rows (accuracy 0.87; the "
    "paper's agents exceed 0.995), which lowers all pools of nearly equal weights."
)
REDUCED = (
    "A reduced run keeps all flows of the rare classes and draws of the others, so "
    "that rare ones are less rare."
)


@final
class RareAttacks(Experiment):
    """Seven classes of real network flows."""

    name: ClassVar[str] = "rare-attacks"
    by_size: ClassVar[bool] = True
    repeats: ClassVar[Mapping[Size, int]] = {"quick": 1, "full": 10}
    readings: ClassVar[Mapping[str, Reading]] = {
        WHOLE: Reading(
            READING,
            CAUSE,
            reduced=REDUCED,
        ),
        BY_CLASS: Reading(
            READING,
            CAUSE,
            reduced=REDUCED,
            methods="columns",
        ),
    }
    needs: ClassVar[tuple[str, ...]] = ("cicids2017-mix",)
    packages: ClassVar[Mapping[str, str]] = PACKAGES

    def effort(self, cell: Cell) -> float:
        """Boosting grows as many trees as there are classes."""
        return 60.0 if cell["size"] == "full" else 12.0

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Train, learn the weights, and test."""
        data = cicids2017_mix(seed=FIXED, natural=True)
        if cell["size"] == "quick":
            data = subsample(data, QUICK)
        here = prepare(data, cell)
        validation, test = here.panels()
        rows = []
        for method, pool in _methods().items():
            pooled = pool_with(pool, validation, test)
            rows += _score_rows(method, pooled, test, data.labels)
        return rows


def subsample(data: Features, rows: int) -> Features:
    """Keep all flows of the rare classes, and the first of the others."""
    rare = np.isin(data.outcomes, [data.labels.index(name) for name in RARE])
    others = np.flatnonzero(~rare)[: rows - rare.sum()]
    return data.take(np.sort(np.concatenate([np.flatnonzero(rare), others])))


def _methods() -> dict[str, Pool]:
    return {
        "Best Individual": BestAgent(loss="cost", costs=COSTS),
        "Brier": Brier(),
        "Majority Vote": Vote(),
        "VCG": VCG(loss="cost", costs=COSTS),
        "Externality": Externality(),
        "Conf-Weighted": Confidence(),
    }


def _score_rows(
    method: str, pooled: FloatArray, test: Panel, labels: tuple[str, ...]
) -> list[Row]:
    counts = confusion(pooled, test.outcomes)
    recalls = dict(zip(labels, counts.recalls, strict=True))
    scores = {
        "accuracy": counts.accuracy,
        "F1-macro": counts.f1_macro,
        "rare recall": np.mean([recalls[name] for name in RARE]),
        "ECE": ece(pooled, test.outcomes),
        "recall below 5 %": counts.rare_recall(),
    }
    rows = [row(WHOLE, [method], score, value) for score, value in scores.items()]
    if method in ("VCG", "Brier"):
        rows += [row(BY_CLASS, [name], method, v) for name, v in recalls.items()]
    return rows
