"""Groups of cases: the pool and the agents are judged within each; who fails where."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from faults import sound
from numpy.testing import assert_allclose

from truepool.audits import audit
from truepool.audits.auditor import _evidence
from truepool.audits.evidence import Evidence
from truepool.audits.severity import FEEDS
from truepool.audits.skill_by_segment import BETTER, WORSE
from truepool.audits.topics.segments import check, segments, skill_by_segment
from truepool.audits.values import Finding
from truepool.comparison import compare
from truepool.core.errors import PanelError, SettingError
from truepool.measures.groups import NO_VALUE, divide
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean
from truepool.pools.vcg import VCG
from truepool.render.html.audit import html
from truepool.render.numbers import format_estimate, percent
from truepool.render.tables.comparison import groups
from truepool.render.tables.segments import agents_by_segment
from truepool.render.verdict import saving_label

RATES = {"EU": 0.3, "US": 0.5, "ASIA": 0.2, "LATAM": 0.4}
SHARES = [0.4, 0.3, 0.28, 0.02]
COSTS = Costs(fn=5, fp=1)
SEGMENT_FINDING = Finding(
    "biased-segment", "warning", (), "The pool is biased.", "Look."
)
CODES = ("fails-in-segment", "biased-segment")


def regions(seed, fault=None, agents=4, cases=900, shift=0.0):
    """A sound panel with regions of different rates; agent1 fails in one of them."""
    rng = np.random.default_rng(seed)
    region = rng.choice(list(RATES), cases, p=SHARES)
    rate = np.array([RATES[name] for name in region])
    log_odds = np.log(rate / (1 - rate)) + rng.normal(0, 1.5, cases)
    outcomes = (rng.random(cases) < 1 / (1 + np.exp(-log_odds))).astype(int)
    noise = rng.normal(0, [0.4, 0.6, 0.8, 1.2][:agents], (cases, agents))
    said = log_odds[:, None] + noise
    if shift:
        said[region == fault] += shift
    reports = 1 / (1 + np.exp(-said))
    if fault and not shift:
        failing = region == fault
        reports[failing, 1] = rng.random(failing.sum())
    return Panel(reports, outcomes, columns={"region": region})


def found(panel):
    result = audit(panel, by="region", resamples=100)
    return [f for f in result.findings if f.code in CODES]


def test_a_segment_whose_positives_all_had_to_be_reviewed_is_not_judged():
    """Six positives with propensity 1, where others have one in ten: one more of those
    would change everything."""
    panel = regions(0)
    inside = panel.columns["region"] == "EU"
    positives = np.flatnonzero(inside & (panel.outcomes == 1))
    kept = np.setdiff1d(np.arange(len(panel)), positives[6:])
    part = panel.take(kept)
    propensity = np.where(part.outcomes == 1, 1.0, 0.1)
    chance = Panel(
        part.reports, part.outcomes, columns=part.columns, propensity=propensity
    )
    shortages = {
        s.group: s.shortage for s in audit(chance, by="region", resamples=50).segments
    }
    assert shortages["EU"] == (
        "too few outcomes of a class for propensities that differ so much"
    )
    even = Panel(
        part.reports,
        part.outcomes,
        columns=part.columns,
        propensity=np.full(len(part), 0.1),
    )
    shortages = {
        s.group: s.shortage for s in audit(even, by="region", resamples=50).segments
    }
    assert shortages["EU"] is None


@pytest.mark.parametrize("agents", [2, 3])
def test_leaving_its_reports_empty_there_cures_an_agent_that_fails_in_a_group(agents):
    panel = regions(0, "EU", agents)
    sick = audit(panel, by="region", costs=COSTS, resamples=100)
    (finding,) = [f for f in sick.findings if f.code == "fails-in-segment"]
    assert finding.advice == (
        "Have whoever runs agent1 fix it where region is EU. Until then, leave its "
        "reports empty in those rows, of the table to fit and of every table to score: "
        "an empty cell is a missing report, and the pool goes by the other agents "
        "there. Or fit one pool per segment of region."
    )
    there = panel.columns["region"] == "EU"
    reports = panel.reports.copy()
    reports[there, 1] = np.nan
    emptied = Panel(reports, panel.outcomes, columns=panel.columns)
    cured = audit(emptied, by="region", costs=COSTS, resamples=100)
    assert not [f for f in cured.findings if f.code in CODES]
    assert not [f for f in cured.findings if f.who == ("agent1",) and f.code in FEEDS]
    saved = (
        sick.recommendation.cost_in_use - cured.recommendation.cost_in_use
    )  # the pool in use is the mean, which learns nothing
    assert_allclose(saved, finding.cost.value, atol=1e-12)
    pooled = VCG().fit_panel(emptied).predict_proba(emptied.reports[there])
    assert np.isfinite(pooled).all()


@pytest.mark.parametrize("agents", [2, 3, 4])
@pytest.mark.parametrize("fault", ["EU", "ASIA"])
def test_an_agent_that_fails_in_one_group_is_named_with_the_group(agents, fault):
    """A warning where that costs surely something; among four agents it may be a note."""
    findings = found(regions(0, fault, agents))
    (finding,) = [f for f in findings if f.code == "fails-in-segment"]
    assert [f for f in findings if f.severity != "note"] in ([], [finding])
    assert finding.who == ("agent1",)
    assert finding.severity in ("warning", "error") or agents == 4
    assert (
        f"agent1 does worse where region is {fault} than elsewhere" in finding.sentence
    )
    assert f"where region is {fault}" in finding.advice
    assert finding.p_value < 0.05


def wards(fault=None, shift=0.0, cases=1200):
    """Three classes and three agents; agent1 outputs noise in ward B, or all shift."""
    rng = np.random.default_rng(5)
    where = rng.choice(["A", "B", "C"], cases)
    log = rng.normal([-1.0, 0.0, 0.7], 1.3, (cases, 3))
    true = np.exp(log) / np.exp(log).sum(axis=1, keepdims=True)
    outcomes = (rng.random(cases)[:, None] > true.cumsum(axis=1)).sum(axis=1)
    said = log[:, None] + rng.normal(0, 0.3, (cases, 3, 3))
    said[where == "B", :, 0] += shift
    reports = np.exp(said) / np.exp(said).sum(axis=2, keepdims=True)
    if fault:
        there = np.flatnonzero(where == fault)
        reports[there, 1] = reports[rng.permutation(there), 1]
    return Panel(reports, outcomes, columns={"region": where})


def test_an_agent_that_fails_in_one_group_is_found_among_three_classes():
    findings = found(wards("B"))
    (finding,) = [f for f in findings if f.code == "fails-in-segment"]
    assert finding.who == ("agent1",)
    assert "agent1 does worse where region is B than elsewhere" in finding.sentence
    assert finding.severity in ("warning", "error")


def test_a_pool_that_is_biased_in_one_group_is_found_among_three_classes():
    panel = wards(shift=-1.5)
    (finding,) = [f for f in found(panel) if f.code == "biased-segment"]
    there = panel.columns["region"] == "B"
    said = panel.reports[there, :, 0].mean()
    rate = (panel.outcomes[there] == 0).mean()
    assert (
        f"in B it gives 0 {percent(said)} on average, {percent(rate)} were 0"
        in finding.sentence
    )
    assert_allclose(finding.number.value, said - rate)
    assert finding.unit == "mean report minus share of 0 in B"


def test_nothing_is_found_in_sound_groups_of_three_classes():
    assert found(wards()) == []


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_found_in_sound_groups(seed):
    assert found(regions(seed, agents=3)) == []


def test_a_pool_that_is_biased_in_one_group_is_named_with_the_group():
    findings = found(regions(1, "US", shift=-1.5))
    (finding,) = [f for f in findings if f.code == "biased-segment"]
    assert finding.severity == "warning"
    assert "in US it says" in finding.sentence
    assert finding.number.high < 0


def with_one_biased(seed, shift, cases=2000):
    """Regions in one of which agent1 alone reports too low."""
    panel = regions(seed, agents=3, cases=cases)
    reports = panel.reports.copy()
    there = panel.columns["region"] == "US"
    odds = np.log(reports[there, 1] / (1 - reports[there, 1])) + shift
    reports[there, 1] = 1 / (1 + np.exp(-odds))
    return Panel(reports, panel.outcomes, columns=dict(panel.columns))


def test_the_agent_is_named_who_biases_the_pool_in_a_segment():
    result = audit(with_one_biased(0, -2.0), by="region", resamples=50)
    (finding,) = [f for f in result.findings if f.code == "biased-segment"]
    assert finding.who == ("agent1",)
    assert "US" in finding.segments
    assert "agent1 says" in finding.sentence
    assert "the other agents are not significantly biased there" in finding.sentence
    assert finding.advice.startswith(
        "Have whoever runs agent1 look at what it reports where region is US."
    )


def test_no_agent_is_named_where_all_are_biased():
    (finding,) = found(regions(1, "US", shift=-1.5))
    assert finding.who == ()
    assert finding.advice.startswith("Fit one pool for each segment of region")
    assert "says" in finding.sentence
    assert "significantly" not in finding.sentence


@pytest.fixture(scope="module")
def audited():
    panel = regions(2)
    return panel, audit(panel, costs=COSTS, by="region", resamples=100)


def part_of(panel, group):
    return panel.take(np.flatnonzero(panel.columns["region"] == group))


@pytest.mark.parametrize("group", ["EU", "US"])
def test_a_group_has_the_numbers_of_its_own_audit(audited, group):
    panel, whole = audited
    (segment,) = [one for one in whole.segments if one.group == group]
    alone = audit(part_of(panel, group), costs=COSTS, resamples=100, capacity="100%")
    pooled = next(one for one in alone.calibration if one.who == "pool")
    assert (segment.cases, segment.positives) == (alone.cases, alone.positives)
    assert (segment.bias, segment.slope) == (pooled.bias, pooled.slope)
    assert segment.cost == alone.capacity.cost
    assert segment.recall == alone.capacity.recall


def test_a_group_too_small_to_judge_is_named_and_not_judged(audited):
    _, whole = audited
    small = whole.segments[-1]
    assert small.group == "LATAM"
    assert small.shortage == f"at least 30 outcomes are needed, got {small.cases}"
    assert (small.cost, small.recall, small.bias, small.slope) == (None,) * 4
    assert f"Not judged: LATAM ({small.shortage})." in whole.to_markdown()
    assert not any("LATAM" in f.sentence for f in whole.findings)
    assert whole.to_dict()["segments"][-1]["shortage"] == small.shortage
    assert whole.to_dict()["by"] == "region"


def test_groups_are_ordered_by_size_and_cover_all_cases(audited):
    panel, whole = audited
    sizes = [one.cases for one in whole.segments]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == len(panel)


def test_the_page_has_a_section_of_groups(audited, tmp_path):
    audited[1].to_html(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "Who fails where, by region?" in page
    assert "LATAM" in page


def test_three_classes_have_costs_in_groups_and_no_recall():
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 3, 200)
    reports = rng.dirichlet(np.ones(3), (200, 3))
    panel = Panel(reports, outcomes, columns={"region": ["a", "b"] * 100})
    result = audit(panel, by="region", resamples=50)
    assert [one.recall for one in result.segments] == [None, None]
    assert all(one.cost is not None for one in result.segments)
    assert not any(f.code in CODES for f in result.findings)


@pytest.mark.parametrize("group", ["EU", "ASIA"])
def test_pools_compare_in_a_group_as_in_a_panel_of_its_own(group):
    panel = regions(2)
    options = {"costs": COSTS, "pools": ["median"], "resamples": 100}
    whole = compare(panel, by="region", **options)
    (one,) = [one for one in whole.groups if one.group == group]
    alone = compare(part_of(panel, group), **options)
    for name in ("mean", "median"):  # the best agent is chosen on other folds
        row = next(row for row in one.rows if row.pool == name)
        own = alone[name]
        assert (row.loss, row.recall, row.brier) == (own.loss, own.recall, own.brier)
        assert (row.ece, row.cost) == (own.ece, own.cost)


@pytest.mark.parametrize("waiting", [0, 60])
def test_audit_and_comparison_judge_segments_within_the_capacity_alike(waiting):
    """Cases without an outcome compete for the capacity too."""
    panel = regions(4)
    if waiting:
        panel = panel.with_pending(panel.values[:waiting, :, 0])
    limit = {"costs": COSTS, "by": "region", "capacity": "10%", "resamples": 100}
    found = audit(panel, pool="platt", **limit)
    (row,) = (row for row in found.comparison.rows if row.pool == "platt")
    assert found.capacity.recall.value == row.recall
    expected = {
        one.group: one for one in compare(panel, pools=["platt"], **limit).groups
    }
    judged = [one for one in found.segments if one.shortage is None]
    assert len(judged) == 3
    for one in judged:
        (row,) = (r for r in expected[one.group].rows if r.pool == "platt")
        assert one.cost == row.loss
        assert (one.recall.low, one.recall.high) == row.recall_interval
        assert_allclose(one.recall.value, row.recall, rtol=1e-12)
    shown = found.to_markdown()
    assert "cost and recall within the capacity of 10% of cases" in shown
    assert "Pools and segments are judged within the capacity" in shown


def test_a_cost_that_leaves_the_capacity_aside_says_so():
    found = audit(regions(4), costs=COSTS, capacity="10%", resamples=100)
    limited = "savings per case without the capacity if fixed (in false alarms)"
    assert saving_label(found, "biased") == limited
    within = "savings per case if fixed (in false alarms)"
    assert saving_label(found, "better-pool") == within
    for shown in (found.to_markdown(), html(found)):
        assert "Costs are per case without the capacity." in shown
    assert "Cost per case without the capacity by threshold." in html(found)


def test_p_values_are_adjusted_for_pools_and_groups_together():
    from scipy.stats import ttest_rel

    from truepool.measures.inference import holm

    panel = regions(3)
    whole = compare(panel, by="region", loss="brier", pools=["median"], resamples=50)
    judged = [one for one in whole.groups if one.rows]
    assert {one.group for one in whole.groups} - {one.group for one in judged} == {
        "LATAM"
    }
    raw = []
    for name, cases in divide(panel.columns["region"]):
        if name != "LATAM":
            mean = whole.by_case["mean"][cases]
            raw += [ttest_rel(whole.by_case[p][cases], mean).pvalue
                    for p in ("median", "best-agent")]  # fmt: skip
    rows = [
        next(row for row in one.rows if row.pool == name).p_mean
        for one in judged
        for name in ("median", "best-agent")
    ]
    np.testing.assert_allclose(rows, holm(np.array(raw)), rtol=1e-6)


def test_a_comparison_whose_groups_are_all_small_judges_none():
    panel = regions(0, cases=40)
    result = compare(panel, by="region", pools=["median"], resamples=50)
    assert all(one.shortage and not one.rows for one in result.groups)
    assert audit(panel, by="region", resamples=50).segments


def test_values_become_names_of_groups():
    values = np.array([1.0, 2.5, None, "", float("nan"), "x", 3], dtype=object)
    names = dict(divide(values))
    assert set(names) == {"1", "2.5", NO_VALUE, "x", "3"}
    assert names[NO_VALUE].tolist() == [2, 3, 4]


@pytest.mark.parametrize("function", [audit, compare])
def test_a_column_that_makes_no_groups_is_refused(function):
    panel = regions(0, cases=100)
    ids = panel.with_columns({"id": np.arange(100), "one": ["x"] * 100})
    with pytest.raises(SettingError, match="2 to 50 different values; 'id' has 100"):
        function(ids, by="id")
    with pytest.raises(SettingError, match="'one' has 1. Name another one"):
        function(ids, by="one")
    with pytest.raises(PanelError, match=r"'regions' .*did you mean 'region'"):
        function(panel, by="regions")


@pytest.mark.parametrize("function", [audit, compare])
def test_segments_that_are_the_groups_themselves_are_refused(function):
    """One group has no interval over groups, however many cases it has."""
    panel = regions(0)
    region = np.random.default_rng(0).choice([f"r{i}" for i in range(6)], len(panel))
    same = Panel(
        panel.reports, panel.outcomes, columns={"region": region}, groups=region
    )
    with pytest.raises(SettingError, match=r"no segment of 'region' .* more than 1\."):
        function(same, by="region")


def test_the_reason_why_segments_are_not_judged_is_said_once():
    panel = regions(0)
    region = panel.columns["region"].astype(object)
    few = np.flatnonzero(region == "EU")[:6]
    region[few] = ["A"] * 3 + ["B"] * 3
    result = audit(panel.with_columns({"part": region}), by="part", resamples=50)
    why = "at least 30 outcomes are needed, got"
    assert f"A and B ({why} 3)" in result.to_markdown()


def p_values(panel, **described):
    """P-values of the test of each agent within groups."""
    told = Panel(
        panel.reports, panel.outcomes, columns=dict(panel.columns), **described
    )
    evidence = _evidence(told, COSTS, None, "mean", 0.95, 20, 0, "region", None)
    return [c.p_value for c in check(evidence) if c.code == CODES[0]]


def test_cases_that_belong_together_are_no_evidence_of_their_own():
    """A failure on 60 cases, each copied five times by one customer, is one on 60."""
    small = regions(3, "US", cases=240)
    copies = np.repeat(np.arange(240), 5)
    alone, wide = p_values(small), small.take(copies)
    # The ridge of the recalibration is the same for five times as many rows.
    np.testing.assert_allclose(p_values(wide, groups=copies), alone, rtol=0.01)
    assert min(p_values(wide)) < min(alone)


def test_cases_of_almost_no_weight_are_almost_not_there():
    panel = regions(3, "US", cases=900)
    half = np.arange(0, 900, 2)
    weights = np.full(900, 1e-9)
    weights[half] = 1.0
    found = p_values(panel.take(half))
    weighted = p_values(panel, weights=weights)
    # Weighted placements are compared by a t-test, and others by their ranks.
    assert np.argmin(weighted) == np.argmin(found)
    assert max(min(found), min(weighted)) < 0.01


def five_wards(seed, expert=None, local=None, cases=4000, agents=4, spread_of_e=1.6):
    """Sound agents in wards of different rates and case mix; ward E is the last.

    The ``local`` agent is good in ward E and outputs noise elsewhere; the ``expert`` is
    sound, and sees nearly everything in ward E.
    """
    rng = np.random.default_rng(seed)
    ward = rng.choice(list("ABCDE"), cases, p=[0.34, 0.24, 0.18, 0.12, 0.12])
    shift = dict(zip("ABCDE", [0.0, 0.3, -0.3, 0.2, 0.4], strict=True))
    spread = dict(zip("ABCDE", [1.7, 1.4, 1.8, 1.2, spread_of_e], strict=True))
    log_odds = np.array([shift[w] for w in ward]) - 2.5
    log_odds += np.array([spread[w] for w in ward]) * rng.normal(0, 1, cases)
    outcomes = (rng.random(cases) < 1 / (1 + np.exp(-log_odds))).astype(int)
    said = log_odds[:, None] + rng.normal(
        0, [0.8, 0.7, 1.0, 1.2][:agents], (cases, agents)
    )
    said[:, 2 % agents] *= 1.8  # over-confident everywhere
    last = ward == "E"
    if local is not None:
        elsewhere = np.flatnonzero(~last)
        said[elsewhere, local] = said[rng.permutation(elsewhere), local]
    if expert is not None:
        said[last, expert] = log_odds[last] + 3 * (outcomes[last] - 0.5)
    reports = 1 / (1 + np.exp(-said))
    return Panel(reports, outcomes, columns={"region": ward})


def test_an_agent_that_is_good_in_one_segment_of_five_is_kept_there():
    result = audit(five_wards(0, local=1), by="region", costs=COSTS, resamples=50)
    (finding,) = [f for f in result.findings if f.code == "fails-in-segment"]
    assert finding.who == ("agent1",)
    assert finding.severity in ("warning", "error")
    assert finding.sentence.startswith(
        "agent1 tells positives from negatives only where region is E: its AUC is 0.8"
    )
    assert finding.advice.startswith(
        "Keep agent1 where region is E, and leave its reports empty in all other rows"
    )
    own = [f for f in result.findings if f.who == ("agent1",) and f is not finding]
    assert own, "it is over-confident or harmful as a whole"
    assert all(f.severity == "note" and f.cause == finding.key for f in own)
    assert "take agent1 out" not in result.advice
    assert "agent1 to recalibrate" not in result.advice


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("agents", [2, 4])
def test_no_sound_agent_does_worse_where_another_one_is_even_better(seed, agents):
    panel = five_wards(seed, expert=1, agents=agents)
    assert min(p_values(panel)) > 0.05


@pytest.mark.parametrize("seed", range(3))
def test_one_expert_for_hard_cases_does_not_make_all_others_fail_there(seed):
    assert min(p_values(five_wards(seed, expert=1, cases=8000, spread_of_e=0.8))) > 0.05


@pytest.mark.parametrize("seed", range(3))
def test_where_cases_are_hard_to_tell_apart_no_agent_fails(seed):
    assert min(p_values(five_wards(seed))) > 0.05


def test_an_agent_that_is_biased_in_one_segment_is_found_by_its_brier_skill():
    """Its ranking there is as good as ever: a shift of the log-odds keeps the AUC."""
    panel = five_wards(2, agents=3)
    reports, there = panel.reports.copy(), panel.columns["region"] == "B"
    log_odds = np.log(reports[there, 1] / (1 - reports[there, 1]))
    reports[there, 1] = 1 / (1 + np.exp(-log_odds - 2))
    shifted = Panel(reports, panel.outcomes, columns=dict(panel.columns))
    (finding,) = [f for f in found(shifted) if f.code == "fails-in-segment"]
    assert finding.who == ("agent1",)
    assert "does worse where region is B than elsewhere" in finding.sentence
    assert finding.unit == "Brier skill where it fails minus elsewhere"
    assert finding.number.high < 0


@pytest.mark.parametrize("seed", range(3))
def test_an_agent_that_fails_in_one_segment_does_not_fail_in_the_other(seed):
    """A recalibration that is learned from noise says the base rate of the noise."""
    rng = np.random.default_rng(seed)
    north = rng.random(4000) < 0.5
    log_odds = np.where(north, 1.0, -3.0) + rng.normal(0, 1.5, 4000)
    outcomes = (rng.random(4000) < 1 / (1 + np.exp(-log_odds))).astype(int)
    said = log_odds[:, None] + rng.normal(0, [0.5, 0.7, 0.9], (4000, 3))
    south = np.flatnonzero(~north)
    said[south, 0] = said[rng.permutation(south), 0]
    where = np.where(north, "north", "south")
    panel = Panel(1 / (1 + np.exp(-said)), outcomes, columns={"region": where})
    evidence = _evidence(panel, COSTS, None, "mean", 0.95, 20, 0, "region", None)
    skill = skill_by_segment(evidence)
    is_south = np.array([name == "south" for name, _ in divide(where)])
    assert skill._tests("Brier skill", 0, WORSE)[~is_south] > 0.05
    weak = skill.find_weak(0)
    assert weak.p_value < 0.001
    assert weak.failing.tolist() == is_south.tolist()


def test_an_agent_that_knows_a_little_everywhere_is_not_of_use_in_one_segment_only():
    panel = five_wards(0, local=1, cases=12_000)
    reports, elsewhere = panel.reports.copy(), panel.columns["region"] != "E"
    reports[elsewhere, 1] = (7 * reports[elsewhere, 1] + reports[elsewhere, 0]) / 8
    weak = Panel(reports, panel.outcomes, columns=dict(panel.columns))
    evidence = _evidence(weak, COSTS, None, "mean", 0.95, 20, 0, "region", None)
    skill = skill_by_segment(evidence)
    assert skill._tests("AUC", 1, BETTER)[-1] < 1e-6
    assert not skill.find_weak(1).only


def test_where_no_agent_knows_anything_elsewhere_none_is_odd():
    panel = five_wards(1)
    rng = np.random.default_rng(0)
    outcomes = panel.outcomes.copy()
    elsewhere = np.flatnonzero(panel.columns["region"] != "E")
    outcomes[elsewhere] = outcomes[rng.permutation(elsewhere)]
    shuffled = Panel(panel.reports, outcomes, columns=dict(panel.columns))
    assert min(p_values(shuffled)) > 0.05


@pytest.mark.parametrize("function", [audit, compare])
def test_a_segment_that_is_one_group_is_not_judged(function):
    """How much the cases of a segment vary is known from several groups only."""
    panel = five_wards(0, cases=1500)
    region = panel.columns["region"].astype(str)
    first = region == np.unique(region)[0]
    groups = np.where(first, "one", np.arange(1500).astype(str))
    grouped = Panel(
        panel.reports, panel.outcomes, columns=dict(panel.columns), groups=groups
    )
    result = function(grouped, by="region", resamples=20)
    parts = result.segments if function is audit else result.groups
    reason = "at least 5 groups of cases are needed, got 1"
    assert [one.shortage for one in parts if one.shortage] == [reason]
    if function is audit:
        assert f"({reason})" in result.to_markdown()


def test_two_groups_are_too_few_for_an_audit_to_judge():
    panel = five_wards(0, cases=600)
    hospital = np.resize(["north", "south"], 600)
    grouped = Panel(
        panel.reports, panel.outcomes, columns=dict(panel.columns), groups=hospital
    )
    result = audit(grouped, by="region", resamples=20)
    reason = "at least 5 groups of cases are needed, got 2"
    assert dict(result.withheld)["calibration"] == reason
    assert result.verdict == f"Too little is known to judge this pool: {reason}."
    assert {one.no_slope for one in result.calibration} == {reason}


def test_the_table_of_agents_has_the_auc_of_each_within_each_segment(audited, tmp_path):
    from sklearn.metrics import roc_auc_score

    panel, whole = audited
    for one in whole.segments[:-1]:
        own = panel.columns["region"] == one.group
        for i, skill in enumerate(one.agents):
            area = roc_auc_score(panel.outcomes[own], panel.reports[own, i])
            assert_allclose(skill.auc.value, area)
            assert skill.auc.low < area < skill.auc.high <= 1
            brier = np.square(panel.reports[own, i] - panel.outcomes[own]).mean()
            rate = panel.outcomes[own].mean()
            assert_allclose(skill.brier_skill.value, 1 - brier / (rate * (1 - rate)))
    assert whole.segments[-1].agents == (), "too small to be judged"
    (table,) = agents_by_segment(whole)
    assert table.headers == ("agent", "EU", "US", "ASIA")
    first = whole.segments[0].agents[0].auc
    assert table.rows[0][1] == format_estimate(first)
    assert table.title in whole.to_markdown()
    whole.to_html(tmp_path / "a.html")
    assert table.title in (tmp_path / "a.html").read_text()
    assert len(whole.to_dict()["segments"][0]["agents"]) == len(panel.agents)


def test_the_table_of_agents_of_three_classes_has_their_brier_skill():
    (table,) = agents_by_segment(audit(wards(), by="region", resamples=20))
    assert table.title == "Brier skill of every agent within segments of region"


def test_a_terminal_shows_the_agents_in_the_largest_segments_only():
    panel = five_wards(0, cases=1500)
    where = np.resize([f"unit {k}" for k in range(10)], 1500)
    many = Panel(panel.reports, panel.outcomes, columns={"region": where})
    result = audit(many, by="region", resamples=20)
    (shown,), (every,) = agents_by_segment(result, 20), agents_by_segment(result)
    assert (len(shown.headers), len(every.headers)) == (9, 11)
    assert shown.notes[-1] == (
        "Shown are 8 of 10 segments: the largest; the others are in --json and "
        "--markdown."
    )
    about = replace(SEGMENT_FINDING, segments=(result.segments[-1].group,))
    told = replace(result, findings=(about,))
    (table,), (every,) = agents_by_segment(told, 20), agents_by_segment(told)
    assert table.headers[1] == result.segments[-1].group
    assert len(table.headers) == 9
    assert every.headers[-1] == result.segments[-1].group
    assert "8 of 10 segments: those of findings, then the largest" in table.notes[-1]


def test_without_segments_there_is_no_table_of_agents():
    assert agents_by_segment(audit(sound(cases=80), resamples=20)) == []


def test_an_agent_without_enough_reports_in_a_segment_has_no_skill_there():
    panel = five_wards(0, cases=1500)
    reports = panel.reports.copy()
    reports[panel.columns["region"] == "A", 1] = np.nan
    sparse = Panel(reports, panel.outcomes, columns=dict(panel.columns))
    result = audit(sparse, by="region", resamples=20)
    (one,) = [s.agents[1] for s in result.segments if s.group == "A"]
    assert (one.cases, one.auc, one.brier_skill) == (0, None, None)
    assert agents_by_segment(result)[0].rows[1][1] == "-"


def test_nothing_decided_positive_has_no_precision():
    panel = regions(3, cases=120)
    within = audit(panel, costs=Costs(fn=1, fp=1e6), capacity="5%", resamples=20)
    assert (within.capacity.decided, within.capacity.wanted) == (0, 0)
    assert np.isnan(within.capacity.precision)
    assert "What does the capacity cost?" in html(within)


def test_the_share_of_positives_of_a_group_counts_cases_by_their_weights():
    panel = sound(cases=80)
    where = np.tile(["EU", "US"], 40)
    weights = np.linspace(1.0, 3.0, 80)
    given = {"columns": {"region": where}}
    plain = Panel(panel.reports, panel.outcomes, **given)
    weighted = Panel(panel.reports, panel.outcomes, weights=weights, **given)
    for one in (plain, weighted):
        evidence = Evidence(one, Mean(), COSTS, None, 0.95, 20, 0, "region")
        for group in segments(evidence):
            part = where == group.group
            counted = weights if one is weighted else np.ones(80)
            share = np.average(panel.outcomes[part], weights=counted[part])
            assert_allclose(group.share, share)


def test_audit_and_comparison_state_the_same_share_of_positives():
    """Both count a case by its propensity."""
    panel = sound(cases=600)
    kinds = np.resize(["web", "app", "app"], 600)
    chance = np.where(panel.outcomes == 1, 0.9, 0.3)
    reviewed = Panel(
        panel.reports, panel.outcomes, columns={"kind": kinds}, propensity=chance
    )
    quick = {"costs": COSTS, "by": "kind", "resamples": 50}
    found = compare(reviewed, pools=["vcg"], **quick)
    rows = {one.group: one for one in audit(reviewed, **quick).segments}
    for one in found.groups:
        own = kinds == one.group
        expected = np.average(panel.outcomes[own], weights=1 / chance[own])
        assert_allclose([one.share, rows[one.group].share], expected)
    texts = groups(found).to_markdown()
    assert percent(found.groups[0].share) in texts


def test_the_script_behind_the_stated_rates_plants_what_it_says():
    script = Path(__file__).parents[5] / "scripts" / "measure_segments.py"
    spec = importlib.util.spec_from_file_location("measure_segments", script)
    measure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measure)
    rates = {"noise in one segment": [True, False], "noise elsewhere": [False, True]}
    for fault, failing in rates.items():
        found = []
        for seed in range(6):
            rng = np.random.default_rng(seed)
            panel = measure.make_panel(rng, 4000, 0.09, 2, True, fault)
            assert abs(panel.outcomes.mean() - 0.09) < 0.03
            assert 0.04 < np.isnan(panel.reports).mean() < 0.06
            found.append([(i, w.tolist()) for i, w in measure.find(panel, seed)])
        assert found.count([(0, failing)]) >= 4  # of 95 and 100 %
    sound = measure.make_panel(np.random.default_rng(0), 2000, 0.09, 5, True)
    assert measure.find(sound, 0) == []
