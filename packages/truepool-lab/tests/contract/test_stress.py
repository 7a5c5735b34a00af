"""What every stress owes. Stresses are found by folder: a new one is tested by being there."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import panels, random_panel

from truepool.core.errors import AgentError, SettingError, UnknownNameError
from truepool.panel.panel import Panel
from truepool_lab import stress

EVERY = list(stress.every())
LISTENS = {
    "collusion": "a group of one agrees with itself",
    "copycat": "it repeats the others",
}
ALONE = sorted(set(EVERY) - set(LISTENS))
ANY_PANEL = st.one_of(panels(), panels(classes=3), panels(classes=4, agents=(2, 3)))
SEEDS = st.integers(0, 50)

each = pytest.mark.parametrize("name", EVERY)


def test_the_stresses_are_these():
    assert EVERY == [
        "collusion", "constant-low", "copycat", "degradation", "label-flip",
        "random-noise", "sleeper", "temperature",
    ]  # fmt: skip


@each
@given(panel=ANY_PANEL, seed=SEEDS, data=st.data())
@settings(max_examples=25)
def test_other_agents_are_unchanged_and_missing_reports_stay_missing(
    name, panel, seed, data
):
    some = st.sets(st.sampled_from(panel.agents[1:]), min_size=1)
    who = data.draw(some)
    before = panel.reports.copy()
    after = stress.make(name)(panel, sorted(who), seed=seed)
    for i, agent in enumerate(panel.agents):
        if agent not in who:
            assert_array_equal(after.values[:, i], panel.values[:, i])
    assert_array_equal(np.isnan(after.reports), np.isnan(panel.reports))
    assert_array_equal(after.outcomes, panel.outcomes)
    assert (after.agents, after.silent) == (panel.agents, panel.silent)
    assert_array_equal(panel.reports, before)


@each
@given(panel=ANY_PANEL, seed=SEEDS)
@settings(max_examples=25)
def test_stressed_reports_are_valid(name, panel, seed):
    after = stress.make(name)(panel, panel.agents[1:], seed=seed)
    reports = after.values[~np.isnan(after.values)]
    assert ((reports >= 0) & (reports <= 1)).all()
    if panel.classes > 2:
        totals = after.values.sum(axis=2)
        assert_allclose(totals[~np.isnan(totals)], 1.0)
    Panel(after.reports, after.outcomes)  # and the door lets it in


@each
def test_the_same_seed_gives_the_same_panel_whatever_order_agents_are_named_in(name):
    panel = random_panel(3, silent=0.1)
    one = stress.make(name)(panel, ["agent1", "agent3"], seed=7)
    other = stress.make(name)(panel, ["agent3", "agent1", "agent3"], seed=7)
    assert_array_equal(one.reports, other.reports)


@pytest.mark.parametrize("name", ALONE)
@given(panel=ANY_PANEL, seed=SEEDS)
@settings(max_examples=15)
def test_two_agents_together_are_as_one_after_the_other(name, panel, seed):
    bad = stress.make(name)
    one, other = panel.agents[0], panel.agents[-1]
    both = bad(panel, [one, other], seed=seed)
    first = bad(bad(panel, one, seed=seed), other, seed=seed)
    last = bad(bad(panel, other, seed=seed), one, seed=seed)
    assert_array_equal(both.reports, first.reports)
    assert_array_equal(both.reports, last.reports)


@each
def test_ids_and_times_are_kept(name):
    base = random_panel(1, cases=20)
    panel = Panel(base.reports, base.outcomes, ids=range(20), times=np.arange(20)[::-1])
    after = stress.make(name)(panel, "agent1")
    assert_array_equal(after.ids, panel.ids)
    assert_array_equal(after.times, panel.times)


@each
def test_a_case_without_reports_stays_one(name):
    reports = random_panel().reports.copy()
    reports[5] = np.nan
    panel = Panel(reports, random_panel().outcomes, allow_empty_cases=True)
    assert np.isnan(stress.make(name)(panel, "agent0").reports[5]).all()


@each
def test_stress_on_no_agent_returns_the_panel(name):
    panel = random_panel()
    assert stress.make(name)(panel, 0.0) is panel
    assert stress.make(name)(panel, []) is panel


@each
def test_a_stress_is_a_value(name):
    bad = stress.make(name)
    assert bad == stress.make(name)
    assert hash(bad) == hash(stress.make(name))
    assert pickle.loads(pickle.dumps(bad)) == bad
    with pytest.raises(FrozenInstanceError):
        bad.name = "good"


@each
def test_unknown_agents_settings_and_seeds_are_refused(name):
    panel = random_panel(agents=2)
    with pytest.raises(AgentError, match="'bob'; known: agent0, agent1"):
        stress.make(name)(panel, ["agent0", "bob"])
    with pytest.raises(UnknownNameError, match=f"no setting of {name} is called 'x'"):
        stress.make(name, x=1)
    with pytest.raises(SettingError, match="a share of the agents must lie in"):
        stress.make(name)(panel, 1.5)
    with pytest.raises(SettingError, match="a seed must be 0 or more"):
        stress.make(name)(panel, 0.5, seed=-1)


def test_an_unknown_stress_is_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="did you mean 'label-flip'"):
        stress.make("labelflip")


@given(st.integers(2, 12), SEEDS, st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_is_the_same_agents_and_more(agents, seed, one, other):
    panel = random_panel(cases=4, agents=agents)
    few, many = (
        stress.select_agents(panel, share, seed=seed) for share in sorted((one, other))
    )
    assert set(few) <= set(many)
    assert -1e-8 <= len(few) - min(one, other) * agents < 1


@pytest.mark.parametrize(("share", "agents", "count"), [(0.2, 5, 1), (0.6, 10, 6), (0.7, 10, 7), (1, 3, 3)])  # fmt: skip
def test_a_share_is_not_rounded_up_by_a_hair(share, agents, count):
    assert len(stress.select_agents(random_panel(agents=agents), share)) == count


def test_another_seed_may_choose_others():
    panel = random_panel(agents=6)
    found = {tuple(stress.select_agents(panel, 0.5, seed=seed)) for seed in range(20)}
    assert len(found) > 5


def test_stresses_on_different_agents_commute():
    panel = random_panel(2, cases=40, classes=3, silent=0.1)
    flip, low = stress.make("label-flip"), stress.make("constant-low")
    one = flip(low(panel, "agent0"), "agent1")
    other = low(flip(panel, "agent1"), "agent0")
    assert_array_equal(one.reports, other.reports)


def test_stresses_on_one_agent_are_applied_in_order():
    panel = random_panel(2, cases=40)
    flip, low = stress.make("label-flip"), stress.make("constant-low")
    assert_allclose(flip(low(panel, "agent0"), "agent0").reports[:, 0], 0.99)
    assert_allclose(low(flip(panel, "agent0"), "agent0").reports[:, 0], 0.01)
    mimic = stress.make("copycat", source="agent0")
    copied = mimic(low(panel, "agent0"), "agent1")
    assert_allclose(copied.reports[:, 1], 0.01)
    assert_allclose(
        low(mimic(panel, "agent1"), "agent0").reports[:, 1], panel.reports[:, 0]
    )
