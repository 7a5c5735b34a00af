"""Groups of cases: the pool and the agents are judged within each; who fails where."""

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from checked import candidates, evidence_of, found_by, ill, of, treated
from faults import COSTS, sound
from numpy.testing import assert_allclose

from truepool.audits import audit
from truepool.audits.checks.capacity import at_capacity
from truepool.audits.checks.segments import segments, skill_by_segment
from truepool.audits.comparison import compare_pools
from truepool.audits.skill_by_segment import BETTER, WORSE
from truepool.comparison import compare
from truepool.core.errors import PanelError, SettingError
from truepool.measures.groups import NO_VALUE, describe_shortage, divide
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.vcg import VCG

RATES = {"EU": 0.3, "US": 0.5, "ASIA": 0.2, "LATAM": 0.4}
SHARES = [0.4, 0.3, 0.28, 0.02]


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


def failures(panel, costs=COSTS):
    return found_by("segments", panel, by="region", costs=costs)


def biases(panel, costs=COSTS):
    return found_by("bias within segments", panel, by="region", costs=costs)


def rows_of(panel, by="region", **settings):
    return {one.group: one for one in segments(evidence_of(panel, by=by, **settings))}


def test_a_segment_whose_positives_all_had_to_be_reviewed_is_not_judged():
    """Six positives with propensity 1, where others have one in ten: one more of those
    would change everything."""
    panel = regions(0)
    inside = panel.columns["region"] == "EU"
    positives = np.flatnonzero(inside & (panel.outcomes == 1))
    part = panel.take(np.setdiff1d(np.arange(len(panel)), positives[6:]))
    for propensity in (np.where(part.outcomes == 1, 1.0, 0.1), np.full(len(part), 0.1)):
        chance = Panel(
            part.reports, part.outcomes, columns=part.columns, propensity=propensity
        )
        uneven = len(np.unique(propensity)) > 1
        assert (rows_of(chance)["EU"].shortage is not None) == uneven


@pytest.mark.parametrize("agents", [2, 3])
def test_leaving_its_reports_empty_there_cures_an_agent_that_fails_in_a_group(agents):
    panel = regions(0, "EU", agents)
    sick = audit(panel, by="region", costs=COSTS, resamples=50)
    (found,) = of("fails-in-segment", sick.findings)
    assert ill(sick)["agent1"] == ("fails-in-segment", found.severity)
    assert treated(sick) == {("leave-out-there", ("agent1",))}
    assert sick.plan.steps[0].arguments == {"by": "region", "failing": ("EU",)}
    there = panel.columns["region"] == "EU"
    reports = panel.reports.copy()
    reports[there, 1] = np.nan
    emptied = Panel(reports, panel.outcomes, columns=panel.columns)
    cured = audit(emptied, by="region", costs=COSTS, resamples=50)
    assert "agent1" not in ill(cured)
    # The pool in use is the mean, which learns nothing.
    saved = sick.operations[0].cost.value - cured.operations[0].cost.value
    assert_allclose(saved, found.saving.value, atol=1e-9)
    assert_allclose(saved, sick.plan.steps[0].saving.value, atol=1e-9)
    pooled = VCG().fit_panel(emptied).predict_proba(emptied.reports[there])
    assert np.isfinite(pooled).all()


@pytest.mark.parametrize("agents", [2, 3, 4])
@pytest.mark.parametrize("fault", ["EU", "ASIA"])
def test_an_agent_that_fails_in_one_group_is_named_with_the_group(agents, fault):
    panel = regions(0, fault, agents)
    (found,) = failures(panel)
    assert (found.who, found.segments) == (("agent1",), (fault,))
    assert (found.facts["by"], found.facts["failing"]) == ("region", (fault,))
    assert found.facts["there"] < found.facts["elsewhere"]
    assert found.severity in ("warning", "error")


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
    (found,) = failures(wards("B"), Costs())
    assert (found.who, found.segments) == (("agent1",), ("B",))
    assert found.severity in ("warning", "error")


