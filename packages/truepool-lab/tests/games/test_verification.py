"""Is truth best? Measured, and held to what theory says of each payment."""

import json

import pytest

from truepool.core.errors import SettingError
from truepool.panel.costs import Costs
from truepool_lab.games import Affine, Game, Shift, verify

COSTS = Costs(fn=10, fp=1)
CALIBRATED = Game(
    model="factor", truth="latent", threshold=0.3, costs=COSTS, cases=3000,
    outcomes="drawn",
)  # fmt: skip


@pytest.mark.parametrize("name", ["brier", "log", "spherical", "wsu"])
@pytest.mark.parametrize("others", [0.0, -0.2])
def test_truth_is_dominant_under_proper_scores(name, others):
    found = verify(name, CALIBRATED, others=others, trials=20)
    assert found.truthful_is_best
    assert found.gain < 1e-3
    assert abs(found.deviation[0]) <= 0.02


@pytest.mark.parametrize("name", ["brier", "wsu"])
def test_truth_is_best_among_affine_maps_too(name):
    found = verify(name, CALIBRATED, response=Affine(1.0, 1.4, 0.2), trials=12)
    assert found.deviation == (0.0, 1.0)
    assert found.gain == 0


def test_vcg_at_a_free_threshold_is_not_truthful():
    game = Game(threshold=0.3, costs=COSTS, cases=3000, outcomes="drawn")
    found = verify("vcg", game, trials=20)
    assert not found.truthful_is_best
    assert found.deviation[0] > 0.4
    assert found.p_value < 1e-6
    assert found.violations == 1


def test_vcg_at_its_own_threshold_is_an_equilibrium_but_not_dominant():
    game = Game(costs=COSTS, cases=10_000)
    best = verify("vcg", game, trials=10)
    assert best.gain == best.max_gain == 0
    assert best.deviation == (0.0,)
    # If the others shade down, shading up is better than the truth (READINGS 2).
    shaded = verify("vcg", game, others=-0.05, trials=10)
    assert shaded.deviation[0] > 0.1
    assert shaded.gain > 5 * shaded.error > 0


def test_luck_is_told_from_gain():
    # Of many deviations one always looks good on few cases; on fresh games it is not.
    game = Game(model="factor", truth="latent", cases=100, outcomes="drawn")
    found = verify("brier", game, response=Shift(0.2, 0.05), trials=60)
    assert found.violations > 0
    assert found.truthful_is_best


def test_a_verification_can_be_told():
    found = verify("externality", trials=4)
    result = json.loads(json.dumps(found.to_dict()))
    assert result["payment"] == "externality"
    assert result["truthful"] < 0


def test_what_cannot_be_verified_is_refused():
    with pytest.raises(SettingError, match="'shift' or 'affine'; got 'exact'"):
        verify("brier", response="exact")
    with pytest.raises(SettingError, match="at least 4 trials"):
        verify("brier", trials=1)
