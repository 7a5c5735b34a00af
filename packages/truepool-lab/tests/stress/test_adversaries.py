"""What each adversary says, and what it does to pools and learners."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import panels, random_panel
from scipy.stats import kstest

from truepool import credit, pools, replay
from truepool.core.arrays import log_scale
from truepool.core.errors import AgentError, SettingError, UnknownNameError
from truepool.measures.scores import confusion
from truepool.panel.panel import Panel
from truepool_lab.stress.collusion import Collusion
from truepool_lab.stress.constant import ConstantLow
from truepool_lab.stress.copycat import Copycat
from truepool_lab.stress.drift import quality_panel
from truepool_lab.stress.label_flip import LabelFlip
from truepool_lab.stress.noise import RandomNoise
from truepool_lab.stress.sleeper import Sleeper

ANY_PANEL = st.one_of(panels(), panels(classes=3), panels(classes=4, agents=(2, 3)))
NAN = float("nan")


# Constant, random, flipped


@given(p=st.floats(0, 1), classes=st.sampled_from([2, 3, 5]))
def test_a_constant_agent_gives_p_to_all_that_can_happen(p, classes):
    after = ConstantLow(p)(random_panel(1, classes=classes), "agent1")
    happens = after.values[:, 1] if classes == 2 else after.values[:, 1, 1:]
    assert_allclose(happens.sum(axis=1), p, atol=1e-12)
    assert np.ptp(happens) <= 1e-15  # the same for every class and case


@pytest.mark.parametrize("p", [-0.1, 1.1, NAN])
def test_a_constant_that_is_no_probability_is_refused(p):
    with pytest.raises(SettingError, match="a report must lie in"):
        ConstantLow(p)


@pytest.mark.parametrize("classes", [2, 3])
def test_noise_is_uniform_and_knows_nothing(classes):
    panel = random_panel(1, cases=5000, classes=classes)
    reports = RandomNoise()(panel, ["agent0", "agent2"], seed=4).values
    # A probability of a point drawn evenly from the simplex is Beta(1, K - 1).
    law = "uniform" if classes == 2 else ("beta")
    shape = () if classes == 2 else (1, classes - 1)
    assert kstest(reports[:, 0, -1], law, shape).pvalue > 1e-4
    assert abs(np.corrcoef(reports[:, 0, -1], panel.outcomes)[0, 1]) < 5 / np.sqrt(5000)
    assert abs(np.corrcoef(reports[:, 0, -1], reports[:, 2, -1])[0, 1]) < 5 / np.sqrt(
        5000
    )


@given(ANY_PANEL)
def test_flipping_twice_is_not_flipping(panel):
    flip = LabelFlip()
    twice = flip(flip(panel, panel.agents[1:]), panel.agents[1:])
    # 1 - (1 - p) rounds once for two classes; for more nothing is computed.
    assert_allclose(
        twice.reports, panel.reports, rtol=0, atol=1e-16 * (panel.classes == 2) * 2
    )


def test_a_flipped_agent_says_one_minus_p_or_the_classes_backwards():
    panel = random_panel(1)
    flipped = LabelFlip()(panel, "agent0")
    assert_array_equal(flipped.reports[:, 0], 1 - panel.reports[:, 0])
    many = random_panel(1, classes=3)
    flipped = LabelFlip()(many, "agent0")
    assert_array_equal(flipped.reports[:, 0, [2, 1, 0]], many.reports[:, 0])


# Copycats and colluders


def test_a_copycat_repeats_its_model_unless_it_is_silent():
    panel = Panel([[0.9, 0.5, 0.4], [NAN, 0.4, 0.1], [0.2, NAN, 0.3]], [1, 0, 0])
    after = Copycat(source="agent0")(panel, "agent1")
    assert_array_equal(after.reports[:, 1], [0.9, 0.4, NAN])


def test_a_copycat_without_a_model_repeats_the_mean_of_those_who_do_not_copy():
    panel = random_panel(2, silent=0.4, agents=5)
    after = Copycat()(panel, ["agent1", "agent2"])
    for t, reports in enumerate(panel.reports):
        honest = reports[[0, 3, 4]]
        spoken = honest[~np.isnan(honest)]
        for i in (1, 2):
            own = (
                reports[i] if np.isnan(reports[i]) or not spoken.size else spoken.mean()
            )
            assert_allclose(after.reports[t, i], own)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_copycat_may_hide_behind_noise_of_a_given_size(classes):
    panel = random_panel(2, cases=20_000, classes=classes)
    after = Copycat(source="agent0", noise=0.5)(panel, ["agent1", "agent2"])
    gap = log_scale(after.values) - log_scale(panel.values[:, :1])
    assert_allclose(gap[:, 1:3].std(axis=0), 0.5, atol=5 * 0.5 / np.sqrt(40_000))
    shared = np.corrcoef(gap[:, 1, 0], gap[:, 2, 0])[0, 1]
    assert abs(shared) < 5 / np.sqrt(20_000)  # each hides by itself


def test_a_copy_takes_credit_from_the_one_it_copies():
    panel = random_panel(5, cases=500)
    after = Copycat(source="agent0")(panel, "agent3")
    before = credit.leave_one_out(panel, loss="brier")
    shared = credit.leave_one_out(after, loss="brier")
    assert before[3] < 0 < shared[3]
    assert_allclose(shared[3], shared[0])
    assert shared[0] < before[0]


def test_a_copycat_needs_a_model():
    with pytest.raises(AgentError, match="no agent is called 'bob'"):
        Copycat(source="bob")(random_panel(), "agent0")
    with pytest.raises(
        AgentError, match="got all agents as copycats. Name fewer agents"
    ):
        Copycat()(random_panel(), 1.0)
    with pytest.raises(SettingError, match="noise must be 0 or more"):
        Copycat(noise=-1.0)


@given(ANY_PANEL, st.floats(-3, 3))
def test_colluders_speak_with_one_voice_pushed_to_one_side(panel, push):
    group = panel.agents[1:]
    after = Collusion(push)(panel, group)
    odds = log_scale(panel.values)[:, 1:]
    found = log_scale(after.values)[:, 1:]
    for t in range(len(panel)):
        spoken = ~np.isnan(odds[t, :, 0])
        if spoken.any():
            voice = odds[t, spoken].mean(axis=0) + push
            close = np.abs(voice) < 20  # farther out probabilities round to 0 and 1
            wanted = np.broadcast_to(voice, odds[t, spoken].shape)[:, close]
            assert_allclose(found[t, spoken][:, close], wanted, atol=1e-5)


def test_a_push_is_a_number():
    with pytest.raises(SettingError, match="a push must be a finite number"):
        Collusion(np.inf)


# Sleepers


def test_a_sleeper_is_honest_until_it_turns_in_the_order_of_time():
    base = random_panel(1, cases=40)
    panel = Panel(base.reports, base.outcomes, times=np.arange(40)[::-1])
    after = Sleeper(stress=ConstantLow(), at=0.7)(panel, ["agent0", "agent2"])
    assert_array_equal(after.reports[12:], panel.reports[12:])
    assert_array_equal(after.reports[:12, [0, 2]], 0.01)
    assert_array_equal(after.reports[:, [1, 3]], panel.reports[:, [1, 3]])


def test_a_sleeper_turns_in_the_case_after_it_has_earned_its_weight():
    panel = random_panel(1, cases=400, skill=3.0)
    weights = replay("hedge", panel).weights
    bad = Sleeper(stress=ConstantLow(), weight=0.4, learner="hedge")
    after = bad(panel, ["agent0", "agent3"])
    turn = int(np.argmax(weights[:, 0] >= 0.4))
    assert 1 < turn < 400
    assert_array_equal(after.reports[:turn, 0], panel.reports[:turn, 0])
    assert_array_equal(after.reports[turn:, 0], 0.01)
    assert weights[:, 3].max() < 0.4
    assert_array_equal(after.reports[:, 3], panel.reports[:, 3])  # it never got there


def test_what_a_sleeper_does_then_may_be_any_stress_and_uses_its_seed():
    panel = random_panel(1, cases=40)
    after = Sleeper(stress=RandomNoise(), at=0.5)(panel, "agent1", seed=9)
    noisy = RandomNoise()(panel, "agent1", seed=9)
    assert_array_equal(after.reports[20:], noisy.reports[20:])


def test_a_sleeper_that_cannot_be_is_refused():
    with pytest.raises(SettingError, match="share of the cases before the turn"):
        Sleeper(at=1.5)
    with pytest.raises(SettingError, match="weight at which an agent turns"):
        Sleeper(weight=0.0)
    with pytest.raises(UnknownNameError, match="did you mean 'hedge'"):
        Sleeper(weight=0.5, learner="hege")(random_panel(), "agent0")


def test_learners_that_follow_recover_from_a_sleeper_and_static_weights_do_not():
    for seed in range(5):
        skills = [2.5, 1.0, 1.0, 1.0, 1.0]
        honest = quality_panel(
            "none", before=skills, after=skills, cases=2000, seed=seed
        )
        panel = Sleeper(at=0.5)(honest, "agent0")
        after = {
            name: replay(name, panel).losses[1200:].mean()
            for name in ("static", "fixed-share", "window")
        }
        assert after["fixed-share"] < 0.8 * after["static"]
        assert after["window"] < 0.8 * after["static"]


# tab:adversarial: weights that are learned hold where ranks break


def _misses(panel, name):
    half = len(panel) // 2
    pool = pools.make(name).fit(panel.reports[:half], panel.outcomes[:half])
    return confusion(
        pool.predict_proba(panel.reports[half:]), panel.outcomes[half:]
    ).fn_rate


@pytest.mark.parametrize("attack", [ConstantLow(), LabelFlip()], ids=lambda a: a.name)
def test_with_half_of_ten_agents_bad_vcg_holds_and_the_median_does_not(attack):
    skills = np.full(10, 2.5)
    for seed in range(3):
        clean = quality_panel(
            "none", before=skills, after=skills, cases=4000, seed=seed
        )
        bad = attack(clean, 0.5, seed=seed)
        assert _misses(bad, "vcg") < _misses(clean, "vcg") + 0.03
        assert _misses(bad, "median") > 0.3
        assert _misses(bad, "trimmed") > 0.3
