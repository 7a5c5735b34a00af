"""Runs, repeats and shifts, looking back at a whole feed."""

import numpy as np
import pytest

from truepool.online.alarms.distribution import shifts
from truepool.online.alarms.repeats import RepeatDetector, repeat
from truepool.online.alarms.runs import (
    RunDetector,
    codes_of,
    constant_run,
    missing_run,
    repeated_cases,
)
from truepool.stress.drift import quality_panel


def rounded(T, digits=2, seed=0):
    rng = np.random.default_rng(seed)
    return np.round(rng.beta(1, 9, T), digits)


def codes(series):
    return codes_of(np.asarray(series, dtype=float).reshape(len(series), -1, 1))


@pytest.mark.parametrize("digits", [1, 2, 6])
def test_rounded_reports_have_runs_and_no_fault(digits):
    p = [
        constant_run(codes(rounded(3000, digits, s))[:, 0]).p_value for s in range(100)
    ]
    assert min(p) > 1e-4


def test_a_feed_that_mostly_says_one_thing_is_not_dead():
    rng = np.random.default_rng(0)
    alerts = (rng.random(5000) < 0.02) * 1.0
    assert constant_run(codes(alerts)[:, 0]).p_value == 1.0
    alerts[3000:] = 0.0
    assert constant_run(codes(alerts)[:, 0]).p_value < 1e-6


def test_a_feed_that_was_always_constant_did_not_go_constant():
    assert constant_run(np.zeros(500, dtype=int)).p_value == 1.0


@pytest.mark.parametrize("digits", [2, 6])
def test_a_run_in_the_middle_is_found_from_its_beginning_to_its_end(digits):
    feed = rounded(2000, digits)
    feed[700:900] = 0.055
    run = constant_run(codes(feed)[:, 0])
    assert (run.start, run.stop, len(run)) == (700, 900, 200)
    assert run.p_value < 1e-12


def test_gaps_at_random_are_no_stop_and_who_joins_late_never_stopped():
    rng = np.random.default_rng(0)
    quiet = rng.random(3000) < 0.3
    assert missing_run(quiet).p_value == 1.0
    quiet[:800] = True
    assert missing_run(quiet).p_value == 1.0
    quiet[2500:] = True
    run = missing_run(quiet)
    assert run.p_value < 1e-9
    assert abs(run.start - 2500) < 10


def test_a_feed_that_seldom_reports_is_not_asked_why_it_stopped():
    quiet = np.random.default_rng(0).random(3000) < 0.7
    quiet[2000:] = True
    assert missing_run(quiet).p_value == 1.0


def test_the_same_case_again_is_nobodys_constant_feed():
    feed = np.random.default_rng(0).random((50, 2)).repeat(3, axis=0)
    assert repeated_cases(codes(feed)).sum() == 100


@pytest.mark.parametrize("digits", [2, 3, 6])
@pytest.mark.parametrize("lag", [150, 151, 700])
def test_old_reports_are_found_with_their_age(digits, lag):
    feed = np.stack([rounded(3000, digits, s) for s in range(3)], axis=1)
    feed[2000:, 1] = feed[2000 - lag : 3000 - lag, 1]
    coded = codes(feed)
    found = repeat(coded, 1)
    assert found.lag == lag
    assert abs(found.since - 2000) <= 3
    assert found.p_value < 1e-6
    assert repeat(coded, 0).p_value == repeat(coded, 2).p_value == 1.0


def test_rounded_feeds_do_not_repeat_themselves():
    p = [
        repeat(codes(rounded(1500, d, s)), 0).p_value for d in (1, 2) for s in range(60)
    ]
    assert min(p) > 1e-4


def test_a_period_and_cases_that_come_twice_are_no_old_reports():
    rng = np.random.default_rng(0)
    daily = np.tile(rng.random(24), 50)[:, None]
    other = rng.random((1200, 2))
    assert repeat(codes(np.c_[daily, other]), 0).p_value == 1.0
    twice = rng.random((600, 3))
    twice = np.r_[twice, twice[100:500]]
    assert [repeat(codes(twice), i).p_value for i in range(3)] == [1.0] * 3


def test_a_short_or_constant_feed_repeats_nothing():
    assert repeat(codes(rounded(60)), 0).p_value == 1.0
    assert repeat(np.zeros((500, 1), dtype=int), 0).p_value == 1.0


def test_a_change_of_everybody_is_nobodys():
    panel = quality_panel(
        "sudden", before=[1.5] * 4, after=[0.3] * 4, cases=6000, base_rate=0.2,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    for link, moved in shifts(panel.values):
        assert min(link.p_value, moved.p_value) > 0.01


def test_two_agents_cannot_tell_who_lost_touch_and_nobody_is_blamed():
    panel = quality_panel(
        "none", before=[1.5] * 2, after=[1.5] * 2, cases=3000, correlation=0.5
    )
    said = panel.values.copy()
    said[1500:, 1] = np.random.default_rng(0).permutation(said[1500:, 1])
    assert [link.p_value for link, _ in shifts(said)] == [1.0, 1.0]


@pytest.mark.parametrize("of", [None, 1.0])
def test_a_run_detector_calls_once_per_run(of):
    rng = np.random.default_rng(1)
    series = (rng.random(1500) < 0.1) * 1.0 if of else rng.random(1500)
    series[500:600] = series[900:1000] = 1.0
    watch = RunDetector(every=10_000, of=of)
    called = [t for t, x in enumerate(series) if watch.update(float(x))]
    assert len(called) == 2
    assert 500 < called[0] < 560
    assert 900 < called[1] < 960


def test_a_repeat_detector_sees_through_rounding():
    feed = rounded(3000, 2)
    feed[2000:2300] = feed[1700:2000]
    watch = RepeatDetector(every=10_000)
    called = [t for t, x in enumerate(feed.tolist()) if watch.update(x)]
    assert len(called) == 1
    assert 2000 < called[0] < 2100
    assert watch._called is False  # it has ended since


def test_a_run_detector_knows_feeds_that_move_slowly():
    watch = RunDetector(every=10_000)
    slow = np.random.default_rng(0).random(100).repeat(10).tolist()
    assert not any(watch.update(x) for x in [*slow, *[0.5] * 25])
    # Such a feed must stand still for long: a new value may be one that stays.
    assert any(watch.update(0.5) for _ in range(3000))
