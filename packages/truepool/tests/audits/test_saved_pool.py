"""A pool that was fitted before, judged as it is on the cases of the month after."""

import json

import numpy as np
import pytest
from scenarios import bank
from scipy.special import expit, logit

import truepool as tp
from truepool.audits import audit
from truepool.core.errors import AgentError, PanelError
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

COSTS = Costs(fn=20, fp=1)
QUICK = {"costs": COSTS, "resamples": 100}


@pytest.fixture(scope="module")
def months():
    """A pool that learned from the first part of a table, and the panel of the rest."""
    drawn = bank.make("segment", 5, rows=24_000, share=0.05)
    panel = Panel(drawn.reports, drawn.fraud, bank.VENDORS, times=drawn.times)
    learned = np.arange(len(panel)) < 12_000
    pool = tp.VCG(costs=COSTS)
    pool.fit_panel(panel.take(learned))
    pool.remember(panel.take(learned))
    return pool, panel.take(~learned), panel


def cost_of(pool, panel):
    decided = pool.pool(panel.values).decisions
    return COSTS.resolve({}).cost_per_case(panel.outcomes, decided, 2)


def test_its_cost_and_recall_are_those_of_the_file_on_these_cases(months):
    pool, new, _ = months
    found = audit(new, pool=pool, **QUICK)
    now = found.operations[0]
    assert now.pool == found.plan.in_use == "vcg as saved"
    assert now.cases == len(new)
    assert now.cost.value == pytest.approx(1000 * cost_of(pool, new).mean())
    decided, positive = pool.pool(new.values).decisions, new.outcomes == 1
    assert now.recall.value == pytest.approx(decided[positive].mean())
    refit = next(row for row in found.comparison.rows if row.pool == "vcg")
    # Fitted again in folds it has another cost, on the cases that these test.
    assert 1000 * refit.loss.value != pytest.approx(now.cost.value, rel=1e-6)


def test_cases_that_it_learned_from_are_not_tested(months):
    pool, new, whole = months
    found = audit(whole, pool=pool, **QUICK)
    assert found.operations[0].cases == len(new)
    assert found.operations[0].cost.value == pytest.approx(
        1000 * cost_of(pool, new).mean()
    )
    notes = {note.code: note.facts for note in found.notes}
    assert notes["learned-cases"]["count"] == 12_000


def test_a_table_of_nothing_but_these_is_refused(months):
    pool, _, whole = months
    with pytest.raises(PanelError):
        audit(whole.take(np.arange(12_000)), pool=pool, **QUICK)


def test_an_agent_that_it_needs_must_be_there_and_others_are_left_out(months):
    pool, new, _ = months
    less = Panel(new.reports[:, 1:], new.outcomes, bank.VENDORS[1:], times=new.times)
    with pytest.raises(AgentError):
        audit(less, pool=pool, **QUICK)
    names = ("another", *bank.VENDORS)
    more = Panel(
        np.c_[new.reports[:, 0], new.reports], new.outcomes, names, times=new.times
    )
    found = audit(more, pool=pool, **QUICK)
    assert found.names == bank.VENDORS
    assert found.operations[0].cost.value == pytest.approx(
        1000 * cost_of(pool, new).mean()
    )


def test_outcomes_of_other_names_are_refused(months):
    pool, new, _ = months
    words = np.where(new.outcomes == 1, "yes", "no")
    other = Panel(new.reports, words, bank.VENDORS, times=new.times, positive="yes")
    with pytest.raises(PanelError):
        audit(other, pool=pool, **QUICK)


def test_its_cure_is_a_new_fit_of_its_kind_and_no_other_pool(months):
    """Vendors say too much since the fit, so the file is over-confident and biased."""
    pool, new, _ = months
    odds = logit(new.reports.clip(1e-6, 1 - 1e-6))
    louder = expit(1.6 * odds + 2.0)
    worse = Panel(louder, new.outcomes, bank.VENDORS, times=new.times)
    found = audit(worse, pool=pool, **QUICK)
    plan = found.plan
    assert plan.pool in ("vcg", "vcg as saved")
    used = {step.arguments.get("pool") for step in plan.steps}
    assert used <= {None, "vcg", "vcg as saved"}


def test_since_says_whether_it_is_the_same_file(months):
    pool, new, whole = months
    halves = [new.take(half) for half in np.array_split(np.arange(len(new)), 2)]
    before = json.loads(json.dumps(audit(halves[0], pool=pool, **QUICK).to_dict()))
    same = audit(halves[1], pool=pool, **QUICK, since=before)
    assert same.changes.cost.value == before["operations"][0]["cost"]["value"]
    other = tp.VCG(costs=COSTS)
    other.fit_panel(whole.take(np.arange(6_000)))
    other.remember(whole.take(np.arange(6_000)))
    changed = audit(halves[1], pool=other, **QUICK, since=before)
    assert set(changed.changes.settings) - set(same.changes.settings) == {"pool"}


def test_without_times_or_ids_a_note_says_that_it_may_have_learned_from_them(months):
    pool, new, _ = months
    bare = Panel(new.reports, new.outcomes, bank.VENDORS)
    found = audit(bare, pool=pool, **QUICK)
    assert found.operations[0].cases == len(new)
    assert "unknown-cases" in {note.code for note in found.notes}
