"""The same quantity has the same number, wherever it is shown."""

import io
import json

import numpy as np
import pytest
from faults import COSTS, sound
from numpy.testing import assert_allclose
from rich.console import Console

from truepool.audits import audit
from truepool.audits.topics import comparison
from truepool.comparison import compare
from truepool.comparison.values import Estimate
from truepool.measures.folds import out_of_fold, panel_splits
from truepool.measures.inference import Resamples, unseen_differences, with_unseen
from truepool.measures.losses import Loss
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean
from truepool.pools.platt import Platt
from truepool.pools.vcg import VCG
from truepool.render.html.audit import html
from truepool.render.numbers import format_estimate, number
from truepool.render.tables.audit import show
from truepool.render.tables.evidence import agents

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


def test_the_saving_of_the_best_pool_is_the_same_in_every_form(found):
    plan = found.recommendation
    saved = next(o.saved for o in found.significance if o.pool == plan.pool)
    assert plan.saving == saved
    price = next(f.cost for f in found.findings if f.code == "better-pool")
    assert price == saved
    console = Console(record=True, width=200, file=io.StringIO())
    show(found, console)
    terminal = console.export_text()
    text = format_estimate(saved, sign=True)
    for shown in (terminal, found.to_markdown(), html(found)):
        assert text in shown
    read = json.loads(json.dumps(found.to_dict()))
    as_read = {row["pool"]: Estimate(**row["saved"]) for row in read["significance"]}
    assert as_read[plan.pool] == saved == Estimate(**read["recommendation"]["saving"])


def test_the_cost_of_the_pool_in_use_is_the_same_in_every_form(found):
    cost = found.recommendation.cost_in_use
    assert_allclose(found.comparison["mean"].loss.value, cost)


def test_an_agent_and_the_pool_are_compared_on_the_same_cases():
    """Oracle: one agent reports on every other case, and cases have times."""
    reports = PANEL.reports.copy()
    reports[::2, 0] = np.nan
    panel = Panel(reports, PANEL.outcomes, PANEL.agents, times=np.arange(400))
    found = audit(panel, costs=COSTS, pool="vcg", resamples=50)
    loss, pairs = Loss("cost", COSTS), panel_splits(panel, 5)
    tested = np.concatenate([test for _, test in pairs])
    pooled = out_of_fold(VCG(costs=COSTS), panel, pairs)
    for i, one in enumerate(found.agent_summaries):
        there = tested[~np.isnan(reports[tested, i])]
        assert one.cases == len(there) < 400
        own = loss.evaluate(reports[there, i][:, None], panel.outcomes[there])
        assert_allclose(one.cost, own.mean())
        cost = loss.evaluate(pooled[there], panel.outcomes[there])
        assert_allclose(one.pool_cost, cost.mean())
    whole = found.agent_summaries[1].pool_cost
    assert_allclose(whole, found.comparison["vcg"].loss.value)
    sparse = agents(found)
    assert sparse.headers[0] == "agent"
    assert sparse.headers[2:4] == ("own cost", "pool there")
    assert sparse.headers[-1] == "cases"


def test_where_all_agents_report_on_all_cases_the_cost_of_the_pool_is_said_once(found):
    grid = agents(found)
    assert "pool there" not in grid.headers
    cost = number(found.comparison["mean"].loss.value)
    assert "on 400 tested cases; on the same ones" in grid.notes[0]
    assert f"the pool costs {cost}" in grid.notes[0]
