"""Incentives on a panel: what could be gained, held to brute force and to theory."""

import json
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel

import truepool as tp
from truepool.core.errors import SettingError, UnknownNameError
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool_lab.games import draw_beliefs, incentives
from truepool_lab.games.misreport_trial import FAMILIES, SEARCH_CASES
from truepool_lab.games.misreports import AgentIncentive

COSTS = Costs(fn=10, fp=1)


def panel_of(cases=4000, offset=0.0, seed=0, **settings):
    beliefs = draw_beliefs(4, 0.5, offset=offset, cases=cases, seed=seed, **settings)
    return Panel(beliefs.values, beliefs.outcomes, agents=("ada", "bob", "cleo", "dan"))


def test_at_the_costs_own_threshold_like_agents_with_a_calibrated_mean_gain_nothing():
    found = incentives(panel_of(), "mean", COSTS)
    assert not any(row.significant for row in found.rows)
    assert found.threshold == 1 / 11


def test_at_another_threshold_everybody_gains_by_over_reporting():
    found = incentives(panel_of(), "mean", COSTS, threshold=0.3)
    for row in found.rows:
        assert row.significant
        assert row.best.gain > 5 * row.best.error
        # A team player's gain is the pool's saving, case by case.
        assert_allclose(row.best.pool_cost, -row.best.gain)
        shift = row.families[0]
        assert shift.family == "shift"
        assert shift.deviation[0] > 0.3
        assert row.best.pool_fn < 0 < row.best.pool_fp


def test_hindsight_is_the_best_of_the_grid():
    panel = panel_of(300)
    found = incentives(panel, "mean", COSTS, threshold=0.3)
    y = panel.outcomes
    for i, agent in enumerate(panel.agents):

        def lost(report, i=i):
            reports = panel.reports.copy()
            reports[:, i] = report
            says = reports.mean(axis=1) > 0.3 + 1e-12
            return (10.0 * (~says & (y == 1)) + (says & (y == 0))).mean()

        own = panel.reports[:, i]
        truth = lost(own)
        for family, misreport in zip(FAMILIES, found[agent].families, strict=True):
            sent = family.apply(misreport.deviation, own)
            assert_allclose(misreport.hindsight, truth - lost(sent), atol=1e-12)
        shifts = [truth - lost(np.clip(own + d, 0, 1)) for d in FAMILIES[0].shifts]
        assert_allclose(found[agent].families[0].hindsight, max(shifts), atol=1e-12)
        cuts = [truth - lost((own > c) * 1.0) for c in [-1.0, *own]]
        best = max(0.0, *cuts)
        assert_allclose(found[agent].families[2].hindsight, best, atol=1e-12)
        top = max(m.hindsight for m in found[agent].families)
        assert found[agent].best.hindsight == top


def test_paid_by_brier_agents_take_out_their_error_in_the_large():
    # Calibrated agents of the factor model: nothing to gain but the offset.
    panel = panel_of(8000, offset=0.1, model="factor", truth="latent")
    found = incentives(panel, "mean", COSTS, payment="brier")
    for row in found.rows:
        assert_allclose(row.families[0].deviation[0], -0.1, atol=0.021)
        assert_allclose(row.families[0].gain, 0.01, atol=0.003)
        assert row.significant
        assert row.best.pool_cost != -row.best.gain
    honest = incentives(
        panel_of(8000, model="factor", truth="latent"), "mean", payment="brier"
    )
    assert not any(row.significant for row in honest.rows)


def test_cross_validation_takes_luck_out():
    # Reports that know nothing: in hindsight something always gains.
    rng = np.random.default_rng(0)
    panel = Panel(rng.random((400, 3)), rng.integers(0, 2, 400))
    found = incentives(panel, "mean", payment="own-accuracy", threshold=0.5)
    assert all(row.best.hindsight > 0 for row in found.rows)
    assert all(row.best.gain < row.best.hindsight for row in found.rows)
    assert not any(row.significant for row in found.rows)


@pytest.mark.parametrize("pool", ["vcg", "brier", "convex", "median", "platt"])
def test_every_pool_can_be_asked_and_learns_from_the_lie(pool):
    panel = random_panel(2, cases=150, silent=0.1)
    found = incentives(panel, pool, COSTS, cv=3)
    assert found.pool == pool
    assert {row.agent for row in found.rows} == set(panel.agents)