def test_a_pool_that_is_biased_in_one_group_is_found_among_three_classes():
    panel = wards(shift=-1.5)
    (found,) = biases(panel, Costs())
    there = panel.columns["region"] == "B"
    said, rate = panel.reports[there, :, 0].mean(), (panel.outcomes[there] == 0).mean()
    assert (found.facts["segment"], found.facts["name"]) == ("B", "0")
    assert_allclose([found.facts["said"], found.facts["happened"]], [said, rate])
    assert_allclose(found.number.value, said - rate)


def test_nothing_is_found_in_sound_groups_of_three_classes():
    assert failures(wards(), Costs()) + biases(wards(), Costs()) == []


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_found_in_sound_groups(seed):
    panel = regions(seed, agents=3)
    assert failures(panel) + biases(panel) == []


def test_a_pool_that_is_biased_in_one_group_is_named_with_the_group():
    panel = regions(1, "US", shift=-1.5)
    (found,) = biases(panel)
    assert (found.severity, found.facts["segment"]) == ("warning", "US")
    assert found.number.high < 0
    assert "US" in found.segments


@cache
def audited():
    panel = regions(2)
    return panel, audit(panel, costs=COSTS, by="region", resamples=50)


def part_of(panel, group):
    return panel.take(np.flatnonzero(panel.columns["region"] == group))


@pytest.mark.parametrize("group", ["EU", "US"])
def test_a_group_has_the_numbers_of_its_own_audit(group):
    panel, whole = audited()
    (segment,) = [one for one in whole.segments if one.group == group]
    alone = audit(part_of(panel, group), costs=COSTS, resamples=50, capacity="100%")
    pooled = next(one for one in alone.calibration if one.who == "pool")
    assert (segment.cases, segment.positives) == (alone.cases, alone.positives)
    assert (segment.bias, segment.slope) == (pooled.bias, pooled.slope)
    assert segment.cost == alone.capacity.cost
    assert segment.recall == alone.capacity.recall


def test_a_group_too_small_to_judge_is_named_and_not_judged():
    panel, whole = audited()
    sizes = [one.cases for one in whole.segments]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == len(panel)
    small = whole.segments[-1]
    assert small.group == "LATAM"
    assert small.shortage == describe_shortage(part_of(panel, "LATAM").outcomes)
    assert (small.cost, small.recall, small.bias, small.slope) == (None,) * 4
    assert small.agents == ()
    assert not any("LATAM" in f.segments for f in whole.findings)


def test_three_classes_have_costs_in_groups_and_no_recall():
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 3, 200)
    reports = rng.dirichlet(np.ones(3), (200, 3))
    panel = Panel(reports, outcomes, columns={"region": ["a", "b"] * 100})
    rows = rows_of(panel, costs=Costs())
    assert [one.recall for one in rows.values()] == [None, None]
    assert all(one.cost is not None for one in rows.values())
    assert failures(panel, Costs()) + biases(panel, Costs()) == []


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
    limit = {"costs": COSTS, "by": "region", "capacity": "10%"}
    evidence = evidence_of(panel, pool="platt", **limit)
    (row,) = (row for row in compare_pools(evidence).rows if row.pool == "platt")
    assert at_capacity(evidence).recall.value == row.recall
    found = compare(panel, pools=["platt"], resamples=50, **limit)
    expected = {one.group: one for one in found.groups}
    judged = [one for one in segments(evidence) if one.shortage is None]
    assert len(judged) == 3
    for one in judged:
        (row,) = (r for r in expected[one.group].rows if r.pool == "platt")
        scaled = (one.cost.value / 1000, one.cost.low / 1000, one.cost.high / 1000)
        assert_allclose(scaled, (row.loss.value, row.loss.low, row.loss.high))
        assert (one.recall.low, one.recall.high) == row.recall_interval
        assert_allclose(one.recall.value, row.recall, rtol=1e-12)


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


def test_values_become_names_of_groups():
    values = np.array([1.0, 2.5, None, "", float("nan"), "x", 3], dtype=object)
    names = dict(divide(values))
    assert set(names) == {"1", "2.5", NO_VALUE, "x", "3"}
    assert names[NO_VALUE].tolist() == [2, 3, 4]


