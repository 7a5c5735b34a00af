"""Outcomes that are missing mostly where the pool says no."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from faults import COSTS, sound

from truepool.audits import audit
from truepool.audits.evidence import Evidence
from truepool.audits.findings import select_findings
from truepool.audits.topics import selective_labels
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.measures.losses import Loss
from truepool.pools.mean import Mean

QUICK = {"costs": COSTS, "resamples": 50}
PANEL = sound(0, cases=900)
ALARMS = PANEL.reports.mean(axis=1) > COSTS.threshold


def selected(chance_no, chance_yes=1.0, seed=0, **more):
    """The panel with an outcome only where a case was reviewed."""
    chance = np.where(ALARMS, chance_yes, chance_no)
    known = np.random.default_rng(seed).random(900) < chance
    panel = Panel(PANEL.reports[known], PANEL.outcomes[known], **more)
    return panel.with_pending(PANEL.reports[~known]), chance[known]


def finding_of(panel, costs=COSTS, threshold=None):
    panel, costs = costs.attach(panel)
    pool = Mean(costs=costs, threshold=threshold)
    evidence = Evidence(panel, pool, costs, threshold, 0.95, 50, 0)
    found = select_findings(list(selective_labels.check(evidence)))
    return found[0] if found else None


def test_outcomes_missing_where_the_pool_says_no_are_a_warning():
    finding = finding_of(selected(0.3)[0])
    assert finding.severity == "warning"
    assert "and in 0.0 % of those it decides positive" in finding.sentence
    assert "--explore" in finding.advice
    assert "--propensity" in finding.advice
    known = PANEL.outcomes == 1
    truth = (known & ALARMS).sum() / known.sum()
    said = [float(w) for w in finding.sentence.split() if w.replace(".", "").isdigit()]
    there, everywhere = said[2:4]
    assert there / 100 > truth
    assert everywhere / 100 == pytest.approx(truth, abs=0.02)


def test_outcomes_missing_at_random_are_not_mentioned():
    assert finding_of(selected(0.5, 0.5)[0]) is None


def test_outcomes_missing_where_the_pool_says_yes_are_not_mentioned():
    assert finding_of(selected(1.0, 0.4)[0]) is None


def test_a_panel_with_all_outcomes_is_not_asked():
    assert finding_of(PANEL) is None
    empty = PANEL.with_pending(np.full((3, len(PANEL.agents)), np.nan))
    assert finding_of(empty) is None


def test_propensities_account_for_the_review():
    panel, chance = selected(0.3)
    weighted = Panel(panel.reports, panel.outcomes, propensity=chance)
    weighted = weighted.with_pending(panel.pending.reports)
    assert finding_of(weighted) is None
    result = audit(weighted, **QUICK)
    assert any("over its propensity" in note for note in result.sampled)
    whole, naive = (
        Loss("cost", COSTS).evaluate(p.reports.mean(axis=1)[:, None], p.outcomes).mean()
        for p in (PANEL, panel)
    )
    assert abs(result.recommendation.cost_in_use - whole) < abs(naive - whole)


def test_costs_per_case_decide_at_the_threshold_of_an_average_case():
    panel, _ = selected(0.3)
    amounts = np.random.default_rng(1).gamma(2.0, 5.0, len(panel))
    costs = Costs(fn=amounts, fp=1)
    finding = finding_of(panel, costs=costs)
    assert finding.severity == "warning"


def test_where_nothing_was_found_no_recall_is_given():
    """The pool in use decides nothing positive."""
    finding = finding_of(selected(0.3)[0], threshold=1.0)
    assert finding is None or "recall" not in finding.sentence


@pytest.fixture(scope="module")
def script():
    path = Path(__file__).parents[3] / "scripts" / "measure_propensity_coverage.py"
    spec = importlib.util.spec_from_file_location("measure_propensity_coverage", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_intervals_of_a_comparison_by_propensity_hold_the_true_cost(script):
    """40 runs: the noise of a share of 95 % is 3.4 %, three of it are allowed."""
    truth = script.true_cost(200_000)
    found = [script.estimates(seed, 1_500, resamples=100) for seed in range(40)]
    held = np.array([[e.low <= truth <= e.high for e in pair] for pair in found])
    weighted, plain = held.mean(axis=0)
    assert weighted > 0.95 - 0.1
    assert plain < weighted - 0.1
