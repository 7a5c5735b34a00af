"""Numbers of the full run that a cause quotes are those of its stored rows."""

import re
from pathlib import Path

import pytest

from truepool_lab.paper.archive import from_jsonl
from truepool_lab.paper.experiments.misreports import POOLS

RUN = from_jsonl((Path(__file__).parents[4] / "docs/reproduction.jsonl").read_text())
SLOW, BEST = "eta*/2", "R_T against the best agent"
QUOTED = [
    ("tab:regret_main", "66", "tab:regret_main", (1000,), "regret"),
    ("tab:regret_main", "20", "tab:regret", ("R_T", 1000), "eta=sqrt(ln n/T)"),
    ("tab:regret_main", "5.9", "tab:regret_main", (10000,), "regret/sqrt(T)"),
    ("tab:regret", "10.9", "tab:regret", (BEST, 1000), "eta=0.01"),
    ("tab:regret", "2.7", "tab:regret", (BEST, 1000), "eta=0.05"),
    ("tab:regret", "-3.1", "tab:regret", (BEST, 1000), "eta=0.1"),
    ("tab:regret", "4.5", "tab:regret", (BEST, 1000), "eta=sqrt(ln n/T)"),
    ("tab:regret", "-2.9", "tab:regret", (BEST, 1000), "eta=0.5"),
    ("tab:regret", "-2.0", "tab:regret", (BEST, 1000), "eta=1.0"),
    ("tab:drift_regret", "0.055", "tab:drift_regret", ("Agents alike", 100), SLOW),
    ("tab:drift_regret", "0.026", "tab:drift_regret", ("Agents alike", 500), SLOW),
    ("tab:drift_regret", "0.015", "tab:drift_regret", ("Agents alike", 1000), SLOW),
    ("tab:real_heart", "0.137", "tab:real_heart", ("Brier",), "ECE"),
    ("tab:real_heart", "0.107", "tab:real_heart", ("Brier",), "ECE, 10 bins"),
    ("tab:empirical_rho", "0.989", "tab:empirical_rho", ("NSL-KDD",), "mean rho"),
    ("tab:sample", "0.855", "tab:sample", (100,), "UNSW-NB15/VCG"),
    ("tab:sample", "0.955", "tab:sample", (2000,), "UNSW-NB15/VCG"),
    ("tab:calibration", "0.10", "tab:calibration", ("Bayesian log-odds",), "ECE"),
    ("tab:calibration", "0.08", "tab:calibration", ("Simple average",), "ECE"),
    ("tab:tabnet", "0.19", "tab:tabnet", ("Log-Odds",), "Credit Card at 0.3/FN"),
    (
        "tab:tabnet",
        "0.18",
        "tab:tabnet",
        ("Stacking-LR, on log-odds",),
        "Credit Card at 0.3/FN",
    ),
]


@pytest.mark.parametrize(("label", "number", "table", "key", "column"), QUOTED)
def test_a_cause_quotes_what_was_measured(label, number, table, key, column):
    quoted = re.findall(r"-?\d+(?:\.\d+)?", RUN[label].reading.cause)
    assert number in quoted
    half = 0.5 * 10.0 ** -len(number.partition(".")[2])
    measured = RUN[table].cells[key, column].measured.value
    assert abs(float(number) - measured) <= half * 1.001


def test_two_models_take_nearly_all_the_time_and_pools_are_within_eight_per_cent():
    breakdown = RUN["tab:latency_breakdown"].cells
    trees = (
        breakdown[("Agent Inference", name), "share of total (%)"].measured.value
        for name in ("Random Forest", "Gradient Boosting")
    )
    assert round(sum(trees)) == 95
    served = RUN["tab:throughput"]
    for key in served.table.keys:
        cells = [served.cells[key, pool] for pool in served.table.columns]
        for speeds in (
            [cell.measured.value for cell in cells],
            [cell.printed.value for cell in cells],
        ):
            assert max(speeds) / min(speeds) < 1.08


COLUMNS = (
    "cost, all truthful", "gain, relearned", "cost change, relearned",
    "gain against a pool without it",
)  # fmt: skip


def test_the_page_on_incentives_shows_the_rows_of_misreports():
    page = (Path(__file__).parents[4] / "docs/incentives.md").read_text()
    cells = RUN["tab:neural_comp@misreports"].cells
    shown = {name: pool for pool, name in POOLS.items()}
    lines = re.findall(r"^\| `([\w-]+)` \| (0\..*) \|$", page, re.MULTILINE)
    assert {name for name, _ in lines} == set(shown) - {"mean"}
    for name, line in lines:
        for text, column in zip(line.split(" | "), COLUMNS, strict=True):
            measured = cells[(f"NSL-KDD, costs: {shown[name]}",), column].measured
            value, _, error = text.partition(" ± ")
            assert abs(float(value) - measured.value) <= 0.000501
            assert not error or abs(float(error) - measured.error) <= 0.000501
