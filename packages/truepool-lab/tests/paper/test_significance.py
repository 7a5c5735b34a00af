import numpy as np
import pytest
from scipy.stats import ttest_rel

from truepool_lab.paper.interface import row
from truepool_lab.paper.significance import by_seed, comparison_rows, interval


def values(rows):
    return {found["column"]: found["value"] for found in rows}


def test_repeats_of_one_method_are_found_in_their_order():
    rows = [
        row("tab:x", ["VCG"], "FN", 0.2),
        row("tab:x", ["Brier"], "FN", 0.9),
        row("tab:x", ["VCG"], "F1", 0.9),
        row("tab:y", ["VCG"], "FN", 0.9),
        row("tab:x", ["VCG"], "FN", 0.1),
    ]
    assert by_seed(rows, "tab:x", "VCG", "FN").tolist() == [0.2, 0.1]


def test_the_p_value_is_that_of_the_paired_t_test():
    rng = np.random.default_rng(0)
    ours, theirs = rng.random((2, 10))
    found = values(comparison_rows("tab:x", "Brier", theirs, ours))
    assert found["p-value"] == pytest.approx(ttest_rel(theirs, ours).pvalue)
    assert found["delta FN"] == pytest.approx(np.mean(theirs - ours))
    assert found["CI95 low"] < found["delta FN"] < found["CI95 high"]
    assert found["significant"] == "No"


def test_a_baseline_that_always_misses_more_is_significantly_worse():
    ours = np.linspace(0.1, 0.2, 10)
    theirs = ours + 0.05 + 0.001 * np.sin(np.arange(10))
    assert (
        values(comparison_rows("tab:x", "Brier", theirs, ours))["significant"] == "Yes"
    )


def test_one_seed_says_nothing_and_two_give_no_interval():
    one, two = np.array([0.1]), np.array([0.1, 0.3])
    assert comparison_rows("tab:x", "Brier", one, one) == []
    assert values(comparison_rows("tab:x", "Brier", two, two[::-1]))["CI95 low"] is None


def test_the_interval_holds_the_mean_about_as_often_as_it_should():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(40):
        low, high = interval(rng.normal(size=30))
        hits += low < 0 < high
    assert 33 <= hits <= 40  # 95 % of 40 is 38; fewer than 33 has a chance of 0.1 %
