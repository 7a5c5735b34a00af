"""Worlds that move deliver what was asked for, and learners follow them."""

from itertools import pairwise
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from truepool.core.arrays import logit
from truepool.core.errors import (
    AgentError,
    OutcomeError,
    SettingError,
    UnknownNameError,
)
from truepool.measures.scores import auc, confusion
from truepool.online import replay
from truepool_lab.stress.drift import (
    KINDS,
    quality_panel,
    schedule,
    shift_features,
)

MOVING = [kind for kind in KINDS if kind != "none"]


# How far the world has moved


@given(
    st.sampled_from(KINDS),
    st.integers(1, 300),
    st.floats(0, 1),
    st.floats(1e-3, 10),
)
def test_the_world_starts_unmoved_and_moves_by_no_more_than_all(kind, T, at, period):
    moved = schedule(kind, T, at=at, period=period)
    assert moved.shape == (T,)
    assert ((moved >= 0) & (moved <= 1)).all()
    assert moved[0] == 0 or (kind == "sudden" and at == pytest.approx(0, abs=1e-9))


@given(st.integers(1, 200), st.integers(1, 100))
def test_a_sudden_drift_comes_at_its_case(T, per_cent):
    before = ceil(round(per_cent * T / 100, 6))
    assert_array_equal(
        schedule("sudden", T, at=per_cent / 100), [0.0] * before + [1.0] * (T - before)
    )


@given(st.integers(2, 200))
def test_a_gradual_drift_takes_equal_steps_from_nothing_to_all(T):
    moved = schedule("gradual", T)
    assert_allclose(np.diff(moved), 1 / (T - 1), rtol=1e-9)
    assert (moved[0], moved[-1]) == (0, 1)


@given(st.integers(1, 12), st.integers(1, 6))
def test_a_recurring_drift_comes_back_after_each_period(half, times):
    T = 2 * half * times
    moved = schedule("recurring", T, period=1 / times)
    for cycle in moved.reshape(times, 2 * half):
        assert_allclose(cycle, moved[: 2 * half], atol=1e-12)
        assert_allclose([cycle[0], cycle[half]], [0, 1], atol=1e-12)
        assert_allclose(cycle[1:], cycle[:0:-1], atol=1e-12)  # and as it came


def test_no_drift_is_none():
    assert not schedule("none", 10).any()


