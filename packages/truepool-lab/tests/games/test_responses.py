"""Families of misreports: what they send, and ties go to the truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from truepool.core.errors import SettingError, UnknownNameError
from truepool_lab.games.payoffs import Squares
from truepool_lab.games.responses import (
    Affine,
    Cut,
    Exact,
    Shift,
    as_response,
    best_index,
)


def test_the_grid_is_the_papers():
    shifts = Shift().shifts
    assert len(shifts) == 101
    assert_allclose(shifts, np.linspace(-0.5, 0.5, 101), atol=1e-15)
    assert shifts[50] == 0.0
    assert 0.29 in shifts


def test_of_two_shifts_that_earn_the_same_the_truer_is_sent():
    truth = np.full(10, 0.5)
    halfway = Squares(np.full(10, 0.555))  # 0.05 and 0.06 are equally good
    assert Shift().respond(halfway, truth).deviation == (0.05,)
    assert Shift().respond(Squares(np.full(10, 0.445)), truth).deviation == (-0.05,)


def test_where_nothing_matters_the_truth_is_told():
    truth = np.array([0.1, 0.9])
    nothing = Squares(truth, scale=0.0)
    assert Shift().respond(nothing, truth).deviation == (0.0,)
    move = Affine().respond(nothing, truth)
    assert move.deviation == (0.0, 1.0)
    assert move.reports is truth


def test_an_affine_map_finds_the_one_that_made_the_target():
    truth = np.random.default_rng(0).uniform(0.05, 0.95, 500)
    family = Affine()
    target = family.apply((0.5, 0.7), truth)
    move = family.respond(Squares(target), truth)
    assert move.deviation == (0.5, 0.7)
    assert_allclose(move.reports, target)
    assert move.gain > 0


def test_slopes_and_intercepts_hold_the_truth():
    family = Affine(reach=1.0, max_slope=1.5, step=0.25)
    assert family.slopes.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5]
    assert family.intercepts[4] == 0.0


def test_the_highest_wins_and_of_equals_the_nearest():
    assert best_index(np.array([1.0, 3.0, 3.0]), np.array([0.0, 2.0, 1.0])) == 2


def test_families_are_found_by_name():
    assert [type(as_response(n)) for n in ("shift", "affine", "threshold", "exact")] == [
        Shift, Affine, Cut, Exact,
    ]  # fmt: skip
    assert as_response(Shift(step=0.05)).step == 0.05
    with pytest.raises(
        UnknownNameError, match="known: affine, exact, shift, threshold"
    ):
        as_response("shove")


def test_grids_that_are_none_are_refused():
    with pytest.raises(SettingError, match="0 < step <= reach <= 1"):
        Shift(step=0.0)
    with pytest.raises(SettingError, match="step must be positive"):
        Affine(step=9.0)
