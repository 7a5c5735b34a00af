"""Each shape of payoff against the plain definition of its payment."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.core.errors import SettingError, UnknownNameError
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.pools import make as named_pool
from truepool.pools.mean import Mean
from truepool.pools.median import Median
from truepool_lab.games import draw_beliefs, payments
from truepool_lab.games.agent_view import AgentView, pooled_probability
from truepool_lab.games.payments.brier_with_penalty import RegularisedBrier
from truepool_lab.games.payments.vcg import VCG
from truepool_lab.games.payments.wsu import WSU
from truepool_lab.games.payoffs import Curve, Squares, Steps
from truepool_lab.games.responses import Affine, Cut, Exact, Shift

COSTS = Costs(fn=10, fp=1)
TAU = 0.3


def view_of(agent=1, pool=None, cases=300, chance=None, missing=False, seed=0):
    beliefs = draw_beliefs(4, 0.4, cases=cases, seed=seed)
    reports = beliefs.values.copy()
    if missing:
        mute = np.random.default_rng(1).random(reports.shape) < 0.3
        mute[:, agent] = False
        reports[mute] = np.nan
    pool = (pool or Mean()).fit(beliefs.values, beliefs.outcomes)
    given = beliefs.chance if chance is None else beliefs.outcomes.astype(float)
    return AgentView(agent, reports, given, pool, COSTS, TAU, missing)


def utilities(name, view, report):
    """Expected utility of agent i's report in each case."""
    if_one, if_zero = (utility(name, view, report, y) for y in (1, 0))
    return view.chance * if_one + (1 - view.chance) * if_zero


def utility(name, view, report, y):
    """Utility when y happens, straight from its definition."""
    reports = view.reports.copy()
    reports[:, view.agent] = report
    pooled, rest = reports.mean(axis=1), np.delete(reports, view.agent, 1).mean(axis=1)
    losses = (reports - y) ** 2

    def lost(p, loss):
        return Loss(loss, COSTS, TAU).evaluate(p[:, None], np.full(len(p), y))

    if name in ("brier", "log", "spherical"):
        return -lost(report, name)
    if name == "own-accuracy":
        return -lost(report, "cost")
    if name == "vcg":
        return lost(rest, "cost") - lost(pooled, "cost")
    if name == "wsu":
        gap = losses[:, view.agent] - losses.mean(axis=1)
        return (1 - 0.1 * gap) / reports.shape[1]
    leaving = (report - rest) ** 2
    return -leaving if name == "externality" else -lost(report, "brier") - 0.1 * leaving


@pytest.mark.parametrize("name", list(payments.every()))
def test_payoff_and_extra_are_the_utility(name):
    view = view_of()
    payoff = payments.make(name).payoff(view)
    for report in (view.reports[:, 1], np.full(300, 0.9), np.linspace(0, 1, 300)):
        found = payoff.evaluate(report) + payoff.extra()
        assert_allclose(found, utilities(name, view, report), atol=1e-12)


@pytest.mark.parametrize("name", list(payments.every()))
def test_every_shift_earns_what_its_reports_earn(name):
    view = view_of()
    payoff = payments.make(name).payoff(view)
    shifts = Shift().shifts
    truth = np.ascontiguousarray(view.reports[:, 1])
    plain = [payoff.evaluate(np.clip(truth + d, 0, 1)).mean() for d in shifts]
    assert_allclose(payoff.over_shifts(truth, shifts), plain, atol=1e-12)
    table = np.clip(truth[:, None] + shifts, 0, 1)
    assert_allclose(payoff.evaluate(table).mean(axis=0), plain, atol=1e-12)


@pytest.mark.parametrize("name", list(payments.every()))
def test_every_affine_map_earns_what_its_reports_earn(name):
    view = view_of(cases=80)
    payoff = payments.make(name).payoff(view)
    family = Affine(reach=1.0, step=0.5)
    truth = np.ascontiguousarray(view.reports[:, 1])
    values = family.mean_payoffs(payoff, truth)
    assert len(family.deviations) == len(family.slopes) * len(family.intercepts)
    for deviation, value in zip(family.deviations, values, strict=True):
        sent = family.apply(tuple(deviation), truth)
        assert_allclose(value, payoff.evaluate(sent).mean(), atol=1e-9)


@pytest.mark.parametrize("loss", ["brier", "log", "cost-brier", "cost"])
@pytest.mark.parametrize(
    "pool", [Mean(), Median(), named_pool("vcg")], ids=lambda p: p.name
)
@pytest.mark.parametrize("missing", [False, True])
def test_vcg_pays_what_the_pool_saves(loss, pool, missing):
    view = view_of(pool=pool, missing=missing)
    payoff = VCG(loss).payoff(view)
    priced = Loss(loss, COSTS, TAU)

    def expected(pooled):
        ones = priced.evaluate(pooled[:, None], np.ones(300, dtype=int))
        zeros = priced.evaluate(pooled[:, None], np.zeros(300, dtype=int))
        return view.chance * ones + (1 - view.chance) * zeros

    report = np.linspace(0, 1, 300)
    reports = view.reports.copy()
    reports[:, 1] = report
    rest = reports.copy()
    rest[:, 1] = np.nan
    rest[np.isnan(rest).all(axis=1)] = view.chance.mean()
    saved = expected(pooled_probability(view.pool, rest)) - expected(
        pooled_probability(view.pool, reports)
    )
    assert_allclose(payoff.evaluate(report) + payoff.extra(), saved, atol=1e-12)
    assert_allclose(
        payoff.evaluate(np.stack([report] * 2, 1))[:, 1], payoff.evaluate(report)
    )


