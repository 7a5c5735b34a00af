"""What an audit owes: planted faults come first, sound panels raise no error."""

import importlib
import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from faults import COSTS, copied, drifted, flipped, over_confident, sound, timed
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from panels import panels, random_panel
from simulated_faults import temperature
from threadpoolctl import threadpool_limits

import truepool as tp
from truepool.audits import Audit, audit
from truepool.audits.severity import FIRST
from truepool.core.engine import Processes
from truepool.core.errors import CostError, OutcomeError, SettingError, UnknownNameError
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean

QUICK = {"costs": COSTS, "resamples": 50}


def leaning(seed):
    """A pool that relies on one over-confident agent."""
    return temperature(sound(seed, skills=[2.0, 0.3, 0.3]), "agent0", 0.3)


PLANTED = {
    "over-confident": (leaning, {"pool": "best-agent"}, ("agent0",)),
    "reversed": (flipped, {}, ("agent1",)),
    "copy": (copied, {}, ("agent3", "agent0")),
    "changed-feed": (drifted, {}, ("agent3",)),
    "threshold": (sound, {"threshold": 0.5}, ()),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("code", PLANTED)
def test_the_first_finding_names_the_planted_fault(code, seed):
    make, settings, who = PLANTED[code]
    first = audit(make(seed), **QUICK, **settings).findings[0]
    assert (first.severity, first.code, first.who) == ("error", code, who)


@pytest.mark.parametrize("seed", range(3))
def test_a_fault_that_the_pool_leans_on_costs_nothing_and_is_a_note(seed):
    """Recalibrating one bold agent makes a timid mean more timid still."""
    finding = audit(over_confident(seed), **QUICK)
    bold = next(f for f in finding.findings if f.code == "over-confident")
    assert (bold.who, bold.severity) == (("agent2",), "note")
    assert bold.cost.high < 0
    assert finding.worst() == "warning"


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_of_calibrated_agents_is_under_confident_and_no_error(seed):
    finding = audit(sound(seed), **QUICK)
    first = finding.findings[0]
    assert (first.severity, first.code) == ("warning", "under-confident-pool")
    assert first.sentence.startswith("Every agent is calibrated, yet their mean")
    assert first.number.low > 1
    assert first.cost.low > 0


def _measure():
    pytest.importorskip("truepool_lab", reason="truepool-lab draws the panels")
    script = Path(__file__).parents[4] / "scripts" / "measure_false_alarms.py"
    spec = importlib.util.spec_from_file_location("measure_false_alarms", script)
    measure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measure)
    return measure


def test_sound_panels_rarely_raise_an_error():
    finding = [_measure().findings(seed, feeds_only=False) for seed in range(12)]
    errors = sum(any(f.severity == "error" for f in one) for one in finding)
    # At a share of 5 %, three or more of twelve would come once in fifty runs.
    assert errors <= 2


@pytest.mark.no_cover
def test_feeds_of_sound_panels_hardly_ever_raise_an_error():
    measure = _measure()
    finding = [measure.findings(seed, feeds_only=True) for seed in range(200)]
    errors = sum(any(f.severity == "error" for f in one) for one in finding)
    # At a share of 1 %, seven or more of 200 would come five times in a thousand runs.
    assert errors <= 6


@pytest.mark.parametrize(
    ("cases", "share", "least"),
    [
        (200, 0.3, 0.12),
        (500, 0.5, 0.64),
        (2_000, 0.03, 0.25),
        (2_000, 0.3, 0.8),
        (5_000, 0.01, 0.16),
    ],
)
def test_the_outcome_is_doubted_where_agents_are_of_chance_and_rarely_where_weak(
    cases, share, least
):
    """Docs state the rates over 1,000 panels; these bounds are four standard errors off."""
    measure, seeds = _measure(), range(60)
    assert measure.doubts(seeds, 0.5, cases, share) >= least
    assert measure.doubts(seeds, 0.55, cases, share) <= 0.16
    assert measure.doubts(seeds, 0.6, cases, share) <= 0.02


