"""The slider's sums: at the present costs they are what the operations say."""

import numpy as np
import pytest
from audits.test_operation import payments
from faults import COSTS, flipped, sound, timed
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.audits import audit, tradeoff
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel


def decided(found, pool, sums, ratio):
    """Of these sums, those of cases that are decided positive at a ratio."""
    middles = (found.edges[1:] + found.edges[:-1]) / 2
    line = np.log(ratio)
    positive = middles > line if found.by_amount else middles < line
    return sums[pool][positive].sum()


def figures(found, pool, ratio, fp=1.0):
    """Share of alerts, recall, false alarms and cost per 1,000 cases at a ratio."""
    hits, alarms = (
        decided(found, pool, sums, ratio) for sums in (found.positives, found.negatives)
    )
    positives, negatives = found.positives[pool].sum(), found.negatives[pool].sum()
    cases, stakes = positives + negatives, found.stakes[pool].sum()
    caught = decided(found, pool, found.stakes, ratio)
    missed = stakes - caught if found.by_amount else ratio * fp * (positives - hits)
    alarm = ratio if found.by_amount else fp
    return {
        "alerts": (hits + alarms) / cases,
        "recall": hits / positives,
        "false_alarms": alarms / negatives,
        "cost": 1000 * (missed + alarm * alarms) / cases,
        "recall_of_money": caught / stakes if found.by_amount else None,
    }


TABLES = {
    "sound": (sound(0, 900), COSTS, {}),
    "in time": (timed(sound(1, 900)), COSTS, {}),
    "an agent reversed": (flipped(1, 900), COSTS, {}),
    "false alarms of 3": (sound(2, 900), Costs(fn=12, fp=3), {}),
    "amounts": (payments(cases=1200), Costs(fn="amount", fp=20), {}),
    "another pool": (payments(cases=1200), Costs(fn="amount", fp=20), {"pool": "vcg"}),
    "weights": (
        payments(weights=np.random.default_rng(3).integers(1, 4, 700).astype(float)),
        Costs(fn=8), {},
    ),
    "ties": (
        Panel(sound(4, 900).reports.round(1), sound(4, 900).outcomes), Costs(fn=9), {},
    ),
    "ties in amounts": (
        Panel(
            sound(4, 900).reports.round(1), sound(4, 900).outcomes,
            columns={"amount": np.full(900, 9.0)},
        ), Costs(fn="amount", fp=1), {},
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=TABLES)
def case(request):
    panel, costs, settings = TABLES[request.param]
    result = audit(panel, costs=costs, resamples=40, **settings)
    assert result.tradeoff is not None
    return panel, costs, result


def test_at_the_present_costs_it_decides_as_the_pools_do(case):
    _, costs, result = case
    found = result.tradeoff
    assert found.by_amount == isinstance(costs.fn, str)
    assert found.now == (costs.fp if found.by_amount else costs.fn / costs.fp)
    shown = {one.pool: one for one in result.operations}
    assert found.pools == tuple(dict.fromkeys((result.plan.in_use, result.plan.pool)))
    for p, pool in enumerate(found.pools):
        for name, value in figures(found, p, found.now, costs.fp).items():
            expected = getattr(shown[pool], name)
            assert (value is None) == (expected is None)
            if value is not None:
                assert_allclose(value, expected.value, rtol=1e-9, err_msg=name)


def test_every_case_is_counted_once_with_its_stake(case):
    panel, costs, result = case
    found = result.tradeoff
    weights = np.ones(len(panel)) if panel.weights is None else panel.weights
    positive = panel.outcomes == 1
    fn = panel.columns["amount"] if found.by_amount else np.full(len(panel), costs.fn)
    if result.operations[0].cases == len(panel):
        assert_allclose(found.positives[0].sum(), weights[positive].sum())
        assert_allclose(found.negatives[0].sum(), weights[~positive].sum())
        assert_allclose(found.stakes[0].sum(), weights[positive] @ fn[positive])


@pytest.mark.parametrize("ratio", [1.5, 12.0, 40.0])
def test_at_other_costs_it_decides_as_an_audit_at_these_costs(ratio):
    """The pool in use learns nothing, so only its decisions change."""
    panel = sound(5, 900)
    found = audit(panel, costs=Costs(fn=5), resamples=20).tradeoff
    other = audit(panel, costs=Costs(fn=ratio), resamples=20).operations[0]
    one = figures(found, 0, ratio)
    # A group of cases is decided as one: its ratios differ by 3.5 %.
    width = np.exp(found.edges[1] - found.edges[0]) - 1
    assert 0.03 < width < 0.04
    assert_allclose(one["recall"], other.recall.value, atol=0.02)
    assert_allclose(one["alerts"], other.alerts.value, atol=0.02)
    assert_allclose(one["cost"], other.cost.value, rtol=0.05)


def test_a_larger_ratio_never_means_fewer_alerts(case):
    _, costs, result = case
    found = result.tradeoff
    ratios = np.exp(found.edges[1:-1:7])
    alerts = [figures(found, 0, ratio, costs.fp)["alerts"] for ratio in ratios]
    steps = np.diff(alerts)
    assert (steps <= 0).all() if found.by_amount else (steps >= 0).all()


@pytest.mark.parametrize(
    ("panel", "costs", "settings"),
    [
        (random_panel(2, cases=200, classes=3), Costs(), {}),
        (sound(0, 300), COSTS, {"capacity": "20%"}),
        (sound(0, 300), Costs(fn=5, tp=0.5), {}),
        (payments(cases=400), Costs(fn=50, fp="amount"), {}),
        (random_panel(2, cases=25), COSTS, {}),
    ],
    ids=["classes", "capacity", "hits cost", "false alarms by case", "few"],
)
def test_there_is_none_where_one_ratio_does_not_say_it_all(panel, costs, settings):
    assert audit(panel, costs=costs, resamples=20, **settings).tradeoff is None


def test_with_fewer_groups_its_figures_would_not_be_those_of_other_costs(monkeypatch):
    panel, ratios = sound(5, 900), (2.0, 3.5, 12.0, 30.0)
    line = {ratio: (panel.reports.mean(axis=1) > 1 / (1 + ratio)) for ratio in ratios}

    def gap():
        found = audit(panel, costs=Costs(fn=5), resamples=20).tradeoff
        shown = {ratio: figures(found, 0, ratio)["alerts"] for ratio in ratios}
        return max(abs(shown[ratio] - line[ratio].mean()) for ratio in ratios)

    assert gap() < 0.02
    monkeypatch.setattr(tradeoff, "BINS", 12)
    assert gap() > 0.05
