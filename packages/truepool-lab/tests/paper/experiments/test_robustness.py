import pytest

from truepool.core.engine import Cell
from truepool_lab.paper.experiments.robustness import ADVERSARIES, SHARES, Robustness


@pytest.fixture(scope="module")
def found():
    rows = Robustness.measure(Cell("robustness", (), 0))
    return {(r["table"], r["key"][0], r["column"]): r["value"] for r in rows}


def test_without_adversaries_it_does_not_matter_when_weights_are_learned(found):
    table = "tab:adversarial_basic"
    assert (
        found[table, "VCG", "k=0"] == found[table, "VCG, learned under attack", "k=0"]
    )


def test_with_half_of_the_agents_bought_the_median_finds_little(found):
    missed = [found["tab:adversarial_basic", "Median", f"k={k}"] for k in ADVERSARIES]
    assert missed == sorted(missed)
    assert missed[-1] > 0.5


def test_agents_as_they_are_do_not_depend_on_the_temperature(found):
    for who in ("", "VCG "):
        for score in ("FN", "ECE"):
            cold, warm = (
                found["tab:miscal", 0, f"{who}T={T}/{score}"] for T in (0.5, 1.5)
            )
            assert cold == warm


def test_the_equal_pool_is_underconfident_so_overconfident_agents_mend_it(found):
    # READINGS 1: any linear pool of calibrated agents lacks sharpness.
    cold = [found["tab:miscal", share, "T=0.5/ECE"] for share in SHARES]
    warm = [found["tab:miscal", share, "T=1.5/ECE"] for share in SHARES]
    assert cold[-1] < cold[0] < warm[-1]