def test_payments_have_the_shapes_that_are_fast():
    view = view_of()
    assert isinstance(VCG().payoff(view), Steps)
    assert isinstance(VCG("brier").payoff(view), Squares)
    assert isinstance(VCG("log").payoff(view), Curve)
    assert isinstance(VCG().payoff(view_of(pool=Median())), Curve)


def test_the_others_mean_passes_over_silence():
    view = view_of(missing=True)
    others = np.delete(view.reports, 1, axis=1)
    alone = np.isnan(others).all(axis=1)
    assert alone.any()
    assert_allclose(view.others[~alone], np.nanmean(others[~alone], axis=1))
    assert (view.others[alone] == view.reports[alone, 1]).all()


@pytest.mark.parametrize("name", ["brier", "log", "spherical", "wsu"])
def test_the_exact_report_under_a_proper_score_is_what_the_agent_expects(name):
    view = view_of()
    payoff = payments.make(name).payoff(view)
    best = Exact().respond(payoff, view.reports[:, 1])
    assert_allclose(best.reports, view.chance)
    assert best.gain > 0


@pytest.mark.parametrize("name", ["vcg", "own-accuracy", "externality"])
def test_the_exact_report_beats_every_other(name):
    view = view_of()
    payoff = payments.make(name).payoff(view)
    truth = view.reports[:, 1]
    best = payoff.evaluate(payoff.best(truth))
    tried = np.linspace(0, 1, 201)[None, :] * np.ones((300, 1))
    assert (best[:, None] >= payoff.evaluate(tried) - 1e-12).all()
    optimal = payoff.evaluate(truth) >= payoff.evaluate(tried).max(axis=1)
    if name != "externality":
        assert (payoff.best(truth)[optimal] == truth[optimal]).all()


def test_where_no_best_report_is_known_the_truth_is_told():
    view = view_of(pool=Median())
    truth = view.reports[:, 1]
    assert (VCG().payoff(view).best(truth) == truth).all()
    assert (Squares(truth * 0, 0.0).best(truth) == truth).all()


def test_every_cut_is_tried():
    view = view_of(chance="drawn")
    payoff = payments.make("own-accuracy").payoff(view)
    truth = view.reports[:, 1]
    move = Cut().respond(payoff, truth)
    tried = [
        payoff.evaluate((truth > c) * 1.0).mean() for c in [-1.0, *np.unique(truth)]
    ]
    assert_allclose(payoff.evaluate(move.reports).mean(), max(tried))
    assert_allclose(move.gain, max(tried) - payoff.evaluate(truth).mean())


def test_a_cut_that_does_not_gain_is_not_made():
    truth = np.array([0.2, 0.6, 0.7])
    move = Cut().respond(Squares(truth), truth)
    assert move.deviation == ()
    assert (Cut().apply((), truth) == truth).all()


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(SettingError, match="strength of a penalty must be 0 or more"):
        RegularisedBrier(-0.1)
    with pytest.raises(SettingError, match=r"\(0, 0.5\]"):
        WSU(0.9)
    with pytest.raises(UnknownNameError, match="known: brier, cost"):
        VCG("gain")
    with pytest.raises(UnknownNameError, match="no payment is called 'vgc' .*'vcg'"):
        payments.make("vgc")
    with pytest.raises(UnknownNameError, match="setting of vcg"):
        payments.make("vcg", lose="brier")
    assert payments.as_payment(VCG("log")) == VCG("log")


def test_missing_reports_give_weights_case_by_case():
    panel = random_panel(0, silent=0.3)
    pool = Mean().fit(panel.reports, panel.outcomes)
    rows = ~np.isnan(panel.reports[:, 0])
    reports = panel.reports[rows]
    view = AgentView(0, reports, panel.outcomes[rows] * 1.0, pool, COSTS, TAU, True)
    pooled = pool.predict_proba(reports)[:, 1]
    assert_allclose(view.pooled(reports[:, 0]), pooled)


@pytest.mark.parametrize("name", ["bayes", "best-agent", "median", "mean"])
@pytest.mark.parametrize("at_once", [1, 700, 100_000])
def test_many_columns_of_reports_are_pooled_as_one_by_one(name, at_once, monkeypatch):
    monkeypatch.setattr("truepool_lab.games.agent_view.ROWS_AT_ONCE", at_once)
    panel = random_panel(0, cases=200)
    pool = named_pool(name).fit(panel.reports, panel.outcomes)
    view = AgentView(1, panel.reports, panel.outcomes * 1.0, pool, COSTS, TAU)
    columns = np.random.default_rng(0).uniform(size=(200, 9))
    expected = np.stack([view.pooled(column) for column in columns.T], axis=1)
    assert_allclose(view.pooled_columns(columns), expected, rtol=1e-14)