@pytest.mark.parametrize("function", [audit, compare])
def test_a_column_that_makes_no_groups_is_refused(function):
    panel = regions(0, cases=100)
    ids = panel.with_columns({"id": np.arange(100), "one": ["x"] * 100})
    for by in ("id", "one"):
        with pytest.raises(SettingError, match=by):
            function(ids, by=by)
    with pytest.raises(PanelError, match="regions"):
        function(panel, by="regions")


@pytest.mark.parametrize("function", [audit, compare])
def test_segments_that_are_the_groups_themselves_are_refused(function):
    """One group has no interval over groups, however many cases it has."""
    panel = regions(0)
    region = np.random.default_rng(0).choice([f"r{i}" for i in range(6)], len(panel))
    same = Panel(
        panel.reports, panel.outcomes, columns={"region": region}, groups=region
    )
    with pytest.raises(SettingError, match="region"):
        function(same, by="region")


def p_values(panel, **described):
    """P-values of the test of each agent within groups."""
    told = Panel(
        panel.reports, panel.outcomes, columns=dict(panel.columns), **described
    )
    return [one.p_value for one in candidates("segments", told, by="region")]


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
    """It is over-confident and harmful as a whole: that is evidence."""
    result = audit(five_wards(0, local=1), by="region", costs=COSTS, resamples=50)
    own = result.agents[1]
    assert own.code == "fails-in-segment"
    assert own.severity in ("warning", "error")
    facts = own.finding.facts
    assert (facts["form"], facts["others"]) == ("only", ("E",))
    assert facts["failing"] == ("A", "B", "C", "D")
    assert facts["there"] < 0.55 < 0.8 < facts["elsewhere"]
    assert own.evidence
    assert treated(result) <= {("leave-out-there", ("agent1",))}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "made",
    [
        {},  # where cases are hard to tell apart no agent fails
        {"expert": 1, "agents": 2},  # nor where another one is even better
        {"expert": 1, "agents": 4},
        {"expert": 1, "cases": 8000, "spread_of_e": 0.8},  # the one for hard cases
    ],
)
def test_no_sound_agent_fails_for_what_its_cases_or_others_are(made, seed):
    assert min(p_values(five_wards(seed, **made))) > 0.05


def test_an_agent_that_is_biased_in_one_segment_is_found_by_its_brier_skill():
    """Its ranking there is as good as ever: a shift of the log-odds keeps the AUC."""
    panel = five_wards(2, agents=3)
    reports, there = panel.reports.copy(), panel.columns["region"] == "B"
    log_odds = np.log(reports[there, 1] / (1 - reports[there, 1]))
    reports[there, 1] = 1 / (1 + np.exp(-log_odds - 2))
    shifted = Panel(reports, panel.outcomes, columns=dict(panel.columns))
    (found,) = failures(shifted)
    assert (found.who, found.segments) == (("agent1",), ("B",))
    assert (found.facts["form"], found.unit) == ("Brier skill", "skill-there")
    assert found.number.high < 0


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
    skill = skill_by_segment(evidence_of(panel, by="region"))
    is_south = np.array([name == "south" for name, _ in divide(where)])
    assert skill._tests("Brier skill", 0, WORSE)[~is_south] > 0.05
    weak = skill.find_weak(0)
    assert weak.p_value < 0.001
    assert weak.failing.tolist() == is_south.tolist()


def test_an_agent_that_knows_a_little_everywhere_is_not_of_use_in_one_segment_only():
    panel = five_wards(0, local=1, cases=8_000)
    reports, elsewhere = panel.reports.copy(), panel.columns["region"] != "E"
    reports[elsewhere, 1] = (7 * reports[elsewhere, 1] + reports[elsewhere, 0]) / 8
    weak = Panel(reports, panel.outcomes, columns=dict(panel.columns))
    skill = skill_by_segment(evidence_of(weak, by="region"))
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


def test_a_segment_that_is_one_group_is_not_judged():
    """How much the cases of a segment vary is known from several groups only."""
    panel = five_wards(0, cases=1500)
    region = panel.columns["region"].astype(str)
    groups = np.where(region == "A", "one", np.arange(1500).astype(str))
    grouped = Panel(
        panel.reports, panel.outcomes, columns=dict(panel.columns), groups=groups
    )
    reason = describe_shortage(panel.outcomes, groups=np.zeros(1500))
    compared = compare(grouped, by="region", pools=["median"], resamples=20).groups
    for parts in (rows_of(grouped).values(), compared):
        assert [one.shortage for one in parts if one.shortage] == [reason]


