import numpy as np
import pytest
from scipy.stats import kstest

from truepool import Panel
from truepool.pools.trimmed import Trimmed
from truepool_lab.paper.experiments.adversarial import (
    ATTACKS,
    FIGURE_METHODS,
    SHARES,
    SMOOTH,
    Adversarial,
    rows_under_attack,
)
from truepool_lab.paper.interface import row
from truepool_lab.paper.real_task import ten_agents


def honest(seed, cases=600):
    """Ten agents that nearly always know."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, cases)
    sure = rng.beta(8, 1, (cases, 10))
    return Panel(np.where(y[:, None] == 1, sure, 1 - sure), y)


def missed(attack, percent):
    both = honest(0), honest(1)
    found = rows_under_attack("tab:adversarial", attack, percent, *both, seed=3)
    return {found["column"]: found["value"] for found in found}


def test_a_majority_that_flips_turns_the_median_round_and_not_the_weights():
    found = missed("label-flip", 60)
    assert found["Median"] > 0.9
    assert found["VCG"] < 0.1


def test_six_of_ten_that_always_say_no_silence_a_0_1_loss_and_not_a_smooth_one():
    # At equal weights no removal of one agent changes a decision, so nobody has credit.
    found = missed("const-low", 60)
    assert found["VCG"] == found["Median"] == 1.0
    assert found[SMOOTH] < 0.1


def test_attacks_agents_and_trimming_are_the_papers():
    panel = honest(0)
    after = {name: attack(panel, 1.0, seed=0).reports for name, attack in ATTACKS.items()}  # fmt: skip
    assert (after["const-low"] == 0.01).all()
    assert np.allclose(after["label-flip"], 1 - panel.reports)
    noise = after["random-noise"].ravel()
    assert kstest(noise, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(noise, panel.reports.ravel())[0, 1]) < 0.05
    assert (max(SHARES), len(ten_agents()), Trimmed().alpha) == (60, 10, 0.2)


def test_nobody_bad_is_the_same_under_every_attack():
    assert missed("const-low", 0) == missed("label-flip", 0)


@pytest.mark.parametrize("label", ["fig:adversarial"])
def test_misses_are_drawn_by_method_and_share(label):
    rows = [
        row("tab:adversarial", [attack, percent], method, percent / 100)
        for attack in ATTACKS
        for percent in SHARES
        for method in FIGURE_METHODS
    ]
    page = Adversarial().figure(label, rows)
    assert [axes.get_title(loc="left") for axes in page.axes] == list(ATTACKS)
    drawn = page.axes[0].images[0].get_array()
    assert np.allclose(drawn, np.tile(np.array(SHARES) / 100, (3, 1)))