def test_an_unknown_drift_is_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="gradual, none, recurring, sudden"):
        schedule("suden", 10)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cases": 0}, "cases must be a whole number"),
        ({"cases": 10.5}, "cases must be a whole number"),
        ({"at": 1.1}, "at must be the share"),
        ({"at": np.nan}, "at must be the share"),
        ({"period": 0.0}, "a period must be a positive"),
        ({"period": np.inf}, "a period must be a positive"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        schedule("sudden", **{"cases": 10, **settings})


# Agents whose skill moves

BEFORE, AFTER = np.array([2.0, 1.0, 0.5]), np.array([0.5, 1.0, -1.0])


@pytest.mark.parametrize("base_rate", [0.5, 0.1])
@pytest.mark.parametrize("honest", [True, False])
def test_skill_is_delivered_before_and_after(honest, base_rate):
    T = 40_000
    panel = quality_panel(
        "sudden", before=BEFORE, after=np.abs(AFTER), cases=T, base_rate=base_rate,
        honest=honest,
    )  # fmt: skip
    for part, skills in ((slice(0, T // 2), BEFORE), (slice(T // 2, T), np.abs(AFTER))):
        outcomes = panel.outcomes[part]
        rarest = np.bincount(outcomes).min()
        for i, skill in enumerate(skills):
            expected = norm.cdf(skill / np.sqrt(2))
            error = np.sqrt(expected * (1 - expected) / rarest)  # Birnbaum's bound
            found = auc(panel.reports[part, i], outcomes)
            assert abs(found - expected) < 5 * error, (i, found, expected)


def test_a_negative_skill_points_the_wrong_way_unless_it_is_known():
    settings = {"before": [1, 1], "after": [1, -1], "cases": 4000, "at": 0.0}
    stale = quality_panel("sudden", **settings)
    honest = quality_panel("sudden", **settings, honest=True)
    assert auc(stale.reports[:, 1], stale.outcomes) < 0.3
    assert auc(honest.reports[:, 1], honest.outcomes) > 0.7


def _gaps(reports, outcomes, bins=8):
    """How far the outcomes of each bin are from its reports, in standard errors."""
    groups = np.array_split(np.argsort(reports), bins)
    return np.array(
        [
            (outcomes[g] - reports[g]).sum()
            / np.sqrt((reports[g] * (1 - reports[g])).sum())
            for g in groups
        ]
    )


@pytest.mark.parametrize("base_rate", [0.5, 0.1])
@pytest.mark.parametrize("kind", MOVING)
def test_who_knows_its_skill_is_calibrated_all_along(kind, base_rate):
    panel = quality_panel(
        kind, before=BEFORE, after=AFTER, cases=20_000, base_rate=base_rate,
        correlation=0.4, honest=True,
    )  # fmt: skip
    for reports in panel.reports.T:
        assert np.abs(_gaps(reports, panel.outcomes)).max() < 4.5


def test_who_does_not_notice_that_it_got_worse_is_overconfident():
    panel = quality_panel("sudden", before=BEFORE, after=AFTER, cases=20_000)
    now = slice(10_000, None)
    gaps = _gaps(panel.reports[now, 0], panel.outcomes[now])
    assert gaps[0] > 10  # happens more often than the low reports say
    assert gaps[-1] < -10
    assert np.abs(_gaps(panel.reports[:10_000, 0], panel.outcomes[:10_000])).max() < 4.5


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9])
def test_correlation_is_delivered_given_the_outcome(correlation):
    T = 20_000
    panel = quality_panel(
        "gradual", before=BEFORE, after=AFTER, cases=T, base_rate=0.2,
        correlation=correlation,
    )  # fmt: skip
    moved = schedule("gradual", T)[:, None]
    skills = (1 - moved) * BEFORE + moved * AFTER
    scores = (logit(panel.reports) - np.log(0.2 / 0.8)) / BEFORE
    noise = scores - skills * (panel.outcomes[:, None] - 0.5)
    found = np.corrcoef(noise.T)[np.triu_indices(3, 1)]
    assert_allclose(found, correlation, atol=5 * (1 - correlation**2) / np.sqrt(T))
    assert_allclose(noise.std(axis=0), 1, atol=5 / np.sqrt(2 * T))


def test_wholly_correlated_agents_of_equal_skill_say_the_same():
    panel = quality_panel(
        "none", before=[1, 1], after=[1, 1], cases=50, correlation=1.0
    )
    assert_array_equal(panel.reports[:, 0], panel.reports[:, 1])


@given(st.integers(0, 1000), st.sampled_from(KINDS))
def test_the_same_seed_gives_the_same_world(seed, kind):
    settings = {"before": BEFORE, "after": AFTER, "cases": 40, "seed": seed}
    first, second = (quality_panel(kind, **settings) for _ in range(2))
    assert_array_equal(first.reports, second.reports)
    assert_array_equal(first.outcomes, second.outcomes)


def test_another_agent_leaves_the_others_alone():
    few = quality_panel("gradual", before=BEFORE[:2], after=AFTER[:2], cases=60)
    more = quality_panel("gradual", before=BEFORE, after=AFTER, cases=60)
    assert_array_equal(few.outcomes, more.outcomes)
    assert_array_equal(few.reports, more.reports[:, :2])


def test_worlds_differ_only_where_they_have_moved():
    still = quality_panel("none", before=BEFORE, after=AFTER, cases=60)
    moved = quality_panel("sudden", before=BEFORE, after=AFTER, cases=60)
    assert_array_equal(still.reports[:30], moved.reports[:30])
    assert_array_equal(still.reports[:, 1], moved.reports[:, 1])
    assert (still.reports[30:, 0] != moved.reports[30:, 0]).all()


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"after": [1.0]}, AgentError, "got 2 and 1 skills"),
        ({"before": [[1.0, 2.0]]}, AgentError, "an array of shape"),
        ({"before": [1.0], "after": [1.0]}, AgentError, "at least 2 agents"),
        ({"before": [1.0, np.nan]}, SettingError, "got nan for agent 1 in before"),
        ({"after": ["a", "b"]}, SettingError, "after must be numbers"),
        ({"base_rate": 1.0}, SettingError, "a base rate must lie"),
        ({"correlation": -0.1}, SettingError, "a correlation must lie"),
        ({"base_rate": 1e-6}, OutcomeError, "at least two classes"),
    ],
)
def test_a_world_that_cannot_be_is_refused(settings, kind, message):
    sound = {"before": [1.0, 2.0], "after": [2.0, 1.0], "cases": 20}
    with pytest.raises(kind, match=message):
        quality_panel("sudden", **{**sound, **settings})


# Features that shift


def _features(T=50, F=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(T, F)) * 10.0 ** np.arange(F)


@given(
    st.sampled_from(KINDS), st.floats(-3, 3), st.floats(0, 1), st.integers(0, 50)
)  # fmt: skip
def test_features_move_along_the_schedule_by_their_own_spread(
    kind, magnitude, share, seed
):
    X = _features()
    found = shift_features(X, kind, magnitude=magnitude, share=share, seed=seed)
    whole = shift_features(X, "sudden", share=share, seed=seed, at=0.0) - X
    steps = whole[0] / X.std(axis=0)
    assert_allclose(np.abs(steps), np.abs(steps).round(), atol=1e-9)
    assert -1e-6 < np.abs(steps).round().sum() - share * 6 < 1
    expected = np.outer(schedule(kind, 50), magnitude * steps * X.std(axis=0))
    assert_allclose((found - X) / X.std(axis=0), expected / X.std(axis=0), atol=1e-9)


