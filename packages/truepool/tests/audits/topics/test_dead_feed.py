"""A dead feed is the first thing an audit says, whatever its Brier loss."""

import numpy as np
import pytest
from simulated_faults import quality_panel

from truepool.audits import audit
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

COSTS = Costs(fn=10, fp=1)
VENDORS = ("A", "B", "C", "D")
SKILLS = [1.1, 1.0, 0.95, 1.05]
CASES, DEAD = 6_000, 3_500
QUICK = {"costs": COSTS, "resamples": 50}


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


def constant(reports, rng):
    return 0.05


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (0.05, "nothing but 5 %, 2,500 times;"),
        (np.nan, ": 2,500 cases in a row without"),
    ],
)
def test_cases_that_repeat_the_one_before_are_counted_too(report, words):
    """They are no evidence of their own, but a reader counts the rows."""
    values = table(lambda *_: report).values[:, :, 0].copy()
    values[4_001:4_004] = values[4_000]
    first = audit(Panel(values, table().outcomes, agents=VENDORS), **QUICK).findings[0]
    assert words in first.sentence
    assert first.number.value == CASES - DEAD


def noise(reports, rng):
    return rng.uniform(0.0, 0.3, CASES - DEAD)


def other_cases(reports, rng):
    return rng.permutation(reports)[: CASES - DEAD]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("times", [True, False], ids=["dated", "in the order of rows"])
def test_a_vendor_that_goes_constant_is_the_first_finding(times, seed):
    finding = audit(table(constant, seed, times), **QUICK)
    first = finding.findings[0]
    assert (first.code, first.severity, first.who) == ("constant-feed", "error", ("C",))
    assert first.since == DEAD
    assert "case 3,501 of 6,000" in first.sentence
    assert "it reports nothing but 5 %, 2,500 times" in first.sentence


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("times", [True, False], ids=["dated", "in the order of rows"])
@pytest.mark.parametrize("reports", [noise, other_cases])
def test_a_vendor_that_outputs_noise_is_the_first_finding(reports, times, seed):
    finding = audit(table(reports, seed, times), **QUICK)
    first = finding.findings[0]
    assert (first.code, first.severity, first.who) == ("changed-feed", "error", ("C",))
    assert abs(first.since - DEAD) < 0.05 * CASES


@pytest.mark.parametrize("reports", [constant, noise, other_cases])
def test_a_dead_vendor_is_one_error_and_no_other_vendor_is_blamed(reports):
    finding = audit(table(reports), **QUICK)
    errors = [f for f in finding.findings if f.severity == "error"]
    assert [f.who for f in errors if "C" in f.who] == [("C",)]
    assert not any(set(f.who) - {"C"} for f in errors)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("times", [True, False], ids=["dated", "in the order of rows"])
def test_vendors_that_are_alive_are_not_called_dead(times, seed):
    finding = audit(table(None, seed, times), **QUICK)
    assert finding.worst() != "error"
    assert not any("feed" in f.code or "drift" in f.code for f in finding.findings)


def test_one_dead_feed_is_one_group_with_one_date_and_one_price():
    """Discrimination is dated by ranks among 200 cases, so much less precisely."""
    rng = np.random.default_rng(7)
    fraud = rng.random(500) < 0.15  # the table of the tutorial
    noise = rng.normal(0, [1.2, 1.5, 2.0, 1.8], (500, 4))
    values = 1 / (1 + np.exp(-np.where(fraud, 1.2, -2.2)[:, None] - noise))
    values[300:, 3] = 0.5
    known = slice(450)
    panel = Panel(values[known], fraud[known] * 1, VENDORS, times=np.arange(450))
    result = audit(panel, **QUICK)
    paid = "misreport-gain"  # what it could gain has nothing to do with its feed
    about = [f for f in result.findings if f.who == ("D",) and f.code != paid]
    assert {"drifted", "needs-recalibration"} <= {f.code for f in about}
    root, explained = next(group for group in result.groups if group[0] in about)
    assert (root.code, root.since) == ("constant-feed", 300)
    assert set(about) == {root, *(f for f in explained if f.who == ("D",))}
    assert all(f.cost is None for f in about if f is not root)
    assert {f.since for f in about} <= {300, None}
    worse = next(f for f in about if f.code == "drifted")
    assert worse.sentence.startswith("D got worse: it tells positive from negative")
    assert result.advice.count("take D out of the pool") == 1
