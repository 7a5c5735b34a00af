"""A broken feed is the diagnosis of its agent, whatever else is true of it."""

from functools import cache

import numpy as np
import pytest
from checked import found_by, ill, treated
from simulated_faults import quality_panel

from truepool.audits import audit
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

COSTS = Costs(fn=10, fp=1)
VENDORS = ("A", "B", "C", "D")
SKILLS = [1.1, 1.0, 0.95, 1.05]
CASES, DEAD = 6_000, 3_500
DATED = pytest.mark.parametrize("times", [True, False], ids=["dated", "by row"])


def table(reports=None, seed=0, times=True, base_rate=0.1):
    """Four vendors; C's reports from row 3,500 on are replaced."""
    made = quality_panel(
        "none", before=SKILLS, after=SKILLS, cases=CASES, base_rate=base_rate,
        correlation=0.2, honest=True, seed=seed,
    )  # fmt: skip
    values = made.reports.copy()
    if reports is not None:
        values[DEAD:, 2] = reports(values[:, 2], np.random.default_rng([seed, 9]))
    when = np.arange(CASES) if times else None
    return Panel(values, made.outcomes, agents=VENDORS, times=when)


@cache
def audited(reports=None, times=True):
    return audit(table(reports, times=times), costs=COSTS, resamples=20)


def constant(reports, rng):
    return 0.05


def noise(reports, rng):
    return rng.uniform(0.0, 0.3, CASES - DEAD)


def other_cases(reports, rng):
    return rng.permutation(reports)[: CASES - DEAD]


@pytest.mark.parametrize("report", [0.05, np.nan])
def test_cases_that_repeat_the_one_before_are_counted_too(report):
    """They are no evidence of their own, but a reader counts the rows."""
    values = table(lambda *_: report).values[:, :, 0].copy()
    values[4_001:4_004] = values[4_000]
    panel = Panel(values, table().outcomes, agents=VENDORS)
    found = found_by("feeds", panel, costs=COSTS)[0]
    assert found.facts["count"] == found.number.value == CASES - DEAD


@DATED
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reports", [constant, noise, other_cases])
def test_a_vendor_whose_feed_breaks_is_found_and_dated(reports, seed, times):
    found = found_by("feeds", table(reports, seed, times), costs=COSTS)
    code = "constant-feed" if reports is constant else "changed-feed"
    (broken,) = [f for f in found if f.severity == "error"]
    assert (broken.code, broken.who) == (code, ("C",))
    assert abs(broken.since - DEAD) < (1 if reports is constant else 0.05 * CASES)


@pytest.mark.parametrize("reports", [constant, noise, other_cases])
def test_a_broken_feed_is_one_diagnosis_and_no_other_vendor_is_blamed(reports):
    result = audited(reports)
    code = "constant-feed" if reports is constant else "changed-feed"
    assert ill(result) == {"C": (code, "error")}
    backfires = result.agents[2].finding.saving.high < 0  # to leave it out
    action = "repair" if backfires else "leave-out"
    assert treated(result) == {(action, ("C",))}
    assert result.plan.trust == "no"


@DATED
def test_vendors_that_are_alive_are_not_called_dead(times):
    result = audited(None, times)
    assert result.worst() != "error"
    assert not any("feed" in f.code or "drift" in f.code for f in result.findings)


def test_one_dead_feed_is_one_diagnosis_with_one_date_and_one_saving():
    """Discrimination is dated by ranks among 200 cases, so much less precisely."""
    rng = np.random.default_rng(7)
    fraud = rng.random(500) < 0.15  # the table of the tutorial
    noise = rng.normal(0, [1.2, 1.5, 2.0, 1.8], (500, 4))
    values = 1 / (1 + np.exp(-np.where(fraud, 1.2, -2.2)[:, None] - noise))
    values[300:, 3] = 0.5
    known = slice(450)
    panel = Panel(values[known], fraud[known] * 1, VENDORS, times=np.arange(450))
    result = audit(panel, costs=COSTS, resamples=50)
    own = result.agents[-1]
    assert (own.code, own.since) == ("constant-feed", 300)
    assert {"drifted", "needs-recalibration"} <= {f.code for f in own.evidence}
    assert treated(result) == {("leave-out", ("D",))}
    (step,) = [step for step in result.plan.steps if step.agents]
    assert step.saving == own.finding.saving
