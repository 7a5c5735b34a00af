"""Cases without an outcome compete for a capacity with those that have one."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import truepool as tp
from truepool.comparison import Competition
from truepool.core.errors import PanelError
from truepool.measures.capacity import Capacity
from truepool.measures.folds import panel_splits
from truepool.panel.sparse import SparseReports

CASES, DAYS, LIMIT = 6000, 300, 4
COSTS = tp.Costs(fn="amount", fp=5)


@pytest.fixture(scope="module")
def all_cases():
    """Cases of which all is known; those with a low first report are rarely reviewed."""
    rng = np.random.default_rng(1)
    log_odds = rng.normal(-2.5, 1.5, CASES)
    said = 1 / (1 + np.exp(-(log_odds[:, None] + rng.normal(0, 0.8, (CASES, 2)))))
    chance = np.where(said[:, 0] > 0.2, 1.0, 0.3)
    table = pd.DataFrame(said, columns=["a", "b"])
    return table.assign(
        y=(rng.random(CASES) < 1 / (1 + np.exp(-log_odds))).astype(int),
        amount=rng.lognormal(4, 1, CASES),
        day=np.datetime64("2026-01-01") + np.arange(CASES) // (CASES // DAYS),
        chance=chance,
        reviewed=rng.random(CASES) < chance,
    )


def as_panel(cases, **more):
    known, later = cases[cases.reviewed], cases[~cases.reviewed]
    panel = tp.Panel(
        known[["a", "b"]], known.y, times=known.day, columns={"amount": known.amount},
        **more,
    )  # fmt: skip
    return panel.with_pending(
        later[["a", "b"]], times=later.day, columns={"amount": later.amount}
    )


def flag(cases, limit=LIMIT):
    """Flag by pandas: the most valuable cases of each day by the mean report."""
    p = cases[["a", "b"]].mean(axis=1)
    saved = p * cases.amount - (1 - p) * 5
    rank = saved.groupby(cases.day).rank(ascending=False)
    return (saved > 0) & (rank <= limit)


def compared(panel, **settings):
    options = {"costs": COSTS, "pools": ["mean"], "resamples": 200} | settings
    return tp.compare(panel, **options)


def test_recall_within_a_capacity_is_that_of_all_cases(all_cases):
    """Oracle: what the same rule finds where every outcome is known."""
    weights = all_cases.chance[all_cases.reviewed]
    panel = as_panel(all_cases, propensity=weights)
    found = compared(panel, capacity=f"{LIMIT}/day")["mean"]
    later = all_cases[all_cases.day >= panel.times[panel_splits(panel)[0][1]].min()]
    truth = flag(later)[later.y == 1].mean()
    low, high = found.recall_interval
    assert abs(found.recall - truth) < (high - low)  # about four standard errors
    own = later[later.reviewed]
    alone = np.average(flag(own)[own.y == 1], weights=1 / own.chance[own.y == 1])
    assert alone > high  # what the reviewed cases alone would say


def test_every_slot_is_given_to_the_most_valuable_case_known_or_not(all_cases):
    panel = as_panel(all_cases)
    found = compared(panel, capacity=f"{LIMIT}/day")
    later = all_cases[all_cases.day >= panel.times[panel_splits(panel)[0][1]].min()]
    own = later.reviewed & (later.y == 1)
    assert_allclose(found["mean"].recall, flag(later)[own].mean())
    assert found.competing == int((~later.reviewed).sum())
    audit = tp.audit(panel, costs=COSTS, capacity=f"{LIMIT}/day", resamples=50)
    assert_allclose(audit.capacity.recall.value, found["mean"].recall)
    assert audit.capacity.decided == flag(later).sum()
    assert audit.capacity.competing == found.competing


def test_a_number_is_for_all_cases_of_the_table(all_cases):
    cases = all_cases.head(600)
    panel = as_panel(cases)
    undated = tp.Panel(panel.reports, panel.outcomes, columns=panel.columns)
    later = cases[~cases.reviewed]
    undated = undated.with_pending(later[["a", "b"]], columns={"amount": later.amount})
    found = compared(undated, capacity=40)["mean"]
    everyone = cases.assign(day=0)
    own = cases.reviewed & (cases.y == 1)
    assert_allclose(found.recall, flag(everyone, 40)[own].mean())


def test_without_a_capacity_cases_without_an_outcome_change_nothing(all_cases):
    panel = as_panel(all_cases.head(900))
    bare = panel.take(np.arange(len(panel)))
    assert compared(panel).to_dict() == compared(bare).to_dict()


def test_a_fold_pools_only_cases_later_than_all_it_learned_from(all_cases):
    panel = as_panel(all_cases.head(900))
    limit = Capacity.parse("4/day")
    field = Competition.of(panel, panel_splits(panel), limit, COSTS)
    times = field.panel.times
    for learn, test in field.pairs:
        assert learn.max() < len(panel)
        assert times[learn].max() < times[test].min()
    assert field.pending == (field.cases >= len(panel)).sum() > 0


def test_sparse_reports_compete_as_a_table_does(all_cases):
    cases = all_cases.head(600)
    panel = as_panel(cases)
    sparse = tp.Panel(
        SparseReports.from_dense(panel.reports), panel.outcomes, ("a", "b"),
        times=panel.times, columns=panel.columns,
    )  # fmt: skip
    later = panel.pending
    sparse = sparse.with_pending(
        SparseReports.from_dense(later.reports), times=later.times,
        columns=dict(later.columns),
    )  # fmt: skip
    limit = {"capacity": "4/day"}
    assert_allclose(
        compared(sparse, **limit)["mean"].recall,
        compared(panel, **limit)["mean"].recall,
    )


def test_costs_of_cases_without_an_outcome_must_be_known(all_cases):
    panel = as_panel(all_cases.head(300))
    bare = panel.with_pending(panel.pending.reports, times=panel.pending.times)
    with pytest.raises(PanelError, match=r"they have no column 'amount'\. Give it to"):
        compared(bare, capacity="4/day")


def test_a_pool_that_learns_pools_them_by_its_folds(all_cases):
    panel = as_panel(all_cases.head(900))
    audit = tp.audit(panel, costs=COSTS, pool="vcg", capacity="4/day", resamples=50)
    found = compared(panel, pools=["vcg"], capacity="4/day")["vcg"]
    assert_allclose(audit.capacity.recall.value, found.recall)


def test_the_plan_of_an_audit_is_within_the_capacity(all_cases):
    """The audit and the comparison give the pools the same costs."""
    panel = as_panel(all_cases.head(900))
    audit = tp.audit(panel, costs=COSTS, capacity="2/day", resamples=50)
    found = compared(panel, pools=["vcg", "platt"], capacity="2/day", resamples=50)
    for row in found.rows:
        assert_allclose(audit.comparison[row.pool].loss.value, row.loss.value)
    cost = 1000 * found["mean"].loss.value
    assert_allclose(audit.operations[0].cost.value, cost)
    assert_allclose(audit.capacity.cost.value, cost)
    assert 0 < audit.capacity.competing <= len(panel.pending)
    assert "within-capacity" in {note.code for note in audit.notes}
