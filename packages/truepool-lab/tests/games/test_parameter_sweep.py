"""Sweeps: the same numbers as single games, with any number of jobs."""

import json

import joblib
import pytest
from numpy.testing import assert_allclose

from truepool.core.errors import SettingError, UnknownNameError
from truepool_lab.games import ClippedBeliefsWarning, Game, parameter_sweep, sweep

GAME = Game(threshold=0.4, cases=500)


def test_a_point_is_the_game_solved_there():
    found = sweep(GAME, {"rho": [0.2, 0.6], "n": [3, 4]}, ["brier", "vcg"], seed=5)
    assert len(found.points) == 8
    assert found.over == {"correlation": (0.2, 0.6), "agents": (3, 4)}
    point = found.select("vcg")[1]
    assert point.settings == {"correlation": 0.2, "agents": 4}
    alone = Game(4, 0.2, threshold=0.4, cases=500).solve("vcg", seed=5)
    assert_allclose(
        [point.shift, point.fn, point.poa], [alone.shift, alone.fn, alone.poa]
    )
    assert (point.poa_error, point.shift_error) == (0, 0)
    assert found.payments == ("brier", "vcg")


def test_the_number_of_jobs_changes_nothing():
    over = {"correlation": [0.1, 0.5, 0.9]}
    one, two = (sweep(GAME, over, repetitions=2, jobs=w) for w in (1, 2))
    assert one.points == two.points


def test_long_sweeps_go_to_all_cores_and_short_ones_stay(monkeypatch):
    over = {"correlation": [0.1, 0.3, 0.5, 0.7, 0.9]}
    here = sweep(GAME, over)
    monkeypatch.setattr(
        parameter_sweep, "STARTUP_SECONDS", -1.0
    )  # every sweep is long enough
    assert sweep(GAME, over).points == here.points


def test_repetitions_are_other_games():
    found = sweep(GAME, {"offset": [0.03]}, ["brier"], repetitions=5)
    (point,) = found.points
    seen = sweep(GAME, {"offset": [0.03]}, ["brier"], repetitions=1).points[0]
    assert point.fn != seen.fn
    assert point.poa_error > 0


def test_arguments_of_solve_can_be_swept_and_given():
    found = sweep(GAME, {"sees": ["none", "all"]}, ["vcg"], rounds=3)
    none, everyone = found.points
    assert none.settings == {"sees": "none"}
    assert abs(none.shift) >= abs(everyone.shift)


def test_progress_is_told():
    steps = []
    sweep(GAME, {"n": [2, 3]}, ["brier"], progress=lambda *step: steps.append(step))
    assert steps == [("brier", 1, 2), ("brier", 2, 2)]


def test_clipping_is_told_once_with_the_worst_share():
    with pytest.warns(ClippedBeliefsWarning, match=r"up to \d\d\.\d %") as warned:
        found = sweep(GAME, {"offset": [0.0, 0.4, 0.6]}, ["brier"])
    assert len(warned) == 1
    assert found.points[2].offset < 0.6
    assert found.points[2].poa is None
    assert found.points[2].poa_error is None


def test_a_sweep_can_be_told_to_machines():
    result = json.loads(json.dumps(sweep(GAME, {"n": [2]}).to_dict()))
    assert [point["payment"] for point in result["points"]] == ["brier", "vcg"]


def test_sweeps_over_nothing_are_refused():
    with pytest.raises(UnknownNameError, match="parameter to sweep is called 'rhoo'"):
        sweep(GAME, {"rhoo": [1]})
    with pytest.raises(SettingError, match="at least one value of 'agents'"):
        sweep(GAME, {"n": []})
    with pytest.raises(
        SettingError, match="whole number of repetitions, at least 1; got 0"
    ):
        sweep(GAME, {"n": [2]}, repetitions=0)


@pytest.mark.parametrize(
    ("over", "sentence"),
    [
        ({"rho": ["abc"]}, "values of 'correlation' must be numbers; got 'abc'"),
        ({"tau": ["abc"]}, "values of 'threshold' must be numbers; got 'abc'"),
        ({"response": [5.0]}, "values of 'response' must be names; got 5.0"),
        ({"rounds": [1.5]}, "whole number of rounds, at least 1; got 1.5"),
        ({"sees": [1.5]}, "'none', 'all' or a whole number from 0 to 5; got 1.5"),
        ({"rho": [0.1], "correlation": [0.2]}, "each setting once; got 'rho', 'corr"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(over, sentence):
    with pytest.raises(SettingError, match=sentence):
        sweep(GAME, over, ["vcg"], jobs=1)


def test_a_sweep_of_more_than_a_hundred_thousand_games_is_refused():
    with pytest.raises(SettingError, match="at most 100,000 games; got 100,002"):
        sweep(GAME, {"n": [2, 3]}, ["brier"], repetitions=50_001)
    parameter_sweep.check_size(100_000)


@pytest.mark.parametrize("jobs", [0, -5, 1.5, "a"])
def test_jobs_are_a_whole_number_or_minus_one(jobs):
    with pytest.raises(
        SettingError, match="jobs must be a whole number of at least 1, or -1"
    ):
        sweep(GAME, {"n": [2]}, ["brier"], jobs=jobs)


def test_there_are_no_more_processes_than_cores(monkeypatch):
    started = []

    class Parallel(joblib.Parallel):
        def __init__(self, n_jobs, **settings):
            started.append(n_jobs)
            super().__init__(n_jobs=1, **settings)

    monkeypatch.setattr(joblib, "Parallel", Parallel)
    monkeypatch.setattr(joblib, "cpu_count", lambda: 3)
    for jobs in (2, 100_000, -1):
        sweep(GAME, {"n": [2]}, ["brier"], jobs=jobs)
    assert started == [2, 3, 3]