def test_fixed_faults_leave_no_error():
    panel = flipped()
    fixed = Panel(
        np.where(np.arange(5) == 1, 1 - panel.reports, panel.reports), panel.outcomes
    )
    assert audit(panel, **QUICK).worst() == "error"
    assert audit(fixed, **QUICK).worst() == "warning"


def test_findings_go_from_grave_to_light_broken_agents_first_and_from_dear_to_cheap():
    finding = audit(flipped(), **QUICK, threshold=0.6)
    grades = [("error", "warning", "note").index(f.severity) for f in finding.findings]
    assert grades == sorted(grades)
    errors = [f for f in finding.findings if f.severity == "error"]
    assert len(errors) > 1
    order = [(f.code not in FIRST, -f.cost.value) for f in errors]
    assert order == sorted(order)
    assert order[0][0] is False


def test_what_a_fault_costs_is_what_mending_it_saves():
    panel = flipped()
    found = next(f for f in audit(panel, **QUICK).findings if f.code == "reversed")
    turned = panel.reports.copy()
    turned[:, 1] = 1 - turned[:, 1]
    loss = Loss("cost", COSTS)
    as_is, fixed = (
        loss.evaluate(reports.mean(axis=1)[:, None], panel.outcomes).mean()
        for reports in (panel.reports, turned)
    )
    assert_allclose(found.cost.value, as_is - fixed)
    assert found.cost.low < found.cost.value < found.cost.high


@pytest.mark.parametrize("pool", ["vcg", "stacked-lr", "median", Mean()])
def test_any_pool_can_be_audited(pool):
    panel = sound(cases=300)
    finding = audit(panel, **QUICK, pool=pool)
    name = pool if isinstance(pool, str) else pool.name
    assert finding.pool == name
    assert name in {row.pool for row in finding.comparison.rows}
    assert finding.withheld == ()


def test_more_than_two_classes():
    finding = audit(timed(random_panel(2, cases=200, classes=3)), resamples=30)
    assert finding.curve is None
    assert finding.threshold is None
    assert finding.classes == 3
    assert len(finding.calibration) == 6
    assert finding.drift is not None


def test_reversed_agents_are_found_among_many_classes():
    panel = random_panel(2, cases=400, classes=3, skill=3.0)
    reports = panel.reports.copy()
    reports[:, 0] = reports[:, 0, ::-1]
    outcomes = np.where(panel.outcomes == 1, 0, panel.outcomes)
    outcomes[:3] = [0, 1, 2]
    found = audit(Panel(reports, outcomes), resamples=30).findings
    assert [f.who for f in found if f.code == "reversed"] == [("agent0",)]


@pytest.mark.parametrize("pool", ["mean", "vcg"])
@pytest.mark.parametrize(
    ("cases", "ones", "why"),
    [
        (12, 6, "at least 30 outcomes are needed, got 12"),
        (40, 3, "at least 5 positives are needed, got 3"),
        (40, 37, "at least 5 negatives are needed, got 3"),
        (2, 1, "at least 30 outcomes are needed, got 2"),
    ],
)
def test_too_few_outcomes_are_told_and_no_interval_is_given(pool, cases, ones, why):
    reports = np.random.default_rng(0).random((cases, 3))
    panel = Panel(reports, np.arange(cases) < ones)
    finding = audit(panel, **QUICK, pool=pool)
    assert why in {reason for _, reason in finding.withheld}
    assert {what for what, _ in finding.withheld} >= {"harm", "credit and weights"}
    for one in finding.agent_summaries:
        assert one.weight is one.leave_one_out is one.shapley is None
    for one in finding.calibration:
        assert one.bias is one.slope is one.p_value is one.reliability is None
    assert (finding.comparison, finding.drift) == (None, None)
    intervals = [f.cost for f in finding.findings] + [
        f.number for f in finding.findings
    ]
    assert all(e is None or np.isnan(e.low) for e in intervals)
    assert finding.advice == (
        "Collect more cases with a known outcome: there are too few to compare pools "
        f"({why})."
    )