def test_a_lie_that_loses_weight_is_paid_for():
    # The pool weighs by Brier: it relearns, and the gain is that of what was sent.
    panel = random_panel(2, cases=200)
    found = incentives(panel, "brier", COSTS, threshold=0.3, cv=4)
    shift = found["agent1"].families[0]
    reports = panel.reports.copy()
    reports[:, 1] = np.clip(reports[:, 1] + shift.deviation[0], 0, 1)
    y = panel.outcomes

    def credit(values):
        pool = tp.pools.make("brier").fit(values, y)
        absent = values.copy()
        absent[:, 1] = np.nan
        with_i, without = (pool.predict_proba(v)[:, 1] for v in (values, absent))
        lost = [tp.losses.cost(p, y, COSTS, 0.3).mean() for p in (without, with_i)]
        return lost[0] - lost[1]

    assert_allclose(
        shift.hindsight, credit(reports) - credit(panel.reports), atol=1e-12
    )


def test_a_silent_agent_stays_silent_and_one_never_heard_has_nothing_to_gain():
    panel = random_panel(4, cases=120, silent=0.4)
    rare = panel.fill_missing().reports.copy()
    rare[1:, 3] = np.nan
    times = np.arange(120)
    found = incentives(
        Panel(rare, panel.outcomes, times=times), "mean", COSTS, threshold=0.4, cv=2
    )
    assert found["agent3"].best.gain == 0  # it spoke in no case that was tested
    with_gaps = incentives(panel, "mean", COSTS, threshold=0.4)
    assert len(with_gaps.rows) == 4


def test_an_agent_silent_where_others_learn_sends_the_truth():
    panel = random_panel(4, cases=90)
    late = panel.reports.copy()
    late[:60, 2] = np.nan
    found = incentives(
        Panel(late, panel.outcomes, times=np.arange(90)), "mean", COSTS, cv=2
    )
    assert (
        found["agent2"].families[0].pool_cost == found["agent2"].families[0].gain == 0
    )


def test_a_large_panel_is_looked_at_in_part_and_says_so():
    found = incentives(panel_of(1000), "mean", COSTS, cases=300)
    assert (found.cases, found.total) == (300, 1000)
    assert "on 300 cases" in repr(found)


def test_a_curve_is_chosen_on_part_of_the_cases(monkeypatch):
    monkeypatch.setattr("truepool_lab.games.misreport_trial.SEARCH_CASES", 100)
    found = incentives(panel_of(600, offset=0.1), "mean", payment="log", cv=2)
    assert found.payment == "log"
    assert all(row.families[0].deviation[0] < 0 for row in found.rows)


def test_incentives_can_be_told_to_machines():
    found = incentives(random_panel(0), "mean", COSTS, threshold=0.5)
    result = json.loads(json.dumps(found.to_dict()))
    assert len(result["rows"]) == 4
    assert {m["family"] for row in result["rows"] for m in row["families"]} <= {
        "shift", "affine", "threshold", "truth",
    }  # fmt: skip
    with pytest.raises(KeyError):
        found["nobody"]


def test_what_has_no_incentives_is_refused():
    with pytest.raises(SettingError, match="two classes; got 3 classes"):
        incentives(random_panel(0, classes=3))
    with pytest.raises(UnknownNameError, match="no payment"):
        incentives(random_panel(0), payment="cash")
    with pytest.raises(SettingError, match="threshold must lie"):
        incentives(random_panel(0), threshold=2.0)


def test_every_case_counts_once():
    panel = random_panel(7, cases=60, silent=0.15)
    weights = np.random.default_rng(4).integers(1, 4, 60)
    with pytest.raises(SettingError, match="count every case once"):
        incentives(Panel(panel.reports, panel.outcomes, weights=weights), "mean")


@pytest.mark.parametrize("positive", [lambda t: t < 3, lambda t: t > 50])
def test_where_all_tested_cases_have_one_outcome_the_shares_are_0(positive):
    t = np.arange(60)
    reports = np.random.default_rng(0).random((60, 3))
    panel = Panel(reports, positive(t).astype(int), times=t)
    found = incentives(panel, "mean", cv=2 if positive(0) else 3)
    name = "pool_fn" if positive(0) else "pool_fp"
    assert {getattr(row.best, name) for row in found.rows} == {0.0}
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_gain_is_significant_below_5_per_cent():
    best = incentives(random_panel(0), "mean", COSTS, cv=2).rows[0].best
    for p, significant in ((0.049, True), (0.05, False)):
        row = AgentIncentive("ada", replace(best, gain=0.1, p_value=p), ())
        assert row.significant is significant
    assert not AgentIncentive(
        "ada", replace(best, gain=0.0, p_value=0.0), ()
    ).significant


def test_at_most_a_hundred_thousand_cases_are_used_and_ten_thousand_searched():
    assert signature(incentives).parameters["cases"].default == 100_000
    assert SEARCH_CASES == 10_000
    with pytest.raises(SettingError, match="whole number of cases, at least 2; got -1"):
        incentives(random_panel(0), cases=-1)
