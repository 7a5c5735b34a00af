import numpy as np
import pytest
from faults import COSTS, drifted, flipped, sound
from panels import random_panel
from simulated_faults import quality_panel

from truepool.audits import audit
from truepool.audits.recommendation import (
    CHANGED,
    FEW_CASES,
    RARE,
    SCARCE,
    STRONG,
)
from truepool.audits.topics import comparison
from truepool.core.errors import SettingError
from truepool.panel.panel import Panel

QUICK = {"costs": COSTS, "resamples": 50}


def made(cases, base_rate, skills=(1.0, 1.1, 0.9), seed=1):
    return quality_panel(
        "none", before=skills, after=skills, cases=cases, base_rate=base_rate,
        correlation=0.2, honest=True, seed=seed,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("panel", "usual", "words"),
    [
        (flipped(), "vcg", "agents may be hostile or strategic"),
        (drifted(), "vcg", "with online weights (`truepool replay`)"),
        (sound(cases=400), "vcg", "cases are few (400)"),
        (made(3000, 0.005), "best-agent", "events are very rare"),
        (made(3000, 0.03), "vcg", "events are rare"),
        (made(800, 0.4, (7.0, 1.0, 1.0)), "best-agent", "sees nearly everything"),
        (made(800, 0.4), "platt", "nothing stands out (800 cases, 4"),
    ],
)
def test_the_regime_is_told(panel, usual, words):
    known = audit(panel, trusted=panel.agents, **QUICK)
    recommendation = known.recommendation
    assert recommendation.usual == usual
    assert words in recommendation.regime


def test_that_nothing_drifts_is_said_only_where_it_was_tested():
    panel = made(800, 0.4)
    timed = Panel(panel.reports, panel.outcomes, times=np.arange(800))
    assert "no drift" not in audit(panel, **QUICK).recommendation.regime
    result = audit(timed, **QUICK)
    assert not any(finding.code in CHANGED for finding in result.findings)
    assert "no drift" in result.recommendation.regime


def test_the_policy_of_regimes_is_the_papers_table():
    assert (FEW_CASES, RARE, SCARCE, STRONG) == (500, 0.01, 0.05, 0.1)
    assert comparison.SIGNIFICANT == 0.05


def test_a_significantly_cheaper_pool_is_advised():
    result = audit(sound(), **QUICK)
    assert result.advice.startswith("Use ")
    table = result.comparison
    name = result.advice.split()[1].rstrip(":")
    assert table[name].loss.value < table["mean"].loss.value


def lonely():
    noise = np.random.default_rng(0).random((2000, 4))
    good = made(2000, 0.4, (4.0, 1.0))
    return Panel(np.c_[good.reports[:, :1], noise], good.outcomes, ["ada", *"bcde"])


def test_the_best_agent_alone_is_the_alternative_where_that_is_the_truth():
    result = audit(lonely(), **QUICK)
    assert result.recommendation.pool == "auto"
    assert "error of auto is the best agent alone (ada)" in result.advice
    named = [f.code for f in result.findings if "best agent alone" in f.sentence]
    assert named == ["worse-than-best"], "said once"


def test_a_pool_that_loses_to_its_best_member_is_told_what_that_costs():
    result = audit(lonely(), **QUICK)
    found = next(f for f in result.findings if f.code == "worse-than-best")
    assert found.who == ("ada",)
    table = result.comparison
    gap = table["mean"].loss.value - table["best-agent"].loss.value
    assert found.cost.value == pytest.approx(gap)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_copies_the_best_agent_is_the_one_that_costs_least(order):
    """The other has the lower Brier loss: it is closer where nothing is decided."""
    panel, line = lonely(), COSTS.threshold
    ada, y = panel.reports[:, 0], panel.outcomes
    false_alarm = (y == 0) & (ada > line) & (ada < line + 0.01)
    twin = np.where(false_alarm, line - 1e-6, ada)
    sure = ada > 0.5
    twin[sure] = np.clip(ada - 0.01 * np.where(y == 1, 1, -1), 0.001, 0.999)[sure]
    pair = np.c_[ada, twin]
    brier = ((pair - y[:, None]) ** 2).mean(axis=0)
    assert false_alarm.any()
    assert brier[0] < brier[1]
    names = np.array(["ada", "twin"])[list(order)]
    reports = np.c_[pair[:, order], panel.reports[:, 1:]]
    result = audit(Panel(reports, y, [*names, *"bcde"]), **QUICK)
    found = next(f for f in result.findings if f.code == "worse-than-best")
    assert found.who == ("twin",)
    assert "The best agent alone (twin) costs" in found.sentence
    cost = {row.agent: row.cost for row in result.agent_summaries}
    assert min(cost, key=cost.get) == "twin"


def test_a_best_agent_that_does_not_cost_least_is_the_best_by_brier_loss():
    panel, line = lonely(), COSTS.threshold
    wrong = np.random.default_rng(1).random(len(panel)) < 0.002
    faint = line + 0.01 * np.where((panel.outcomes == 1) ^ wrong, 1, -1)
    reports = np.c_[panel.reports, faint]
    result = audit(Panel(reports, panel.outcomes, [*panel.agents, "f"]), **QUICK)
    found = next(f for f in result.findings if f.code == "worse-than-best")
    assert "The best agent alone (ada, by Brier loss) costs" in found.sentence
    cost = {row.agent: row.cost for row in result.agent_summaries}
    assert cost["f"] < cost["ada"]


def test_a_pool_that_nothing_significantly_beats_is_kept():
    result = audit(random_panel(1, cases=60), resamples=50, pool="stacked-lr")
    assert result.advice.startswith("Keep stacked-lr: at ")
    assert not any(f.code == "better-pool" for f in result.findings)


def test_the_best_agent_in_use_is_not_compared_with_itself():
    result = audit(sound(cases=200), **QUICK, pool="best-agent")
    assert not any(f.code == "worse-than-best" for f in result.findings)


def test_folds_that_cannot_be_made_withhold_the_comparison(monkeypatch):
    def refuse(*args, **settings):
        raise SettingError("fold 0 of 5 would learn from one class only")

    monkeypatch.setattr(comparison, "cross_validate", refuse)
    result = audit(sound(cases=100), **QUICK)
    assert "one class only" in dict(result.withheld)["comparison"]
    assert result.comparison is None
    assert result.advice.startswith("Collect more cases with a known outcome")
