"""Why headline tables of real data differ: each stated cause, shown.

What the full run measured is read from docs/reproduction.jsonl.
"""

from pathlib import Path

import numpy as np
import pytest
from dataset_requirements import needs

from truepool import datasets
from truepool.core.engine import cells
from truepool.measures.diversity import correlation, mean_over_pairs
from truepool.measures.scores import ece
from truepool_paper.archive import from_jsonl
from truepool_paper.expected import paper_tables
from truepool_paper.experiments.heterogeneity import COMPOSITIONS, _pool_rows, _team
from truepool_paper.methods import methods, pool_with
from truepool_paper.real_task import task
from truepool_paper.verdicts import tolerance

RUN = from_jsonl((Path(__file__).parents[2] / "docs/reproduction.jsonl").read_text())
HEADLINE = (
    "main_results", "ece_binary", "sample", "adversarial", "platt", "empirical_rho",
    "real_heart", "real_diabetes", "heterogeneity", "vcg_decomp", "approx_vcg",
)  # fmt: skip


def ours(label, *key, column):
    return RUN[label].cells[key, column].measured


def differing(label):
    """Places of a table that are neither a match nor close."""
    return [p for p, cell in RUN[label].cells.items() if cell.verdict == "differs"]


def test_these_tables_are_match_or_close_or_shown_here_why():
    assert {label for label in HEADLINE if RUN[f"tab:{label}"].verdict == "differs"} == {
        "main_results", "ece_binary", "sample", "adversarial", "platt", "empirical_rho",
        "real_heart", "heterogeneity", "vcg_decomp", "approx_vcg",
    }  # fmt: skip


def test_most_that_differs_in_the_main_table_is_of_the_other_partition():
    apart = differing("tab:main_results")
    rest = {(key[0], column) for key, column in apart if "UNSW" not in column}
    assert rest == {
        ("Majority Vote", "Credit Card/recall"), ("Majority Vote", "Credit Card/FN"),
        ("Best Individual", "Credit Card/recall"), ("Best Individual", "Credit Card/FN"),
        ("Majority Vote", "NSL-KDD/F1"), ("Log-Odds", "NSL-KDD/F1"),
    }  # fmt: skip
    assert len(apart) > 3 * len(rest)
    assert all("UNSW" in column for _, column in differing("tab:platt"))


@needs("credit-card")
@pytest.mark.slow
@pytest.mark.data
def test_on_credit_card_two_votes_of_five_and_no_agent_alone_come_near_the_print():
    table = paper_tables()["tab:main_results"].numbers
    vote, best = (table[(m,), "Credit Card/FN"].value for m in ("Majority Vote", "Best Individual"))  # fmt: skip
    two, three, alone = [], [], []
    for cell in cells("main-results", 3, {"data": ["Credit Card"], "size": ["full"]}):
        _, test = task("credit-card", 50_000, cell).panels()
        frauds = test.reports[test.outcomes == 1] > 0.3
        two.append(1 - (frauds.mean(axis=1) > 0.3).mean())
        three.append(1 - (frauds.mean(axis=1) > 0.5).mean())
        alone.append(1 - frauds.mean(axis=0).max())
    assert np.mean(alone) > best + 2 * np.std(alone, ddof=1) / np.sqrt(3)
    spread = np.std(two, ddof=1) / np.sqrt(3) * np.sqrt(1 + 3 / 10)
    assert abs(np.mean(two) - vote) < 2 * spread
    assert np.mean(three) - vote > 2 * spread


@needs("unsw-nb15")
@pytest.mark.data
def test_the_partition_at_hand_has_another_share_of_attacks_than_the_papers():
    attacks = datasets.load("unsw-nb15", rows=None, seed=None).outcomes.mean()
    assert attacks == pytest.approx(0.55, abs=0.005)  # sec:main_results has 0.64


def test_printed_misses_of_nsl_kdd_lie_between_those_of_two_draws():
    table = paper_tables()["tab:main_results"]
    for key in table.keys:
        printed = table.numbers[key, "NSL-KDD/FN"]
        most, subsample = (
            ours("tab:main_results", *key, column=f"{draw}/FN").value
            for draw in ("NSL-KDD", "NSL-KDD, 47,736 rows")
        )
        assert most - printed.rounding <= printed.value <= subsample + printed.rounding


def test_what_differs_by_training_size_is_of_the_other_partition_or_of_fraud():
    rest = {(key, column) for key, column in differing("tab:sample") if "UNSW" not in column}  # fmt: skip
    assert rest == {
        ((1000,), "Credit Card/VCG"), ((1000,), "Credit Card/Majority Vote")
    }  # fmt: skip
    recall = paper_tables()["tab:sample"].numbers[(200,), "Credit Card/VCG"]
    missed = paper_tables()["tab:vcg_decomp"].numbers[(200,), "Credit Card/VCG FN"]
    assert missed.value - (1 - recall.value) == pytest.approx(0.043, abs=0.001)


