"""An agent that knows the outcome is asked about, and nobody who is only good."""

import numpy as np
import pytest
from faults import COSTS, sound

from truepool.audits import audit
from truepool.audits.evidence import Evidence
from truepool.audits.severity import CALIBRATION, LEAK
from truepool.audits.topics import leaks
from truepool.data.panel import Panel
from truepool.datasets import example
from truepool.pools.mean import Mean

QUICK = {"costs": COSTS, "resamples": 50}
CASES = 3000


def p_value(panel):
    """P-value of the check; None where it makes no test."""
    evidence = Evidence(panel, Mean(costs=COSTS), COSTS, None, 0.95, 50, 0)
    found = list(leaks.check(evidence))
    return found[0].p_value if found else None


def with_agent(separation, seed=0, panel=None):
    """A sound panel, with an agent that gives positives so much higher log-odds."""
    panel = sound(seed, cases=CASES) if panel is None else panel
    rng = np.random.default_rng(seed)
    odds = separation * (panel.outcomes - 0.5) + rng.normal(0, 1, len(panel))
    reports = np.c_[panel.reports, 1 / (1 + np.exp(-odds))]
    return Panel(reports, panel.outcomes, (*panel.agents, f"new{seed or ''}"))


def the_outcome(panel):
    reports = np.c_[panel.reports, panel.outcomes.astype(float)]
    return Panel(reports, panel.outcomes, (*panel.agents, "new"))


@pytest.mark.parametrize(
    "panel", [the_outcome(sound(cases=CASES)), with_agent(4.0)], ids=["same", "noisy"]
)
def test_an_agent_that_knows_the_outcome_is_asked_about_first(panel):
    result = audit(panel, **QUICK)
    finding = result.findings[0]
    assert (finding.code, finding.severity, finding.who) == (LEAK, "warning", ("new",))
    assert "almost perfectly (AUC" in finding.sentence
    assert "Was it made before the outcome was known?" in finding.sentence
    assert "(`--ignore new`)" in finding.advice
    assert "new may know the outcome" in result.verdict
    assert result.steps[0].startswith("Before anything else, find out whether new was")
    assert result.steps[1].startswith("Provided that new was made before")
    assert "best-agent" != result.recommendation.pool
    assert "best agent alone" not in result.advice


def test_its_faults_and_its_lead_stand_under_the_question():
    panel = with_agent(4.0)
    lead = [f for f in audit(panel, **QUICK).findings if f.code == "worse-than-best"]
    assert [f.cause for f in lead] == [(LEAK, "new")]
    flat = panel.reports.copy()
    flat[:, -1] = 0.5 + 0.3 * (flat[:, -1] - 0.5)
    result = audit(Panel(flat, panel.outcomes, panel.agents), **QUICK)
    own = [f for f in result.findings if f.who == ("new",) and f.code != LEAK]
    assert {f.code for f in own}.intersection(CALIBRATION)
    for finding in own:
        assert (finding.severity, finding.cause) == ("note", (LEAK, "new"))
        assert "new may know the outcome" in finding.sentence
    assert "recalibrate new" not in result.advice


@pytest.mark.parametrize("seed", range(5))
def test_sound_agents_are_not_asked_about(seed):
    assert p_value(sound(seed, cases=CASES)) == 1.0
    assert LEAK not in {f.code for f in audit(example(), **QUICK).findings}


def test_a_good_agent_beside_good_ones_is_not_asked_about():
    """Several are nearly perfect, or the best is not ten times as good as the next."""
    assert p_value(with_agent(6.0, 1, with_agent(3.0))) == 1.0
    assert p_value(with_agent(3.0)) == 1.0
    assert p_value(with_agent(3.4, 1, with_agent(1.8))) > 0.05


def test_a_reversed_agent_counts_by_what_it_knows():
    panel = the_outcome(with_agent(3.0, seed=1))
    assert p_value(panel) == 1.0
    turned = panel.reports.copy()
    turned[:, -2] = 1 - turned[:, -2]
    assert p_value(Panel(turned, panel.outcomes)) == 1.0


def test_few_positives_prove_nothing():
    """All of 12 right, beside others at .8, may be luck; all of 400 are not."""
    rng = np.random.default_rng(1)
    for positives, surely in ((12, False), (400, True)):
        outcomes = (np.arange(4000) < positives).astype(int)
        odds = 1.2 * outcomes[:, None] + rng.normal(0, 1, (4000, 3))
        panel = Panel(1 / (1 + np.exp(3 - odds)), outcomes)
        assert (p_value(the_outcome(panel)) < 1e-4) == surely


def test_who_says_always_the_same_or_hardly_anything_is_no_rival():
    panel = the_outcome(sound(cases=CASES))
    reports = panel.reports.copy()
    reports[:, 0] = 0.1
    reports[20:, 1] = np.nan
    assert p_value(Panel(reports, panel.outcomes)) < 1e-6
    reports[20:, 2:-1] = np.nan
    assert p_value(Panel(reports[:, 1:], panel.outcomes)) is None


def test_others_who_know_nothing_do_not_show_how_hard_the_cases_are():
    panel = the_outcome(sound(cases=CASES))
    noise = np.random.default_rng(4).random((CASES, 3))
    alone = Panel(np.c_[panel.reports[:, -1], noise], panel.outcomes)
    assert p_value(alone) == 1.0


def test_more_than_two_classes_are_not_asked_about():
    rng = np.random.default_rng(2)
    outcomes = rng.integers(0, 3, 300)
    reports = rng.dirichlet([1, 1, 1], (300, 2))
    reports[:, 1] = np.eye(3)[outcomes]
    assert p_value(Panel(reports, outcomes)) is None
