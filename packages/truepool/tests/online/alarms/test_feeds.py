"""Runs, repeats and shifts in a whole feed."""

import numpy as np
import pytest
from simulated_faults import quality_panel

from truepool.online.alarms.distribution import Shift, shifts
from truepool.online.alarms.repeats import RepeatDetector, repeat
from truepool.online.alarms.runs import (
    RunDetector,
    constant_run,
    missing_run,
    repeated_cases,
    report_codes,
)


def rounded(T, digits=2, seed=0):
    rng = np.random.default_rng(seed)
    return np.round(rng.beta(1, 9, T), digits)


def codes(series):
    return report_codes(np.asarray(series, dtype=float).reshape(len(series), -1, 1))


@pytest.mark.parametrize("digits", [1, 2, 6])
def test_rounded_reports_have_runs_and_no_fault(digits):
    p = [
        constant_run(codes(rounded(3000, digits, s))[:, 0]).p_value for s in range(100)
    ]
    assert min(p) > 1e-4


def test_a_feed_that_mostly_reports_one_value_is_not_constant():
    rng = np.random.default_rng(0)
    alerts = (rng.random(5000) < 0.02) * 1.0
    assert constant_run(codes(alerts)[:, 0]).p_value == 1.0
    alerts[3000:] = 0.0
    assert constant_run(codes(alerts)[:, 0]).p_value < 1e-6


def streaky(seed, T=40_000):
    """A forest that says 0 in most cases of one kind, which come together."""
    rng = np.random.default_rng(seed)
    calm = np.repeat(rng.random(T // 100) < 0.5, 100)
    zero = rng.random(T) < np.where(calm, 0.93, 0.3)
    return np.where(zero, 0.0, rng.integers(1, 400, T) / 400)


def test_where_repeats_come_in_streaks_the_longest_run_is_no_fault():
    """Independent repeats would make these runs less likely than one in a million."""
    p = [constant_run(codes(streaky(s))[:, 0]).p_value for s in range(20)]
    assert np.mean(np.array(p) < 0.01) <= 0.05
    stuck = streaky(0)
    stuck[20_000:21_000] = 0.0
    run = constant_run(codes(stuck)[:, 0])
    assert run.p_value < 1e-4
    assert (run.start <= 20_000, run.stop >= 21_000) == (True, True)


def test_a_monitored_feed_in_streaks_alarms_no_more_often_than_it_may():
    """Twenty in 200,000 cases; 30 or fewer in 98 of 100 such draws (Poisson)."""
    alarms = 0
    for seed in range(10):
        detector = RunDetector(cases_per_false_alarm=10_000)
        alarms += sum(
            detector.update(value) for value in streaky(seed, 20_000).tolist()
        )
    assert alarms <= 30


def test_a_feed_that_was_always_constant_did_not_become_constant():
    assert constant_run(np.zeros(500, dtype=int)).p_value == 1.0


@pytest.mark.parametrize("digits", [2, 6])
def test_a_run_in_the_middle_is_found_from_its_beginning_to_its_end(digits):
    feed = rounded(2000, digits)
    feed[700:900] = 0.055
    run = constant_run(codes(feed)[:, 0])
    assert (run.start, run.stop, len(run)) == (700, 900, 200)
    assert run.p_value < 1e-12


def test_random_gaps_and_a_late_start_do_not_count_as_a_stop():
    rng = np.random.default_rng(0)
    missing = rng.random(3000) < 0.3
    assert missing_run(missing).p_value == 1.0
    missing[:800] = True
    assert missing_run(missing).p_value == 1.0
    missing[2500:] = True
    run = missing_run(missing)
    assert run.p_value < 1e-9
    assert abs(run.start - 2500) < 10


def test_a_feed_that_seldom_reports_is_not_tested_for_a_stop():
    missing = np.random.default_rng(0).random(3000) < 0.7
    missing[2000:] = True
    assert missing_run(missing).p_value == 1.0


def test_duplicate_cases_are_not_a_constant_feed():
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


def test_periodic_feeds_and_duplicate_cases_are_not_repeats():
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


def test_a_change_common_to_all_agents_is_attributed_to_none():
    panel = quality_panel(
        "sudden", before=[1.5] * 4, after=[0.3] * 4, cases=6000, base_rate=0.2,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    for link, moved in shifts(panel.values):
        assert min(link.p_value, moved.p_value) > 0.01


def test_an_agent_that_reports_the_opposite_makes_no_sound_one_look_broken():
    """One of five is noise from the middle on; one reports the opposite all along."""
    panel = quality_panel(
        "none", before=[1.5] * 5, after=[1.5] * 5, cases=3000, base_rate=0.1,
        correlation=0.3, honest=True, seed=1,
    )  # fmt: skip
    values = panel.values.copy()
    values[:, 2] = 1 - values[:, 2]
    values[1500:, 4] = np.random.default_rng(0).permutation(values[1500:, 4])
    found = shifts(values)
    broken, other = found[4]
    assert broken.p_value < 1e-6
    assert broken.before > 0.2 > broken.after
    for link, moved in (*found[:4], (other, other)):
        assert min(link.p_value, moved.p_value) > 0.01


def test_who_turns_round_half_way_is_found():
    panel = quality_panel(
        "none", before=[1.5] * 4, after=[1.5] * 4, cases=3000, base_rate=0.3,
        correlation=0.3, honest=True, seed=2,
    )  # fmt: skip
    values = panel.values.copy()
    values[1000:, 0] = 1 - values[1000:, 0]
    link, _ = shifts(values)[0]
    assert link.p_value < 1e-6
    assert link.after < 0 < link.before
    assert link.opposite


def test_noise_is_not_the_opposite():
    assert not Shift("link", 5, 0.8, -0.19, 0.0).opposite
    assert Shift("link", 5, 0.8, -0.21, 0.0).opposite


def test_with_two_agents_a_lost_link_is_attributed_to_neither():
    panel = quality_panel(
        "none", before=[1.5] * 2, after=[1.5] * 2, cases=3000, correlation=0.5
    )
    values = panel.values.copy()
    values[1500:, 1] = np.random.default_rng(0).permutation(values[1500:, 1])
    assert [link.p_value for link, _ in shifts(values)] == [1.0, 1.0]


@pytest.mark.parametrize("only", [None, 1.0])
def test_a_run_detector_raises_one_alarm_per_run(only):
    rng = np.random.default_rng(1)
    series = (rng.random(1500) < 0.1) * 1.0 if only else rng.random(1500)
    series[500:600] = series[900:1000] = 1.0
    detector = RunDetector(cases_per_false_alarm=10_000, only=only)
    alarmed = [t for t, x in enumerate(series) if detector.update(float(x))]
    assert len(alarmed) == 2
    assert 500 < alarmed[0] < 560
    assert 900 < alarmed[1] < 960


def test_a_repeat_detector_copes_with_rounding():
    feed = rounded(3000, 2)
    feed[2000:2300] = feed[1700:2000]
    detector = RepeatDetector(cases_per_false_alarm=10_000)
    alarmed = [t for t, x in enumerate(feed.tolist()) if detector.update(x)]
    assert len(alarmed) == 1
    assert 2000 < alarmed[0] < 2100
    assert detector._alarmed is False  # the repeat is over


def test_a_run_detector_allows_for_feeds_that_move_slowly():
    detector = RunDetector(cases_per_false_alarm=10_000)
    slow = np.random.default_rng(0).random(100).repeat(10).tolist()
    assert not any(detector.update(x) for x in [*slow, *[0.5] * 25])
    # Such a feed must be constant for long: a new value may simply last.
    assert any(detector.update(0.5) for _ in range(3000))