def test_weights_learned_from_more_labels_miss_less_than_equal_ones_as_printed():
    assert differing("tab:vcg_decomp") == [((200,), "NSL-KDD/VCG FN")]
    for n in (100, 200, 500, 2000):
        vcg, equal = (
            ours("tab:vcg_decomp", n, column=f"NSL-KDD/{method}").value
            for method in ("VCG FN, more labels", "Equal FN")
        )
        assert vcg < equal


def test_where_adversaries_are_a_fifth_the_printed_order_is_within_the_spread():
    assert differing("tab:adversarial") == [
        (("const-low", 20), "TrimmedMean"), (("const-low", 20), "Median")
    ]  # fmt: skip
    table = paper_tables()["tab:adversarial"].numbers
    names = ("TrimmedMean", "Median")
    printed = [table[("const-low", 20), name].value for name in names]
    for name in names:
        seeds = ours("tab:adversarial", "const-low", 20, column=name).values
        assert np.std(seeds, ddof=1) > printed[1] - printed[0]


def test_with_ten_bins_every_calibration_error_of_the_heart_table_matches():
    table = paper_tables()["tab:real_heart"]
    apart = differing("tab:real_heart")
    assert {column for _, column in apart} == {"ECE"}
    for (key, column), printed in table.numbers.items():
        if column == "ECE":
            got = ours("tab:real_heart", *key, column="ECE, 10 bins")
            assert abs(got.value - printed.value) <= tolerance(
                printed, got, table.seeds
            )


def test_the_same_agents_and_pool_have_one_number_in_ours_and_two_in_print():
    main = ours("tab:main_results", "VCG", column="NSL-KDD/FN")
    made = ours("tab:heterogeneity", "Heterogeneous", column="NSL-KDD/FN")
    assert made.value == main.value
    printed = [
        paper_tables()[label].numbers[(name,), "NSL-KDD/FN"]
        for label, name in (
            ("tab:main_results", "VCG"),
            ("tab:heterogeneity", "Heterogeneous"),
        )
    ]
    assert (
        printed[1].value - printed[0].value > printed[0].rounding + 2 * printed[1].error
    )


@needs("nsl-kdd")
@pytest.mark.slow
@pytest.mark.data
def test_printed_misses_of_forests_are_those_of_ten_thousand_rows():
    printed = paper_tables()["tab:heterogeneity"].numbers[("5x RF",), "NSL-KDD/FN"]
    misses = []
    for cell in cells("heterogeneity", 3, {"data": ["NSL-KDD"]}):
        panels = task("nsl-kdd", 10_000, cell).panels(_team(COMPOSITIONS["5x RF"]))
        misses.append(_pool_rows("NSL-KDD", "5x RF", *panels)[0]["value"])
    error = np.hypot(printed.error, np.std(misses, ddof=1) / np.sqrt(3))
    assert abs(np.mean(misses) - printed.value) < 2 * error
    whole = ours("tab:heterogeneity", "5x RF", column="NSL-KDD/FN")
    assert printed.value - whole.value > 2 * np.hypot(printed.error, whole.error)


@pytest.fixture(scope="module")
def few():
    """Panels of agents that learned from 4,000 rows, in two repeats."""
    made = cells("main-results", 2, {"data": ["NSL-KDD"]})
    return [task("nsl-kdd", 4000, cell).panels() for cell in made]


@needs("nsl-kdd")
@pytest.mark.data
def test_agents_that_learn_from_fewer_rows_are_less_alike_than_printed(few):
    printed = paper_tables()["tab:empirical_rho"].numbers[("NSL-KDD",), "mean rho"]
    rho = [mean_over_pairs(correlation(test)) for _, test in few]
    many = ours("tab:empirical_rho", "NSL-KDD", column="mean rho")
    assert np.mean(rho) < printed.value < many.value


@needs("nsl-kdd")
@pytest.mark.data
@pytest.mark.parametrize("method", sorted(methods().keys() - {"Best Individual"}))
def test_printed_calibration_errors_lie_between_few_rows_and_many(few, method):
    printed = paper_tables()["tab:ece_binary"].numbers[(method,), "NSL-KDD"]
    most = np.mean([ece(pool_with(methods()[method], *both), both[1].outcomes) for both in few])  # fmt: skip
    least = ours("tab:ece_binary", method, column="NSL-KDD").value
    assert most > 1.5 * least
    between = (
        least < printed.value + printed.rounding
        and printed.value - printed.rounding < most
    )
    assert between == (method not in ("Externality", "Conf-Weighted"))


def test_only_latencies_differ_where_removals_are_drawn():
    assert {column for _, column in differing("tab:approx_vcg")} == {"latency (ms)"}
