"""An agent that knows the outcome is asked about, and nobody who is only good."""

import numpy as np
import pytest
from checked import ill
from faults import COSTS, sound
from scipy.stats import norm

from truepool.audits import audit, kinds
from truepool.audits.leaks import find_suspects, separation_chance
from truepool.core.errors import AgentError
from truepool.datasets import example
from truepool.panel.panel import Panel
from truepool.pools.platt import Platt

QUICK = {"costs": COSTS, "resamples": 50}
CASES = 3000


def suspects(panel, **settings):
    return [suspect.agent for suspect in find_suspects(panel, **settings)]


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


def strong(positives, negatives, areas, seed=0, correlation=0.5):
    """Agents with these areas under the curve, of normal scores."""
    rng = np.random.default_rng(seed)
    outcomes = (np.arange(positives + negatives) < positives).astype(int)
    apart = np.sqrt(2) * norm.ppf(areas)
    spread = np.full((len(areas), len(areas)), correlation)
    np.fill_diagonal(spread, 1.0)
    scores = rng.multivariate_normal(np.zeros(len(areas)), spread, len(outcomes))
    scores += np.outer(outcomes, apart)
    return Panel(1 / (1 + np.exp(2 - scores)), outcomes)


@pytest.mark.parametrize(
    "panel", [the_outcome(sound(cases=CASES)), with_agent(6.0)], ids=["same", "noisy"]
)
def test_an_agent_that_knows_the_outcome_is_asked_about_and_left_out_till_then(panel):
    result = audit(panel, **QUICK)
    own = result.agents[-1]
    assert (own.who, own.code, own.severity) == ("new", "leaked-outcome", "warning")
    assert result.plan.trust != "yes"
    first = result.plan.steps[0]
    assert (first.action, first.agents) == ("ask-leak", ("new",))
    rest = Panel(panel.reports[:, :-1], panel.outcomes, panel.agents[:-1])
    without = audit(rest, **QUICK)
    assert result.operations == without.operations
    assert [one.agent for one in result.summaries] == list(rest.agents)
    assert ill(result) == {"new": ("leaked-outcome", "warning")} | ill(without)


def test_the_answer_that_an_agent_is_sound_brings_it_back():
    panel = the_outcome(sound(cases=CASES))
    result = audit(panel, trusted=("new",), **QUICK)
    assert "leaked-outcome" not in {finding.code for finding in result.findings}
    assert [one.agent for one in result.summaries] == list(panel.agents)
    with pytest.raises(AgentError, match="trusted"):
        audit(panel, trusted=("knew",), **QUICK)


def only_a_question(result):
    """Nothing that depends on outcomes is said while a suspect is in the pool."""
    assert (result.plan.in_doubt, result.plan.pool) == (True, None)
    assert [step.action for step in result.plan.steps] == ["ask-leak"]
    assert (result.operations, result.tradeoff) == ((), None)
    codes = {finding.code for finding in result.findings} - {"leaked-outcome"}
    assert not any(kinds.every()[code].needs_outcomes for code in codes)


def test_where_too_few_agents_are_left_there_are_no_figures():
    base = sound(cases=CASES)
    two = Panel(np.c_[base.reports[:, 0], base.outcomes * 1.0], base.outcomes)
    result = audit(two, **QUICK)
    assert ill(result) == {"agent1": ("leaked-outcome", "warning")}
    only_a_question(result)


def test_a_saved_pool_that_holds_a_suspect_has_no_figures_until_the_answer():
    panel = the_outcome(sound(cases=CASES))
    half = np.arange(CASES) < CASES // 2
    pool = Platt(costs=COSTS).fit_panel(panel.take(half))
    result = audit(panel.take(~half), pool=pool, **QUICK)
    assert ill(result) == {"new": ("leaked-outcome", "warning")}
    only_a_question(result)
    answered = audit(panel.take(~half), pool=pool, trusted=("new",), **QUICK)
    assert not answered.plan.in_doubt


def test_of_nobody_but_perfect_agents_each_is_asked_about():
    panel = the_outcome(sound(cases=CASES))
    knows = panel.reports[:, -1]
    both = Panel(np.c_[knows, 0.2 + 0.6 * knows], panel.outcomes, ("a", "b"))
    assert suspects(both) == ["a", "b"]


@pytest.mark.parametrize("seed", range(5))
def test_sound_agents_are_not_asked_about(seed):
    assert suspects(sound(seed, cases=CASES)) == []
    assert suspects(example()) == []


@pytest.mark.parametrize("positives", [50, 100, 400])
def test_a_perfect_agent_is_found_beside_strong_ones(positives):
    for seed in range(10):
        panel = strong(positives, 5_000, [0.97, 0.98, 0.985], seed)
        assert suspects(the_outcome(panel)) == ["new"]


@pytest.mark.parametrize(("positives", "negatives"), [(20, 200), (100, 400), (60, 60)])
def test_strong_agents_that_are_only_good_are_not_asked_about(positives, negatives):
    rng = np.random.default_rng(positives)
    for seed in range(40):
        areas = rng.uniform(0.97, 0.985, 4)
        assert suspects(strong(positives, negatives, areas, seed)) == []


def test_two_agents_that_know_the_outcome_are_both_asked_about():
    panel = the_outcome(sound(cases=CASES))
    names = (*panel.agents, "newer")
    reports = np.c_[panel.reports, panel.outcomes]
    assert suspects(Panel(reports, panel.outcomes, names)) == ["new", "newer"]


def test_a_reversed_agent_counts_by_what_it_knows():
    panel = strong(60, 60, [0.97, 0.99999])
    turned = panel.reports.copy()
    turned[:, 0] = 1 - turned[:, 0]
    assert suspects(panel) == suspects(Panel(turned, panel.outcomes))


def test_the_chance_to_separate_the_classes_is_that_of_a_simulation():
    rng = np.random.default_rng(0)
    apart = np.sqrt(2) * norm.ppf(0.97)
    scores = rng.normal(size=(20_000, 12))
    low = scores[:, :4].min(axis=1) + apart
    share = (low > scores[:, 4:].max(axis=1)).mean()
    found = separation_chance(0.97, np.arange(12) < 4)
    assert abs(found - share) < 4 * np.sqrt(share * (1 - share) / 20_000)


def test_few_cases_prove_nothing():
    """All of 5 positives above 20 others, beside agents at .8, may be luck."""
    few = strong(5, 20 + 5, [0.8, 0.8])
    assert suspects(the_outcome(few)) == []


def test_who_says_hardly_anything_is_no_rival():
    panel = the_outcome(sound(cases=CASES))
    reports = panel.reports.copy()
    reports[:, 0] = 0.1
    reports[20:, 1] = np.nan
    assert suspects(Panel(reports, panel.outcomes, panel.agents)) == ["new"]


def test_beside_agents_that_know_little_only_complete_separation_is_asked_about():
    panel = sound(cases=CASES)
    noise = np.random.default_rng(4).random((CASES, 3))
    rng = np.random.default_rng(5)
    good = 1 / (1 + np.exp(-(6.0 * (panel.outcomes - 0.5) + rng.normal(size=CASES))))
    for agent, asked in ((good, []), (panel.outcomes * 1.0, ["agent0"])):
        assert suspects(Panel(np.c_[agent, noise], panel.outcomes)) == asked


def test_more_than_two_classes_are_not_asked_about():
    rng = np.random.default_rng(2)
    outcomes = rng.integers(0, 3, 300)
    reports = rng.dirichlet([1, 1, 1], (300, 2))
    reports[:, 1] = np.eye(3)[outcomes]
    assert suspects(Panel(reports, outcomes)) == []
