"""Ten agents under attack, and five that are miscalibrated."""

from collections.abc import Mapping
from typing import ClassVar, final

from truepool import VCG, Mean, Panel
from truepool.core.engine import Cell, Row
from truepool.measures.scores import confusion, ece
from truepool.pools import Pool
from truepool.pools.median import Median
from truepool.pools.trimmed import Trimmed
from truepool_lab.paper.interface import Experiment, Reading, Size, row
from truepool_lab.paper.settings import COSTS, THRESHOLD
from truepool_lab.paper.synthetic_task import first_agents, panels, task
from truepool_lab.stress.constant import ConstantLow
from truepool_lab.stress.temperature import Temperature

ATTACKED, SCALED = "tab:adversarial_basic", "tab:miscal"
AGENTS = 10
ADVERSARIES = (0, 1, 2, 3, 5)
SHARES = (0, 20, 40, 60, 80)
TEMPERATURES = (0.5, 1.5)
ROWS = 3000
ENSEMBLE = (
    f"Clean synthetic task of {ROWS:,} rows, scikit-learn agents on silos of 60 % of "
    "the features, 70/30 split, threshold 0.5."
)


@final
class Robustness(Experiment):
    """Ten agents per repeat; the second table has the first five of them."""

    name: ClassVar[str] = "robustness"
    repeats: ClassVar[Mapping[Size, int]] = {"quick": 5, "full": 10}
    seconds: ClassVar[float] = 1.2
    readings: ClassVar[Mapping[str, Reading]] = {
        ATTACKED: Reading(
            f"{ENSEMBLE} VCG by the 0/1 cost loss; adversaries say 0.01 in the test "
            "only, "
            "so that weights are learned on honest data, as the first paragraph says; "
            "the extra row learns them with the adversaries, as the second says. 20 % "
            "are trimmed at each end.",
            "The task is not stated, and fewer are missed in ours. With weights "
            "learned on honest data VCG is not clearly better than the median at 1 to "
            "3 adversaries, and its mean is worse at 2 and 3: misses follow the "
            "weight of those who were bought (rank correlation 0.9 over repeats); "
            "learned under attack it hardly notices five of ten (X37).",
        ),
        SCALED: Reading(
            f"{ENSEMBLE} Equal weights, which the paper's discussion of the table "
            "credits; "
            "VCG (0/1 cost loss, learned after scaling) stands beside it. Which agents "
            "are scaled is drawn, the same and more of them with a larger share.",
            "The task is not stated, and fewer are missed in ours; misses hardly move "
            "with the share that is scaled, in print (0.111 to 0.117 at T = 1.5) as "
            "here, but in another order. Overconfident agents lower the ECE and "
            "underconfident ones raise it as printed: the equal pool is underconfident "
            "to begin with (confidence 0.05 below accuracy, though four of its five "
            "agents are within 0.03).",
            methods="none",
        ),
    }

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Train once, apply attacks and temperatures."""
        X, y = task(ROWS, cell.seed("task"))
        validation, test = panels(X, y, cell.seed("agents"), AGENTS)
        seed = cell.seed("who")
        five = first_agents(validation, 5), first_agents(test, 5)
        return [
            *rows_by_adversaries(ATTACKED, validation, test, seed),
            *rows_by_temperature(SCALED, *five, seed),
        ]


def rows_by_adversaries(
    table: str, validation: Panel, test: Panel, seed: int
) -> list[Row]:
    """Misses of every pool with some of ten agents at 0.01."""
    rows = []
    for k in ADVERSARIES:
        bad = ConstantLow()
        share = k / AGENTS
        after = bad(test, share, seed=seed)
        attacked = bad(validation, share, seed=seed)
        methods: dict[str, tuple[Pool, Panel]] = {
            "VCG": (_vcg(), validation),
            "Trimmed Mean": (Trimmed(), validation),
            "Median": (Median(), validation),
            "VCG, learned under attack": (_vcg(), attacked),
        }
        for method, (pool, known) in methods.items():
            missed = _fn_rate(pool, known, after)
            rows.append(row(table, [method], f"k={k}", missed))
    return rows


def rows_by_temperature(
    table: str, validation: Panel, test: Panel, seed: int
) -> list[Row]:
    """Misses and calibration error with a share of the agents scaled."""
    rows = []
    for T in TEMPERATURES:
        for percent in SHARES:
            share, scaled = percent / 100, Temperature(T)
            known = scaled(validation, share, seed=seed)
            after = scaled(test, share, seed=seed)
            pools: dict[str, Pool] = {"": Mean(), "VCG ": _vcg()}
            for who, pool in pools.items():
                pooled = pool.fit_panel(known).combine(after.values)
                counts = confusion(pooled, after.outcomes, threshold=THRESHOLD)
                error, place = ece(pooled, after.outcomes), f"{who}T={T}"
                rows.append(row(table, [percent], f"{place}/FN", counts.fn_rate))
                rows.append(row(table, [percent], f"{place}/ECE", error))
    return rows


def _vcg() -> VCG:
    return VCG(loss="cost", costs=COSTS, threshold=THRESHOLD)


def _fn_rate(pool: Pool, known: Panel, after: Panel) -> float:
    pooled = pool.fit_panel(known).combine(after.values)
    return confusion(pooled, after.outcomes, threshold=THRESHOLD).fn_rate