def test_a_larger_share_moves_the_same_features_and_more():
    X = _features()
    moved = [
        (shift_features(X, "sudden", share=share)[-1] - X[-1]).nonzero()[0]
        for share in (0.0, 0.2, 0.5, 1.0)
    ]
    assert [len(some) for some in moved] == [0, 2, 3, 6]
    for fewer, more in pairwise(moved):
        assert set(fewer) <= set(more)


def test_features_go_both_ways():
    X = _features(F=40)
    ways = np.sign((shift_features(X, "sudden") - X)[-1])
    assert set(ways) == {-1.0, 1.0}


def test_what_is_missing_stays_missing_and_what_is_constant_stays():
    X = _features()
    X[3, 0], X[:, 1], X[:, 2] = np.nan, np.nan, 7.0
    before = X.copy()
    found = shift_features(X, "sudden")
    assert_array_equal(X, before)
    assert_array_equal(np.isnan(found), np.isnan(X))
    assert_array_equal(found[:, 2], 7.0)
    assert_allclose(np.abs(found[-1, 0] - X[-1, 0]), np.nanstd(X[:, 0]))


@pytest.mark.parametrize(
    ("X", "settings", "message"),
    [
        ([1.0, 2.0], {}, "features must be"),
        ([["tcp", "1"]], {}, "features must be numbers"),
        (_features(), {"magnitude": np.inf}, "a magnitude must be"),
        (_features(), {"share": 1.5}, "the share of features"),
    ],
)
def test_a_shift_that_cannot_be_is_refused(X, settings, message):
    with pytest.raises(SettingError, match=message):
        shift_features(X, "sudden", **settings)


# What the paper says of learners in such worlds

SEEDS = range(10)
SKILLS, SPOILT = [1.2, 1.2, 1.0, 2.0, 0.8], [1.2, 1.2, 1.0, 0.0, 0.8]
ADAPTIVE = ["window", "ema", "fixed-share"]


def _worlds(kind):
    """As in sec:drift: T = 1000, n = 5, and the best agent (number 3) degrades."""
    return [
        quality_panel(
            kind, before=SKILLS, after=SPOILT, cases=1000, correlation=0.2, seed=seed
        )
        for seed in SEEDS
    ]


def test_the_window_moves_weight_off_a_degraded_agent_within_its_length():
    # fig:weight_trajectory: shift at 500, W = 50, done within about W cases
    for panel in _worlds("sudden"):
        weights = replay("window", panel, length=50).weights
        assert weights[300:501, 3].mean() > 0.5
        assert weights[550, 3] < 0.1
        assert weights[600:, 3].mean() < 0.05
        gained = weights[600:].mean(axis=0) - weights[300:501].mean(axis=0)
        assert (gained[:2] > 0.1).all()  # to those that remain informative


def test_static_weights_stay_on_a_degraded_agent():
    for panel in _worlds("sudden"):
        weights = replay("static", panel).weights
        assert_array_equal(weights[101:], np.broadcast_to(weights[-1], (900, 5)))
        assert weights[-1].argmax() == 3


@pytest.mark.parametrize("learner", ADAPTIVE)
def test_after_a_sudden_drift_who_follows_misses_less_than_who_does_not(learner):
    # tab:drift, first row
    for panel in _worlds("sudden"):
        after = slice(500, None)
        missed, lost = {}, {}
        for name in (learner, "static"):
            trace = replay(name, panel)
            decided = confusion(trace.pooled[after], panel.outcomes[after])
            missed[name] = decided.fn_rate
            lost[name] = trace.losses[after].mean()
        assert missed[learner] < missed["static"]
        assert lost[learner] < lost["static"]


@pytest.mark.parametrize("learner", ADAPTIVE)
@pytest.mark.parametrize("kind", ["recurring", "gradual"])
def test_following_pays_on_average_in_the_other_worlds_too(kind, learner):
    # tab:drift prints a tie for gradual drift; here the drop in skill is large
    gains = [
        replay("static", panel).losses.mean() - replay(learner, panel).losses.mean()
        for panel in _worlds(kind)
    ]
    assert np.mean(gains) > 2 * np.std(gains) / np.sqrt(len(gains))


def test_a_negative_seed_is_refused():
    with pytest.raises(SettingError, match="a seed must be 0 or more"):
        quality_panel("none", before=[1, 1], after=[1, 1], cases=10, seed=-1)
