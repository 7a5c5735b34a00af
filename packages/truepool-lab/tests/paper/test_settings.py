"""What the paper fixes, what we chose, and what the library has as well."""

from inspect import signature

import numpy as np
import pytest
from scipy.stats import t

from truepool.datasets import synthetic
from truepool.datasets.synthetic import SKILLS
from truepool.measures.scores import ece
from truepool_lab.datasets.nsl_kdd import FIFTH
from truepool_lab.paper import (
    archive,
    canonical_game,
    real_task,
    settings,
    significance,
)
from truepool_lab.paper import synthetic_task as synthetic_agents
from truepool_lab.paper.experiments.main_results import MainResults


def test_the_skills_are_those_of_the_synthetic_data_set():
    assert settings.SKILLS == SKILLS
    by_default, ours = (synthetic(20, 0, **s) for s in ({}, {"skill": settings.SKILLS}))
    np.testing.assert_array_equal(ours.reports, by_default.reports)


def test_the_first_fifth_of_nsl_kdd_is_that_of_the_library():
    assert real_task.FIFTH == FIFTH


def test_splits_silos_and_the_fixed_seed_are_those_of_the_paper():
    assert (settings.TEST_SHARE, settings.VALIDATION_SHARE) == (0.3, 0.2)
    assert (settings.SILO_SHARE, synthetic_agents.FIXED) == (0.6, 42)
    train, validation, test = synthetic_agents.three_way_split(np.arange(100) % 2, 0)
    assert (len(train), len(validation), len(test)) == (56, 14, 30)


def test_games_have_ten_thousand_cases_ten_times_and_fewer_at_reduced_size():
    assert canonical_game.REPEATS == {"quick": 4, "full": 10}
    assert canonical_game.CASES == {"quick": 2000, "full": 10_000}


def test_real_data_are_drawn_as_tab_hyperparams_says_and_smaller_at_reduced_size():
    assert real_task.ROWS == {
        "full": {"NSL-KDD": 50_000, "Credit Card": 50_000, "UNSW-NB15": None},
        "quick": {"NSL-KDD": 4000, "Credit Card": 6000, "UNSW-NB15": 4000},
    }


@pytest.mark.parametrize(("p", "verdict"), [(0.0166, "Yes"), (0.0167, "No")])
def test_three_comparisons_share_the_level_of_five_percent(p, verdict):
    noise = np.arange(10) - 4.5
    apart = noise / noise.std(ddof=1) + t.isf(p / 2, 9) / np.sqrt(10)
    rows = significance.comparison_rows("tab:x", "Brier", apart, np.zeros(10))
    found = {row["column"]: row["value"] for row in rows}
    assert found["p-value"] == pytest.approx(p)
    assert found["significant"] == verdict


def test_calibration_errors_have_15_bins_and_ten_seeds():
    assert signature(ece).parameters["bins"].default == 15
    assert {cell.repeat for cell in MainResults().cells("full")} == set(range(10))


def test_intervals_take_ten_thousand_resamples_and_stored_numbers_six_digits():
    assert (significance.RESAMPLES, archive.DIGITS) == (10_000, 6)