def test_two_groups_are_too_few_for_an_audit_to_judge():
    panel = five_wards(0, cases=600)
    hospital = np.resize(["north", "south"], 600)
    grouped = Panel(
        panel.reports, panel.outcomes, columns=dict(panel.columns), groups=hospital
    )
    result = audit(grouped, by="region", resamples=20)
    reason = describe_shortage(panel.outcomes, groups=np.arange(600) % 2)
    withheld = {note.code: note.facts["why"] for note in result.withheld}
    assert withheld["calibration"] == reason
    assert result.plan.trust == "unknown"
    assert {one.code for one in result.agents} == {"untested"}
    assert {one.no_slope for one in result.calibration} == {reason}


def test_each_agent_has_its_auc_and_brier_skill_within_each_segment():
    from sklearn.metrics import roc_auc_score

    panel, whole = audited()
    for one in whole.segments[:-1]:
        own = panel.columns["region"] == one.group
        for i, skill in enumerate(one.agents):
            area = roc_auc_score(panel.outcomes[own], panel.reports[own, i])
            assert_allclose(skill.auc.value, area)
            assert skill.auc.low < area < skill.auc.high <= 1
            brier = np.square(panel.reports[own, i] - panel.outcomes[own]).mean()
            rate = panel.outcomes[own].mean()
            assert_allclose(skill.brier_skill.value, 1 - brier / (rate * (1 - rate)))
    of_three = rows_of(wards(), costs=Costs())["A"].agents[0]
    assert (of_three.auc, of_three.brier_skill is None) == (None, False)


def test_an_agent_without_enough_reports_in_a_segment_has_no_skill_there():
    panel = five_wards(0, cases=1500)
    reports = panel.reports.copy()
    reports[panel.columns["region"] == "A", 1] = np.nan
    sparse = Panel(reports, panel.outcomes, columns=dict(panel.columns))
    one = rows_of(sparse)["A"].agents[1]
    assert (one.cases, one.auc, one.brier_skill) == (0, None, None)


def test_nothing_decided_positive_has_no_precision():
    panel = regions(3, cases=120)
    found = at_capacity(evidence_of(panel, costs=Costs(fn=1, fp=1e6), capacity="5%"))
    assert (found.decided, found.wanted) == (0, 0)
    assert np.isnan(found.precision)


@pytest.mark.parametrize("counted", ["weights", "propensity"])
def test_audit_and_comparison_state_the_share_of_positives_as_cases_count(counted):
    panel = sound(cases=600)
    kinds = np.resize(["web", "app", "app"], 600)
    chance = np.where(panel.outcomes == 1, 0.9, 0.3)
    given = {"weights": 1 / chance, "propensity": chance}[counted]
    columns = {"kind": kinds}
    part = Panel(panel.reports, panel.outcomes, columns=columns, **{counted: given})
    found = compare(part, pools=["vcg"], costs=COSTS, by="kind", resamples=50)
    rows = rows_of(part, by="kind")
    for one in found.groups:
        own = kinds == one.group
        expected = np.average(panel.outcomes[own], weights=1 / chance[own])
        assert_allclose([one.share, rows[one.group].share], expected)


def test_the_script_behind_the_stated_rates_plants_what_it_says():
    script = Path(__file__).parents[5] / "scripts" / "measure_segments.py"
    spec = importlib.util.spec_from_file_location("measure_segments", script)
    measure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measure)
    rates = {"noise in one segment": [True, False], "noise elsewhere": [False, True]}
    for fault, failing in rates.items():
        found = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            panel = measure.make_panel(rng, 4000, 0.09, 2, True, fault)
            assert abs(panel.outcomes.mean() - 0.09) < 0.03
            assert 0.04 < np.isnan(panel.reports).mean() < 0.06
            found.append([(i, w.tolist()) for i, w in measure.find(panel, seed)])
        assert found.count([(0, failing)]) >= 3  # of 95 and 100 %
    sound = measure.make_panel(np.random.default_rng(0), 2000, 0.09, 5, True)
    assert measure.find(sound, 0) == []
