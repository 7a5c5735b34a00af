"""The same quantity has the same number, wherever it is shown."""

import io
import json

import numpy as np
import pytest
from faults import COSTS, sound
from numpy.testing import assert_allclose
from rich.console import Console

from truepool.audits import audit, comparison
from truepool.comparison import compare
from truepool.comparison.values import Estimate
from truepool.core.formatting import measured
from truepool.measures.folds import out_of_fold, panel_splits
from truepool.measures.inference import Resamples, unseen_differences, with_unseen
from truepool.measures.losses import Loss
from truepool.pages.audit import html, show
from truepool.pages.wording import Speaker
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean
from truepool.pools.platt import Platt
from truepool.pools.vcg import VCG

PANEL = sound(0, cases=400)
POOLS = ("platt", "vcg", "best-agent", "auto")


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "POOLS", POOLS)
        return audit(PANEL, costs=COSTS, resamples=200)


@pytest.fixture(scope="module")
def compared():
    return compare(PANEL, costs=COSTS, pools=POOLS, resamples=200)


def ends(estimate, sign=1):
    values = sign * np.array([estimate.value, estimate.low, estimate.high])
    return np.sort(values)


def test_the_interval_of_a_difference_is_bca_over_the_cases(compared):
    pairs = panel_splits(PANEL, 5)
    loss = Loss("cost", COSTS)
    lost = {
        pool.name: loss.evaluate(out_of_fold(pool, PANEL, pairs), PANEL.outcomes)
        for pool in (Mean(costs=COSTS), Platt(costs=COSTS))
    }
    gap = lost["platt"] - lost["mean"]
    stakes = COSTS.stakes(PANEL.outcomes, 2)
    unseen = unseen_differences(stakes, PANEL.outcomes)
    both = with_unseen(gap[:, None], unseen)[:, 0]
    interval = Resamples(len(both), 200, 0).interval(both, 0.95)
    assert_allclose(ends(compared["platt"].to_mean), np.sort([gap.mean(), *interval]))


def test_a_difference_of_two_pools_is_the_same_in_audit_and_comparison(found, compared):
    for other in found.significance:
        for row in (found.comparison[other.pool], compared[other.pool]):
            assert_allclose(ends(other.saved), ends(row.to_mean, -1), atol=1e-12)


def test_the_saving_of_a_step_is_the_same_in_every_form(found):
    say = Speaker.of(found)
    read = json.loads(json.dumps(found.to_dict()))
    for step, written in zip(found.plan.steps, read["plan"]["steps"], strict=True):
        if step.saving is None:
            assert written["saving"] is None
            continue
        assert Estimate(**written["saving"]) == step.saving
        console = Console(record=True, width=200, file=io.StringIO())
        show(say, console)
        for shown in (console.export_text(), found.to_markdown(), html(found)):
            assert say.money(step.saving) in shown.replace("\N{NO-BREAK SPACE}", " ")


def test_the_cost_of_the_pool_in_use_is_the_same_in_every_form(found):
    cost = 1000 * found.comparison["mean"].loss.value
    assert_allclose(found.operations[0].cost.value, cost)
    text = measured(found.operations[0].cost)
    for shown in (found.to_markdown(), html(found)):
        assert text in shown


def test_an_agent_and_the_pool_are_compared_on_the_same_cases():
    """Oracle: one agent reports on every other case, and cases have times."""
    reports = PANEL.reports.copy()
    reports[::2, 0] = np.nan
    panel = Panel(reports, PANEL.outcomes, PANEL.agents, times=np.arange(400))
    found = audit(panel, costs=COSTS, pool="vcg", resamples=50)
    loss, pairs = Loss("cost", COSTS), panel_splits(panel, 5)
    tested = np.concatenate([test for _, test in pairs])
    pooled = out_of_fold(VCG(costs=COSTS), panel, pairs)
    for i, one in enumerate(found.summaries):
        there = tested[~np.isnan(reports[tested, i])]
        assert one.cases == len(there) < 400
        own = loss.evaluate(reports[there, i][:, None], panel.outcomes[there])
        assert_allclose(one.cost, 1000 * own.mean())
        cost = loss.evaluate(pooled[there], panel.outcomes[there])
        assert_allclose(one.pool_cost, 1000 * cost.mean())
    whole = found.summaries[1].pool_cost
    assert_allclose(whole, 1000 * found.comparison["vcg"].loss.value)
