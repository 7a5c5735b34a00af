"""Values that nobody should give, and how games and pools answer them."""

import numpy as np
import pytest
from panels import random_panel

from truepool import Costs, Panel, pools
from truepool.core.errors import SettingError
from truepool_lab.games import Game, incentives


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_a_seed_is_a_whole_number(seed):
    panel = random_panel(0, 20)
    for use in (
        lambda: incentives(panel, seed=seed),
        lambda: Game(3).solve("vcg", seed=seed),
    ):
        with pytest.raises(SettingError, match="a seed must be a whole number"):
            use()


def test_a_seed_may_be_large():
    pool = pools.make("stacked-mlp", seed=2**32).fit_panel(random_panel(0, 30))
    assert np.isfinite(pool.predict_proba(random_panel(0, 30).reports)).all()


@pytest.mark.parametrize(
    ("reports", "costs"),
    [
        (np.zeros((20, 3)), None),
        (np.ones((20, 3)), None),
        (np.tile(np.arange(20)[:, None] % 2, (1, 3)).astype(float), None),
        (np.full((20, 3), 5e-324), None),
        (np.full((20, 3), 0.5), Costs(fn=1e100, fp=1e-100)),
    ],
)
def test_incentives_of_extreme_reports_are_numbers(reports, costs):
    panel = Panel(reports, np.arange(20) % 2)
    assert "of 3 agents" in repr(incentives(panel, costs=costs))
