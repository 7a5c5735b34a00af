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
from truepool.audits import audit, kinds
from truepool.audits.checks import credit, drift
from truepool.audits.values import SEVERITIES
from truepool.core.engine import Processes
from truepool.core.errors import CostError, OutcomeError, SettingError, UnknownNameError
from truepool.measures import folds
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
def test_the_first_finding_and_the_diagnosis_name_the_planted_fault(code, seed):
    make, settings, who = PLANTED[code]
    result = audit(make(seed), **QUICK, **settings)
    first = result.findings[0]
    assert (first.severity, first.code, first.who) == ("error", code, who)
    ill = [one for one in result.diagnoses if one.severity == "error"]
    agents = [one.who for one in ill if one.subject == "agent"]
    assert agents == [*who[:1]]
    assert code in {one.code for one in ill}


@pytest.mark.parametrize("seed", range(3))
def test_a_fault_that_the_pool_leans_on_costs_nothing_and_is_a_note(seed):
    """Recalibrating one bold agent makes a timid mean more timid still."""
    result = audit(over_confident(seed), **QUICK)
    (bold,) = [f for f in result.findings if f.code == "over-confident"]
    assert (bold.who, bold.severity) == (("agent2",), "note")
    assert bold.saving.high < 0
    assert (result.agents[2].code, result.worst()) == (kinds.SOUND, "warning")


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_of_calibrated_agents_is_under_confident_and_no_error(seed):
    result = audit(sound(seed), **QUICK)
    assert (result.pool.severity, result.pool.code) == (
        "warning", "under-confident-pool",
    )  # fmt: skip
    assert result.pool.finding.number.low > 1
    assert result.pool.finding.saving.low > 0
    assert {one.code for one in result.agents} == {kinds.SOUND}


def _measure():
    pytest.importorskip("truepool_lab", reason="truepool-lab draws the panels")
    script = Path(__file__).parents[4] / "scripts" / "measure_false_alarms.py"
    spec = importlib.util.spec_from_file_location("measure_false_alarms", script)
    measure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measure)
    return measure


def _errors(seeds, *, feeds_only):
    """Of how many sound panels something is called an error."""
    found = _measure().found
    audits = ([grade for grade, _ in found(seed, feeds_only)] for seed in seeds)
    return sum("error" in grades for grades in audits)


def test_sound_panels_rarely_raise_an_error():
    # At a share of 5 %, three or more of twelve would come once in fifty runs.
    assert _errors(range(12), feeds_only=False) <= 2


@pytest.mark.no_cover
def test_feeds_of_sound_panels_hardly_ever_raise_an_error():
    # At a share of 1 %, seven or more of 200 would come five times in a thousand runs.
    assert _errors(range(200), feeds_only=True) <= 6


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


def test_findings_of_the_diagnoses_come_first_and_then_the_gravest():
    result = audit(flipped(), **QUICK, threshold=0.6)
    first = [one.finding for one in result.diagnoses if one.finding is not None]
    assert [*result.findings[: len(first)]] == first
    rest = result.findings[len(first) :]
    grades = [SEVERITIES.index(f.severity) for f in rest]
    assert grades == sorted(grades)
    every = [f.key for f in result.findings]
    assert len(every) == len(set(every))
    held = [f for one in result.diagnoses for f in (one.finding, *one.evidence) if f]
    assert {f.key for f in held} == set(every)


def test_what_a_fault_costs_is_what_fixing_it_saves():
    panel = flipped()
    found = next(f for f in audit(panel, **QUICK).findings if f.code == "reversed")
    turned = panel.reports.copy()
    turned[:, 1] = 1 - turned[:, 1]
    loss = Loss("cost", COSTS)
    as_is, fixed = (
        loss.evaluate(reports.mean(axis=1)[:, None], panel.outcomes).mean()
        for reports in (panel.reports, turned)
    )
    assert_allclose(found.saving.value, 1000 * (as_is - fixed))
    assert found.saving.low < found.saving.value < found.saving.high


@pytest.mark.parametrize("pool", ["vcg", "stacked-lr", "median", Mean()])
def test_any_pool_can_be_audited(pool):
    panel = sound(cases=300)
    result = audit(panel, **QUICK, pool=pool)
    name = pool if isinstance(pool, str) else pool.name
    assert result.pool.who == result.plan.in_use == name
    assert name in {row.pool for row in result.comparison.rows}
    assert result.withheld == ()


def test_more_than_two_classes():
    result = audit(timed(random_panel(2, cases=200, classes=3)), resamples=30)
    assert result.curve is result.threshold is result.tradeoff is None
    assert result.classes == 3
    assert len(result.calibration) == 6
    assert result.drift is not None
    assert {one.recall for one in result.operations} == {None}