def test_an_audit_of_four_groups_says_that_these_are_too_few():
    panel = sound(cases=200)
    groups = np.arange(200) % 4
    result = audit(Panel(panel.reports, panel.outcomes, groups=groups), **QUICK)
    why = "at least 5 groups of cases are needed, got 4"
    assert result.verdict == f"Too little is known to judge this pool: {why}."
    assert result.advice == (
        "Name another column of groups (group), or none if cases do not depend on "
        f"each other: these are too few to compare pools ({why}). More cases help only "
        "if they are of other groups."
    )
    plugged = {"incentives", "robustness"}  # where truepool-lab is installed
    assert {what for what, _ in result.withheld} - plugged == {
        "calibration", "comparison", "harm", "levels", "reversed reports",
        "credit and weights",
    }  # fmt: skip


def test_cases_that_only_teach_do_not_count_as_outcomes():
    panel = sound(cases=34)
    assert audit(panel, **QUICK, pool="vcg").withheld == ()
    finding = audit(timed(panel), **QUICK, pool="vcg")
    reasons = {why for _, why in finding.withheld}
    assert any("at least 30 tested outcomes are needed" in why for why in reasons)


def test_a_few_identical_agents_are_still_called_copies():
    reports = np.random.default_rng(0).random((20, 2))
    finding = audit(Panel(np.c_[reports, reports[:, 0]], np.arange(20) % 2), **QUICK)
    assert finding.findings[0].code == "copy"
    assert finding.findings[0].cost is None


def test_large_panels_say_what_was_sampled_and_test_every_case(monkeypatch):
    from truepool.audits.topics import credit, drift
    from truepool.measures import folds

    monkeypatch.setattr(folds, "LEARNING_CASES", 400)
    monkeypatch.setattr(credit, "FEWEST", 250)
    monkeypatch.setattr(credit, "WORK", 0)
    monkeypatch.setattr(drift, "DRIFT_CASES", 200)
    finding = audit(timed(sound(cases=1000)), **QUICK, pool="vcg")
    text = " ".join(finding.sampled)
    for number in ("250", "200"):
        assert number in text
    assert len(finding.sampled) == len(set(finding.sampled)) == 2
    assert finding.comparison.tested == finding.operations[0].cases == 834


def test_the_same_seed_gives_the_same_audit():
    panel = timed(sound(cases=300))
    one, two = (audit(panel, **QUICK, seed=3).to_dict() for _ in range(2))
    assert one == two


@settings(max_examples=15)
@given(
    panel=st.one_of(panels(cases=(2, 45)), panels(classes=3, cases=(30, 45))),
    times=st.booleans(),
    pool=st.sampled_from(["mean", "vcg", "platt"]),
)
def test_any_sound_panel_can_be_audited(panel, times, pool):
    if times:
        moments = np.arange(len(panel))[::-1] // 2
        panel = Panel(panel.reports, panel.outcomes, times=moments)
    finding = audit(panel, pool=pool, resamples=5)
    assert json.dumps(finding.to_dict(), allow_nan=False)
    assert finding.to_markdown()


def test_progress_is_told():
    seen = []
    audit(sound(cases=100), **QUICK, progress=lambda *step: seen.append(step))
    assert [done for _, done, _ in seen] == list(range(len(seen)))
    assert {total for _, _, total in seen} == {len(seen)}


