"""What agents gain by misreporting to pools that learn, beside VCG weights."""

from collections.abc import Mapping
from typing import ClassVar, cast, final

import numpy as np

from truepool import Features, Panel, datasets
from truepool.core.engine import Cell, Row, cells
from truepool.measures.losses import Loss
from truepool.pools import Pool, configure
from truepool_lab.paper.experiments.clinical import panels as clinical_panels
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.paper.methods import tally, vcg
from truepool_lab.paper.misreport_gains import ROUNDS, STEP, Coordinator, Profile, send
from truepool_lab.paper.real_task import NEURAL, prepare, task
from truepool_lab.paper.settings import COSTS, THRESHOLD

TABLE = "tab:neural_comp@misreports"
POOLS = {
    "Mean": "mean",
    "VCG": "vcg",
    "Stacking-LR": "stacked-lr",
    "MLP aggregator": "mlp-2",
    "MLP aggregator, 4 layers": "mlp-4",
    "DeepSets": "deep-sets",
    "auto": "auto",
}
BY_COST = ("vcg", "auto")
"""Pools that learn something else at another threshold."""
THRESHOLDS = {"0.5": THRESHOLD, "costs": COSTS.threshold}
EFFORT = {"Mean": 0.2, "VCG": 0.2, "Stacking-LR": 0.3, "auto": 9.0}
"""Seconds of a cell, where it is not a network."""
SLOW = ("MLP aggregator, 4 layers", "DeepSets")
"""Networks that are left out at reduced size."""
PANELS = ("Diabetes", "NSL-KDD")
ROWS = 4000
"""Rows of NSL-KDD."""
LEARN: Mapping[Size, int] = {"quick": 100, "full": 300}
"""Cases that pools learn from, again for every misreport."""


@final
class Misreports(Experiment):
    """One agent misreports, then all of them may, to seven pools on two panels."""

    name: ClassVar[str] = "misreports"
    version: ClassVar[str] = "2"
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            "The paper says that learned weighting can be exploited and measures "
            "nothing, so this table is ours. Agents of tab:real_diabetes and of "
            f"tab:neural_comp ({ROWS:,} rows); pools learn from {LEARN['full']} cases "
            f"({LEARN['quick']} at reduced size), decisions are at 0.5, as in the "
            "paper, or at the threshold of the costs (FN 10, FP 1). Every agent is "
            "paid its leave-one-out credit in cost per case: the cost of the pool with "
            "the same weights where the agent is silent (networks put the mean of the "
            "others in its place, stacking what the others suggest), less that with "
            "its report. "
            f"Misreports: {STEP} more, {STEP} less, log-odds doubled, halved, rounded "
            "to 0 and 1, inverted. Weights kept: an agent misreports only once the "
            "pool has learned from the truth, mean of the five agents. Relearned: one "
            "agent (another in every repeat) misreports in the cases learned from, "
            "too, and foresees what the pool will learn; 'against a pool without it' "
            "pays it against a pool that never heard of it. All are chosen on half of "
            "the test cases and measured on the other half. Game: agents in turn "
            "choose their best misreport on the cases learned from with the weights as "
            f"they are, the pool then learns anew, at most {ROUNDS} rounds; measured "
            "on test cases (the agents of Diabetes were trained on some of the cases "
            "that they choose on). At reduced size: Diabetes only, two networks fewer.",
            basis="ours",
            title="What agents gain by misreporting to pools that learn",
        )
    }
    needs: ClassVar[tuple[str, ...]] = ("pima", "nsl-kdd")
    packages: ClassVar[Mapping[str, str]] = NEURAL

    def cells(self, size: Size) -> list[Cell]:
        """Return both panels ten times, or the smaller one once."""
        panels, repeats = (PANELS, 10) if size == "full" else (PANELS[:1], 1)
        pools = [name for name in POOLS if size == "full" or name not in SLOW]
        axes = {"pool": pools, "panel": panels, "size": [size]}
        return cells(self.name, repeats, axes)

    def effort(self, cell: Cell) -> float:
        """Mostly networks and the candidates of auto, which learn again and again."""
        return EFFORT.get(cell["pool"], 2.5)

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Measure every pool on one panel."""
        known, test = PANEL[cell["panel"]](cell)
        known = _some(known, LEARN[cell["size"]], cell.seed("cases"))
        name = POOLS[cell["pool"]]
        memo: dict[Profile, Pool] = {}
        rows = []
        for at, threshold in THRESHOLDS.items():
            here = Coordinator(
                _pool(name, threshold),
                known,
                test,
                Loss("cost", COSTS, threshold),
                {} if name in BY_COST else memo,
            )
            key = [f"{cell['panel']}, {at}: {cell['pool']}"]
            agent = cell.repeat % len(known.agents)
            found = {
                **_scores(here, here.honest, threshold, "all truthful"),
                **_alone(here, agent),
                **_together(here, threshold),
            }
            rows += [row(TABLE, key, c, value) for c, value in found.items()]
        return rows


def _scores(
    here: Coordinator, profile: Profile, threshold: float, when: str
) -> dict[str, float]:
    """Cost per case and FN rate of the pool on the test cases."""
    pool, sent = here.learn(profile), send(here.test, profile)
    missed = tally(pool.combine(sent.values), here.test, threshold).fn_rate
    cost = float(here.losses(pool, sent).mean())
    return {f"cost, {when}": cost, f"FN, {when}": missed}


def _alone(here: Coordinator, agent: int) -> dict[str, float | str]:
    team = range(len(here.known.agents))
    kept = np.mean([here.gain(i, relearns=False).agent for i in team])
    relearned = here.gain(agent, relearns=True)
    apart = here.gain(agent, relearns=True, apart=True)
    return {
        "gain, weights kept": float(kept),
        "gain, relearned": relearned.agent,
        "by which misreport": relearned.name,
        "cost change, relearned": relearned.pool,
        "gain against a pool without it": apart.agent,
    }


def _together(here: Coordinator, threshold: float) -> dict[str, float]:
    end = here.play()
    misreporting = sum(name != "truth" for name in end.profile)
    return {
        "misreporting in the game": float(misreporting),
        **_scores(here, end.profile, threshold, "game"),
    }


def _pool(name: str, threshold: float) -> Pool:
    if name == "vcg":
        return vcg(threshold)
    return configure(name, costs=COSTS, threshold=threshold)


def _some(panel: Panel, cases: int, seed: int) -> Panel:
    """Return some of the cases, drawn at random."""
    drawn = np.random.default_rng(seed).permutation(len(panel))[:cases]
    return panel.take(np.sort(drawn))


def _diabetes(cell: Cell) -> tuple[Panel, Panel]:
    data = cast(Features, datasets.load("pima", seed=None))
    known, _, test = clinical_panels(prepare(data, cell, validate=False))
    return known, test


def _nsl_kdd(cell: Cell) -> tuple[Panel, Panel]:
    return task("nsl-kdd", ROWS, cell).panels()


PANEL = {"Diabetes": _diabetes, "NSL-KDD": _nsl_kdd}