def test_reversed_agents_are_found_among_many_classes():
    panel = random_panel(2, cases=400, classes=3, skill=3.0)
    reports = panel.reports.copy()
    reports[:, 0] = reports[:, 0, ::-1]
    outcomes = np.where(panel.outcomes == 1, 0, panel.outcomes)
    outcomes[:3] = [0, 1, 2]
    agents = audit(Panel(reports, outcomes), resamples=30).agents
    assert [one.who for one in agents if one.code == "reversed"] == ["agent0"]


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
def test_of_too_few_outcomes_no_interval_is_given_and_nobody_is_called_sound(
    pool, cases, ones, why
):
    reports = np.random.default_rng(0).random((cases, 3))
    panel = Panel(reports, np.arange(cases) < ones)
    result = audit(panel, **QUICK, pool=pool)
    withheld = {note.code: note.facts["why"] for note in result.withheld}
    assert why in withheld.values()
    assert withheld.keys() >= {"harm", "calibration", "comparison"}
    for one in result.summaries:
        assert (
            one.earned_weight is one.leave_one_out is one.shapley is one.worth is None
        )
    for one in result.calibration:
        assert one.bias is one.slope is one.p_value is one.reliability is None
    assert result.comparison is result.drift is result.best_set is None
    intervals = [f.saving for f in result.findings] + [
        f.number for f in result.findings
    ]
    assert all(e is None or np.isnan(e.low) for e in intervals)
    assert {one.code for one in result.diagnoses} == {kinds.UNTESTED}
    assert (result.plan.trust, result.plan.pool) == ("unknown", None)
    assert [step.action for step in result.plan.steps] == ["collect"]


def test_an_audit_of_four_groups_says_that_these_are_too_few():
    panel = sound(cases=200)
    groups = np.arange(200) % 4
    result = audit(Panel(panel.reports, panel.outcomes, groups=groups), **QUICK)
    withheld = {note.code: note.facts["why"] for note in result.withheld}
    assert set(withheld.values()) == {"at least 5 groups of cases are needed, got 4"}
    plugged = {"incentives", "robustness"}  # where truepool-lab is installed
    assert withheld.keys() - plugged == {
        "calibration", "calibration of the pool", "comparison", "harm", "levels",
        "outcome", "reversed reports", "thresholds",
    }  # fmt: skip
    assert result.plan.trust == "unknown"


def test_cases_that_only_teach_do_not_count_as_outcomes():
    panel = sound(cases=34)
    assert audit(panel, **QUICK, pool="vcg").withheld == ()
    result = audit(timed(panel), **QUICK, pool="vcg")
    reasons = {note.facts["why"] for note in result.withheld}
    assert any("at least 30 tested outcomes are needed" in why for why in reasons)


def test_a_few_identical_agents_are_still_called_copies():
    reports = np.random.default_rng(0).random((20, 2))
    result = audit(Panel(np.c_[reports, reports[:, 0]], np.arange(20) % 2), **QUICK)
    copy = result.agents[2]
    assert (copy.code, copy.severity, copy.finding.saving) == ("copy", "error", None)
    assert [step.action for step in result.plan.steps] == ["leave-out", "collect"]


def test_large_panels_say_what_was_sampled_and_test_every_case(monkeypatch):
    monkeypatch.setattr(folds, "LEARNING_CASES", 400)
    monkeypatch.setattr(credit, "FEWEST", 250)
    monkeypatch.setattr(credit, "WORK", 0)
    monkeypatch.setattr(drift, "DRIFT_CASES", 200)
    result = audit(timed(sound(cases=1000)), **QUICK, pool="vcg")
    notes = {note.code: note.facts["cases"] for note in result.notes}
    assert set(notes.values()) >= {250, 200}
    assert len(notes) == len(result.notes)
    assert result.comparison.tested == result.operations[0].cases == 834


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
    result = audit(panel, pool=pool, resamples=5)
    assert json.dumps(result.to_dict(), allow_nan=False)
    assert result.to_markdown()


def test_progress_counts_every_part_once():
    for panel in (sound(cases=100), timed(flipped(cases=100))):
        seen = []
        audit(panel, **QUICK, progress=lambda *step, seen=seen: seen.append(step))
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
    result = audit(Panel(base.reports, base.outcomes, ["pool", *"abcd"]), **QUICK)
    assert [one.who for one in result.calibration][-2:] == [
        "the pool",
        "the pool, recalibrated",
    ]


def test_the_verb_is_a_plain_function_whatever_is_imported_first():
    import truepool.audits

    assert tp.audit is truepool.audits.audit
    assert "can be trusted" in inspect.getdoc(tp.audit)


def test_its_short_form_counts_diagnoses():
    result = audit(flipped(cases=300), **QUICK)
    counts = [result.count(level) for level in SEVERITIES]
    words = [
        f"{n} {level}{'s' * (n != 1)}"
        for n, level in zip(counts, SEVERITIES, strict=True)
    ]
    assert counts[0] == 1
    assert repr(result) == f"Audit(mean on 300 cases: {', '.join(words)})"


def test_only_what_was_asked_is_withheld():
    reports = np.random.default_rng(0).random((12, 3))
    panel = Panel(reports, np.arange(12) % 2)
    assert "drift" not in {note.code for note in audit(panel, **QUICK).withheld}
    assert "drift" in {note.code for note in audit(timed(panel), **QUICK).withheld}
    many = audit(random_panel(2, cases=200, classes=3), resamples=30)
    assert many.withheld == ()


@pytest.mark.parametrize("classes", [2, 3])
def test_an_agent_that_never_reported_is_audited_without_numbers(classes):
    values = random_panel(0, cases=60, agents=3, classes=classes).values.copy()
    values[:, 1] = np.nan
    outcomes = random_panel(0, cases=60, agents=3, classes=classes).outcomes
    result = audit(Panel(np.squeeze(values), outcomes), resamples=30)
    silent = result.summaries[1]
    assert silent.report_rate == 0.0
    assert not np.isfinite([silent.cost, silent.brier]).any()
    one = result.agents[1]
    assert (one.code, one.severity) == ("no-reports", "warning")
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert plain["summaries"][1]["cost"] is None


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