@pytest.mark.parametrize(
    ("settings", "kind", "match"),
    [
        ({"pool": "vgc"}, UnknownNameError, "did you mean 'vcg'"),
        ({"threshold": 1.5}, SettingError, "must lie in"),
        ({"level": 1.0}, SettingError, "between 0 and 1"),
        ({"resamples": 1}, SettingError, "at least 2"),
        ({"costs": Costs(matrix=1 - np.eye(3))}, CostError, "K = 2"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_computed(settings, kind, match):
    with pytest.raises(kind, match=match):
        audit(sound(cases=40), **settings)


def test_a_threshold_belongs_to_two_classes():
    with pytest.raises(SettingError, match="the panel has 3"):
        audit(random_panel(classes=3), threshold=0.5)


def test_an_agent_may_be_called_pool():
    base = sound(cases=200)
    finding = audit(Panel(base.reports, base.outcomes, ["pool", *"abcd"]), **QUICK)
    assert [one.who for one in finding.calibration][-2:] == [
        "the pool",
        "the pool, recalibrated",
    ]


def test_the_verb_is_a_plain_function_whatever_is_imported_first():
    import truepool.audits

    assert tp.audit is truepool.audits.audit
    assert "can be trusted" in inspect.getdoc(tp.audit)


def test_the_json_form_is_plain_and_holds_what_the_docs_list():
    finding = audit(timed(flipped(cases=300)), **QUICK)
    plain = json.loads(json.dumps(finding.to_dict(), allow_nan=False))
    page = (Path(__file__).parents[4] / "docs" / "audit.md").read_text()
    for key in plain:
        assert f"`{key}`" in page
    for part in ("findings", "calibration", "agent_summaries"):
        for key in plain[part][0]:
            assert f"`{key}`" in page, key
    text = plain["recommendation"]
    for key in (*text, *text["fixes"][0]):
        assert f"`{key}`" in page, key
    assert (text["verdict"], text["advice"]) == (finding.verdict, finding.advice)
    assert plain["schema"] == Audit.schema == 5


def test_its_short_form_counts_in_plain_words():
    finding = audit(flipped(cases=300), **QUICK)
    counts = [finding.count(level) for level in ("error", "warning", "note")]
    words = [
        f"{n} {level}{'s' * (n != 1)}"
        for n, level in zip(counts, ("error", "warning", "note"), strict=True)
    ]
    assert counts[0] == 1
    assert repr(finding) == f"Audit(mean on 300 cases: {', '.join(words)})"


def test_only_what_was_asked_is_withheld():
    reports = np.random.default_rng(0).random((12, 3))
    panel = Panel(reports, np.arange(12) % 2)
    assert "drift" not in dict(audit(panel, **QUICK).withheld)
    assert "drift" in dict(audit(timed(panel), **QUICK).withheld)
    many = audit(random_panel(2, cases=200, classes=3), resamples=30)
    assert many.withheld == ()


@pytest.mark.parametrize("classes", [2, 3])
def test_an_agent_that_never_reported_is_audited_without_numbers(classes):
    values = random_panel(0, cases=60, agents=3, classes=classes).values.copy()
    values[:, 1] = np.nan
    outcomes = random_panel(0, cases=60, agents=3, classes=classes).outcomes
    result = audit(Panel(np.squeeze(values), outcomes), resamples=30)
    silent = result.to_dict()["agent_summaries"][1]
    assert (silent["report_rate"], silent["cost"], silent["brier"]) == (0.0, None, None)
    assert "agent1 never reported and was not checked." in result.sampled
    json.dumps(result.to_dict(), allow_nan=False)
    assert "agent1" in result.to_markdown()


def test_an_audit_and_a_comparison_need_two_classes():
    panel = Panel([[0.5, 0.4]] * 4, [0] * 4)
    with pytest.raises(OutcomeError, match="an audit needs cases of at least two"):
        audit(panel)
    with pytest.raises(OutcomeError, match="a comparison needs cases of at least two"):
        tp.compare(panel)
    assert len(tp.replay("gradient", panel).pooled) == 4


def test_neither_an_engine_nor_threads_change_a_bit_of_an_audit():
    panel = sound(1)
    here = audit(panel, **QUICK, pool="vcg").to_dict()
    with Processes(2) as engine:
        assert audit(panel, **QUICK, pool="vcg", engine=engine).to_dict() == here
    with threadpool_limits(1, "blas"):
        assert audit(panel, **QUICK, pool="vcg").to_dict() == here
