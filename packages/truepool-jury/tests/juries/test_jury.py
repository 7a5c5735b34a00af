"""A jury: each statement holds as often as it says, or is not made."""

import json
import re
from dataclasses import replace
from io import StringIO

import numpy as np
import pyarrow as pa
import pytest
from dataset_requirements import needs
from numpy.testing import assert_allclose, assert_array_equal
from rich.console import Console
from scipy.special import expit
from simulated_juries import RECIPES, simulate, with_labels

import truepool as tp
from truepool.core.errors import (
    AgentError,
    CostError,
    OutcomeError,
    PanelError,
    SettingError,
)
from truepool.core.formatting import percent
from truepool.measures.inference import estimate_rate
from truepool.pools.log_odds import LogOdds
from truepool.pools.shrunk import Shrunk
from truepool.tables import ReportTable
from truepool_jury.juries.advice import advise
from truepool_jury.juries.column_pairs import order_bias, repetition
from truepool_jury.juries.judges import similarity
from truepool_jury.juries.learned_pool import learn_pool
from truepool_jury.juries.rates import event_rate
from truepool_jury.juries.score_scale import fit_scale
from truepool_jury.juries.verdicts import Verdicts
from truepool_jury.render.advice import headline, steps
from truepool_jury.render.page import html
from truepool_jury.render.tables import show

LABELS = 60


def reports_only(reports, judges=None):
    names = judges or tuple(f"agent{i}" for i in range(reports.shape[1]))
    return ReportTable(reports, names, None, None)


def printed(jury, width=80):
    console = Console(width=width, file=StringIO(), markup=False)
    show(jury, console)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def runs():
    """Juries with 60 labels: what is found, what is true, the mean of the log-odds."""
    rng, found = np.random.default_rng(17), []
    for recipe in [RECIPES[name] for name in ("J5g", "J5rare", "J7bias")] * 10:
        reports, truth = simulate(rng, items=400, **recipe)
        panel = with_labels(reports, truth, LABELS)
        found.append((tp.jury(panel), truth, Verdicts.from_panel(panel).anchor))
    return found


@pytest.fixture(scope="module")
def one(runs):
    return runs[0][0]


def error(share, runs):
    """Three standard errors of a share of runs."""
    return 3 * np.sqrt(share * (1 - share) / runs)


# What is claimed


def test_the_interval_of_the_rate_covers_the_true_rate(runs):
    # Of a usual event, a rare one, and one that all judges overrate.
    rates = [0.6, 0.02, 0.3] * 10
    pairs = zip(runs, rates, strict=True)
    covered = np.mean([j.rate.low <= rate <= j.rate.high for (j, _, _), rate in pairs])
    assert covered >= 0.95 - error(0.95, len(runs))


def test_verdicts_make_the_interval_of_the_rate_narrower(runs):
    plain = [estimate_rate(t[:LABELS], np.full(LABELS, 0.5)) for _, t, _ in runs[::3]]
    mine = np.mean([j.rate.high - j.rate.low for j, _, _ in runs[::3]])
    assert mine < 0.9 * np.mean([rate.high - rate.low for rate in plain])


def test_the_interval_of_the_cost_covers_what_the_decisions_cost(runs):
    covered = []
    for jury, truth, _ in runs:
        rest = jury.decided_by != "label"
        cost, value = np.mean((jury.decisions != truth)[rest]), jury.cost.value
        covered.append(value.low <= cost <= value.high)
        assert_allclose(value.value, jury.cost.fn.estimate + jury.cost.fp.estimate)
    assert np.mean(covered) >= 0.95 - error(0.95, len(runs))


@pytest.mark.parametrize("budget", [None, 50])
def test_with_unequal_costs_the_cost_is_that_of_the_decisions_that_are_made(budget):
    rng, covered = np.random.default_rng(3), []
    for recipe in ("J5g", "J7bias") * 8:
        reports, truth = simulate(rng, items=400, **RECIPES[recipe])
        panel = with_labels(reports, truth, 100)
        jury = tp.jury(panel, costs=tp.Costs(50, 1), budget=budget)
        rest = jury.decided_by != "label"
        decided, y = jury.decisions[rest], truth[rest]
        missed, alarms = np.mean(y * (1 - decided)), np.mean((1 - y) * decided)
        found = jury.cost
        for rate, value in ((found.fn, missed), (found.fp, alarms)):
            covered.append(rate.low <= value <= rate.high)
        for rate, wrong in (
            (found.miss_rate, 1 - decided[y == 1]),
            (found.alarm_rate, decided[y == 0]),
        ):
            covered.append(rate.low <= wrong.mean() <= rate.high)
        assert found.value.low <= 50 * missed + alarms <= found.value.high
    assert np.mean(covered) >= 0.95 - error(0.95, len(covered))


def test_unequal_costs_price_both_kinds_of_error():
    reports, truth = simulate(np.random.default_rng(1), items=400)
    cost = tp.jury(with_labels(reports, truth, 100), costs=tp.Costs(10, 2)).cost
    assert_allclose(cost.value.high, 10 * cost.fn.high + 2 * cost.fp.high)
    # What costs more to miss is missed less.
    assert cost.fn.estimate < cost.fp.estimate


def test_the_bound_on_errors_is_broken_as_rarely_as_promised(runs):
    broken, shares = [], []
    for jury, truth, _ in runs:
        sure = jury.decided_by == "automatic"
        wrong = jury.decisions != truth
        broken.append(sure.any() and wrong[sure].mean() > 0.1)
        shares.append(jury.certificate.share)
    assert np.mean(broken) <= 0.1 + error(0.1, len(runs))
    assert np.mean(shares) > 0


def test_with_unequal_costs_the_bound_holds_for_the_decisions_that_are_made():
    rng, broken, shares = np.random.default_rng(12), [], []
    for _ in range(20):
        reports, truth = simulate(rng, items=600, skill=(1.5, 2.5))
        jury = tp.jury(with_labels(reports, truth, 150), costs=tp.Costs(50, 1))
        sure = jury.decided_by == "automatic"
        broken.append(sure.any() and (jury.decisions != truth)[sure].mean() > 0.1)
        shares.append(jury.certificate.share)
    assert np.mean(broken) <= 0.1 + error(0.1, 20)
    assert np.mean(shares) > 0.2


def test_within_a_budget_no_bound_on_errors_is_promised():
    # Decisions at 50 to 1 are mostly false alarms: more than 10 % of them are wrong.
    rng = np.random.default_rng(12)
    for _ in range(5):
        reports, truth = simulate(rng, items=600, skill=(1.5, 2.5))
        panel, costs = with_labels(reports, truth, 150), tp.Costs(50, 1)
        assert tp.jury(panel, costs=costs).certificate.share > 0
        jury = tp.jury(panel, costs=costs, budget=50)
        assert (jury.decided_by == "person").sum() == 50
        assert jury.certificate is None
        assert jury.to_dict()["certificate"] is None
        for text in (printed(jury), jury.to_markdown(), html(jury)):
            words = " ".join(text.split())
            assert "at most 10 %" not in words
            assert "without a bound on errors" in words


@pytest.mark.parametrize(("bias", "low", "high"), [(0.0, 0.02, 0.08), (0.3, 0.93, 1.0)])
def test_the_order_test_has_its_size_and_its_power(bias, low, high):
    # 100 pairs in both orders; the noise of each answer, 1.1 in log-odds, is ours.
    rng, found = np.random.default_rng(5), []
    for _ in range(400):
        opinion = rng.normal(size=(100, 1))
        log_odds = opinion + rng.normal(0, 1.1, (100, 2)) + [bias, -bias]
        verdicts = Verdicts.from_panel(reports_only(expit(log_odds)))
        found.append(order_bias(verdicts, "agent0", "agent1"))
    assert low <= np.mean([pair.p_value < 0.05 for pair in found]) <= high
    assert_allclose(np.mean([pair.bias.value for pair in found]), bias, atol=0.02)


def test_copies_are_found_and_others_are_not_accused():
    rng = np.random.default_rng(2)
    for name, copies in (("J9g", {("agent8", "agent2")}), ("J7bias", set())):
        for _ in range(5):
            reports, truth = simulate(rng, **RECIPES[name])
            number, found, _ = similarity(Verdicts.from_panel(reports_only(reports)))
            assert {(copy.judge, copy.model) for copy in found} == copies
            # Without labels, what two judges share may be the truth.
            assert {copy.error_correlation for copy in found} <= {None}
            assert np.isnan(number)
            number, found, _ = similarity(
                Verdicts.from_panel(with_labels(reports, truth, 100))
            )
            assert {(copy.judge, copy.model) for copy in found} == copies
            assert all(copy.error_correlation > 0.85 for copy in found)
            assert 1 < number < reports.shape[1]


def accurate_voters(rng, voters=4, items=1200, accuracy=0.98):
    """Votes that are nearly always right, with errors of their own."""
    truth = (rng.random(items) < 0.5).astype(int)
    right = rng.random((items, voters)) < accuracy
    return np.where(right, truth[:, None], 1 - truth[:, None]) * 1.0, truth


def test_independent_judges_who_are_nearly_always_right_are_no_copies():
    for seed in range(10):
        votes, truth = accurate_voters(np.random.default_rng(seed))
        number, found, _ = similarity(
            Verdicts.from_panel(with_labels(votes, truth, 500))
        )
        assert found == ()
        assert 3.5 < number <= 4
    # The labels of 30 items hold next to no error, so that they cannot tell.
    jury = tp.jury(with_labels(votes, truth, 30))
    assert np.isnan(jury.effective_judges)
    assert jury.copies
    text = " ".join(printed(jury).split())
    assert "agree nearly always: copies, or both right. More labels would tell" in text
    assert not any("copies" in step for step in steps(jury))


def test_a_copy_of_a_judge_who_is_nearly_always_right_is_found_by_its_errors():
    votes, truth = accurate_voters(np.random.default_rng(0), voters=3)
    votes = np.column_stack([votes, votes[:, 0]])
    jury = tp.jury(with_labels(votes, truth, 300))
    (copy,) = jury.copies
    assert (copy.judge, copy.model) == ("agent3", "agent0")
    assert copy.error_correlation == pytest.approx(1)
    assert 2.5 < jury.effective_judges < 3
    assert "Of near-copies keep one: agent0 or agent3." in steps(jury)
    assert "nearly repeats agent0" in printed(jury)
    unlabelled = tp.jury(reports_only(votes))
    assert len(unlabelled.copies) == 3
    assert "Labels would tell" in " ".join(printed(unlabelled).split())
    assert not any("copies" in step for step in steps(unlabelled))


def test_near_copies_that_help_are_not_both_to_be_kept():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    good = np.clip(0.6 * truth + 0.2 + rng.normal(0, 0.2, 300), 0, 1)
    reports = np.column_stack([good, good, rng.random((300, 2))])
    names = ("good", "copycat", "c", "d")
    panel = tp.Panel(reports[:120], truth[:120], agents=names)
    jury = tp.jury(panel.with_pending(reports[120:]))
    assert [judge.credit.low > 0 for judge in jury.judges[:2]] == [True, True]
    assert [judge.advice for judge in jury.judges[:2]] == ["keep one", "keep one"]
    found = [step for step in steps(jury) if "good" in step or "copycat" in step]
    assert found == ["Of near-copies keep one: good or copycat."]
    rows = [line for line in printed(jury).splitlines() if line.startswith("good")]
    assert rows[0].endswith("keep one ")
    assert html(jury).count("<td>keep one</td>") == 2
    # A copy that is dropped for its credit leaves nothing to choose.
    first = replace(jury.judges[0], advice="drop")
    second = replace(jury.judges[1], advice="keep")
    by_credit = replace(jury, judges=(first, second, *jury.judges[2:]))
    found = " ".join(steps(advise(by_credit)))
    assert "Drop good, " in found
    assert "Keep copycat:" in found
    assert "near-copies" not in found


@pytest.mark.parametrize("labels", [200, 30])
def test_unequal_costs_do_not_count_in_the_limit_and_the_output_says_so(labels):
    reports, truth = simulate(np.random.default_rng(1), skill=(2.0, 3.0), items=400)
    panel = with_labels(reports, truth, labels)
    said = "A missed item and a false alarm count alike in this limit on errors"
    unequal = tp.jury(panel, costs=tp.Costs(15, 1.5))
    assert (unequal.certificate.share > 0) == (labels == 200)
    text = " ".join(printed(unequal).split())
    assert f"{said}, whatever they cost. To go by cost, say how many items" in text
    assert said not in " ".join(printed(tp.jury(panel)).split())
    budget = tp.jury(panel, costs=tp.Costs(15, 1.5), budget=20)
    assert said not in " ".join(printed(budget).split())
    sent = budget.decided_by == "person"
    rest = budget.decided_by == "automatic"
    cost = np.minimum(15 * budget.pooled, 1.5 * (1 - budget.pooled))
    assert sent.sum() == 20
    assert cost[sent].min() >= cost[rest].max()


def test_judges_without_a_relation_to_the_labels_are_named_before_anything_else():
    rng = np.random.default_rng(0)
    truth = (rng.random(300) < 0.3).astype(int)
    noise = rng.random(300)
    reports = np.column_stack([noise, np.clip(noise + rng.normal(0, 0.01, 300), 0, 1)])
    jury = tp.jury(with_labels(reports, truth, 150))
    first = steps(jury)[0]
    commoner = 1 - truth[:150].mean()
    for i, judge in enumerate(jury.judges):
        accuracy = ((reports[:150, i] > 0.5) == truth[:150]).mean()
        assert accuracy < commoner
        assert jury.judges[i].calibration.slope.low <= 0
        assert f"{judge.name} (accuracy {100 * accuracy:.1f} %, slope " in first
    assert "the verdicts show no relation to the labels. Always answering" in first
    assert f"is right in {100 * commoner:.1f} % of the labelled items." in first
    assert jury.copies  # said as a fact, not as a choice
    assert not any("near-copies" in step or "Keep" in step for step in steps(jury))
    text = " ".join(printed(jury).split())
    assert text.startswith("Do not rely on this jury: no judge shows a relation")
    limit = "yet: the limit is 10 % errors, to be kept with 90 % confidence."
    assert f"No item may be decided without a person {limit}" in text
    assert "yet: at most" not in text
    rows = [line for line in printed(jury).splitlines() if line.startswith("agent")]
    assert [row.split()[-2:] for row in rows[:2]] == [["no", "relation"]] * 2
    assert [judge.advice for judge in jury.judges] == ["no relation"] * 2


@pytest.mark.parametrize(
    ("reverse", "words"),
    [
        (2, "every judge says the opposite of the labels."),
        (1, "1 judge says the opposite of the labels, and no other judge shows a "),
    ],
)
def test_a_jury_of_reversed_judges_is_called_reversed(reverse, words):
    rng = np.random.default_rng(0)
    truth = (rng.random(300) < 0.3).astype(int)
    wrong = np.clip(0.5 - 0.4 * (2 * truth - 1) + rng.normal(0, 0.2, 300), 0.01, 0.99)
    other = np.clip(wrong + rng.normal(0, 0.1, 300), 0.01, 0.99)
    noise = rng.random(300)
    reports = np.column_stack([wrong, other if reverse == 2 else noise])
    jury = tp.jury(with_labels(reports, truth, 150))
    assert jury.headline.startswith(f"Do not rely on this jury: {words}")


def test_a_judge_that_hedges_beside_noise_is_not_kept_for_its_credit():
    """Near one half, it halves the errors of the noise, and knows nothing."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    reports = np.column_stack(
        [rng.uniform(0.45, 0.55, 200), rng.beta(0.3, 0.3, (200, 2))]
    )
    jury = tp.jury(with_labels(reports, truth, 120))
    assert jury.judges[0].credit.low > 0
    found = jury.to_dict()
    assert jury.judges[0].advice == found["judges"][0]["advice"] == "no relation"
    assert found["headline"] == jury.headline == headline(jury)
    assert found["steps"] == [*jury.steps] == steps(jury)
    assert "| no relation |" in jury.to_markdown()


def test_a_judge_who_is_reversed_is_told_from_one_who_knows_nothing():
    rng = np.random.default_rng(0)
    reports, truth = simulate(rng, items=400, **RECIPES["J7flip"])
    jury = tp.jury(with_labels(reports, truth, 150))
    first = steps(jury)[0]
    assert first.startswith("Do not rely on agent0 (accuracy ")
    assert "relation to the labels is reversed. Check which label is positive." in first
    assert jury.judges[0].calibration.slope.high < 0
    assert "no judge shows" not in printed(jury)


@pytest.mark.parametrize("surprises", [0, 5])
def test_a_judge_in_words_that_has_no_slope_may_be_reversed(surprises):
    """One of its two verdicts always meets the same label, so no slope is finite."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    wrong = 1.0 - truth
    wrong[np.flatnonzero(truth[:60])[:surprises]] = 1.0
    sound = np.where(rng.random(200) < 0.8, truth, 1 - truth)
    jury = tp.jury(with_labels(np.column_stack([wrong, sound, sound]), truth, 60))
    judge = jury.judges[0]
    assert judge.calibration.slope is None
    assert "same" not in judge.calibration.no_slope
    assert judge.auc.high < 0.5 < jury.judges[1].auc.low
    first = steps(jury)[0]
    assert first.startswith(
        f"Do not rely on agent0 (accuracy {percent(surprises / 60)}, AUC "
    )
    assert "relation to the labels is reversed. Check which label is positive." in first
    assert judge.advice in ("drop", "no relation")


def test_of_a_rare_event_a_judge_need_not_beat_the_commoner_label(runs):
    """Accuracy alone says little: slopes above 0 are a relation."""
    assert not any(
        "relation to the labels" in step for jury, _, _ in runs for step in steps(jury)
    )


def test_a_copy_of_a_copy_is_one_of_three():
    votes, truth = accurate_voters(np.random.default_rng(0), voters=3)
    votes = np.column_stack([votes, votes[:, 0], votes[:, 0]])
    jury = tp.jury(with_labels(votes, truth, 300))
    # Three of five that are one outvote the others: each of them alone does harm.
    assert all(jury.judges[i].credit.high < 0 for i in (0, 3, 4))
    assert [jury.judges[i].advice for i in (0, 3, 4)] == ["keep one"] * 3
    found = steps(jury)
    assert "Of near-copies keep one: agent0 or agent3 or agent4." in found
    assert not any(step.startswith("Drop") for step in found)


def test_judges_who_share_too_few_items_are_not_said_to_be_no_copies():
    same = np.linspace(0.1, 0.9, 20)[:, None].repeat(2, axis=1)
    few = "Too few shared items to look for copies: 30 are needed."
    assert few in printed(tp.jury(reports_only(same)))
    assert few in html(tp.jury(reports_only(same)))
    many = np.random.default_rng(0).random((30, 3))
    assert "look for copies" not in printed(tp.jury(reports_only(many)))
    many[0, 2] = np.nan
    text = " ".join(printed(tp.jury(reports_only(many))).split())
    assert "2 pairs of judges share too few items to look for copies: 30" in text
    many[:2, 1] = [0.3, np.nan]
    many[0, 2] = 0.5
    text = " ".join(printed(tp.jury(reports_only(many))).split())
    assert "2 pairs of judges share too few items" in text


def test_the_effective_number_is_not_lowered_by_few_labels():
    rng, found = np.random.default_rng(0), []
    for _ in range(30):
        truth = rng.integers(0, 2, 60)
        reports = expit((2 * truth - 1)[:, None] + rng.normal(size=(60, 8)))
        found.append(
            similarity(Verdicts.from_panel(with_labels(reports, truth, 20)))[0]
        )
    assert np.mean(found) > 7


def test_judges_who_share_few_items_are_not_accused_of_copying():
    reports = np.full((80, 3), np.nan)
    reports[:, 0] = np.tile([0.1, 0.9], 40)
    for judge, shared in ((1, 29), (2, 30)):
        reports[:shared, judge] = reports[:shared, 0]
    _, found, _ = similarity(Verdicts.from_panel(reports_only(reports)))
    assert [(copy.judge, copy.model) for copy in found] == [("agent2", "agent0")]


def test_a_crowd_in_which_some_never_meet_has_no_effective_number():
    reports = np.full((8, 2), np.nan)
    reports[:4, 0] = reports[4:, 1] = [0.1, 0.9, 0.2, 0.7]
    jury = tp.jury(reports_only(reports))
    assert np.isnan(jury.effective_judges)
    assert "independent" not in printed(jury)
    known = np.full((90, 2), np.nan)
    known[:50, 0] = known[40:, 1] = np.tile([0.1, 0.9, 0.2, 0.7, 0.6], 10)
    labels = np.tile([0, 1], 45)
    assert np.isnan(tp.jury(tp.Panel(known, labels)).effective_judges)


def test_reliability_is_how_often_a_judge_changes_sides():
    reports = np.array([[0.9, 0.8], [0.4, 0.6], [0.5, 0.9], [0.2, np.nan]] * 5)
    found = repetition(Verdicts.from_panel(reports_only(reports)), ("agent0", "agent1"))
    assert (found.items, found.flips) == (15, pytest.approx(1 / 3))
    assert found.difference == pytest.approx(0.7 / 3)


def test_three_answers_are_compared_in_pairs():
    reports = np.array([[0.9, 0.8, 0.1], [0.4, 0.3, np.nan]] * 6)
    runs = ("agent0", "agent1", "agent2")
    found = repetition(Verdicts.from_panel(reports_only(reports)), runs)
    # Six items with three pairs of answers, two of which change sides; six with one.
    assert (found.runs, found.items, found.flips) == (runs, 12, 12 / 24)
    table = reports_only(np.column_stack([reports, reports[:, 0]]))
    jury = tp.jury(table, repeated=[runs])
    assert [judge.name for judge in jury.judges] == ["agent0", "agent3"]
    assert "asked up to 3 times, 50.0 % of" in " ".join(printed(jury).split())


def test_the_calibration_of_a_judge_shows_who_is_too_sure():
    rng = np.random.default_rng(3)
    chance = rng.uniform(0.1, 0.9, 3000)
    truth = (rng.random(3000) < chance).astype(int)
    odds = np.log(chance / (1 - chance))
    reports = expit(np.column_stack([odds, 3 * odds]))
    fair, sure = tp.jury(with_labels(reports, truth, 2000)).judges
    assert fair.calibration.slope.low < 1 < fair.calibration.slope.high
    assert_allclose(sure.calibration.slope.value, 1 / 3, atol=0.06)
    assert len(fair.calibration.reliability.frequency) == 10
    # Votes of 0 and 1 count as 2 and 98 %: log-odds of 3.9, not of 14.
    votes = (reports > 0.5) * 1.0
    slope = tp.jury(with_labels(votes, truth, 2000)).judges[0].calibration.slope
    right = np.mean(votes[:2000, 0] == truth[:2000])
    assert_allclose(slope.value, np.log(right / (1 - right)) / np.log(49), rtol=0.02)


def test_rates_by_class_cover_what_the_decisions_miss(runs):
    covered, apart = [], []
    for jury, truth, _ in runs:
        rest = jury.decided_by != "label"
        decided, truth = jury.decisions[rest] == 1, truth[rest]
        for rate, kind, wrong in (
            (jury.cost.miss_rate, truth == 1, ~decided),
            (jury.cost.alarm_rate, truth == 0, decided),
        ):
            if rate is not None:
                true = wrong[kind].mean()
                covered.append(rate.low <= true <= rate.high)
                apart.append(rate.estimate - true)
    assert len(covered) > 40
    assert np.mean(covered) >= 0.95 - error(0.95, len(covered))
    # Pseudo-labels that moved the estimate too made it 4 points too high.
    assert abs(np.mean(apart)) < 0.02


def test_a_judge_that_adds_is_kept_and_one_that_harms_is_dropped():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    good = np.clip(0.8 * truth + 0.1 + rng.normal(0, 0.1, 300), 0, 1)
    noise = rng.random((300, 2))
    reports = np.column_stack([good, 1 - good, noise])
    jury = tp.jury(with_labels(reports, truth, 120))
    advice = [judge.advice for judge in jury.judges]
    assert advice[:2] == ["keep", "drop"]
    assert jury.judges[0].accuracy == 1 - jury.judges[1].accuracy == 1
    assert_allclose(jury.judges[0].brier, np.mean((good - truth)[:120] ** 2))


def test_a_generous_judge_has_a_bias_above_zero(runs):
    # The first judge of the first recipe adds 1.5 to its log-odds.
    generous = [j.judges[0].bias.value for j, _, _ in runs[::3]]
    fair = [j.judges[1].bias.value for j, _, _ in runs[::3]]
    assert np.mean(generous) > np.mean(fair) + 0.05


@pytest.mark.parametrize("recipe", ["J3b", "J7flip"])
def test_votes_and_a_reversed_judge_leave_the_rate_valid_and_the_loss_low(recipe):
    # Study: the interval covers at least 94 %; shrunk is below the mean with 50 labels.
    rng, covered, gains = np.random.default_rng(6), [], []
    for draw in range(40):
        reports, truth = simulate(rng, items=600, **RECIPES[recipe])
        verdicts = Verdicts.from_panel(with_labels(reports, truth, 50))
        rate = event_rate(verdicts, verdicts.labels, verdicts.anchor, 0.95)
        covered.append(rate.low <= 0.6 <= rate.high)
        if draw < 5:
            pooled = learn_pool(verdicts, 0, scores=False)[1]
            losses = [np.square(p - truth)[50:] for p in (pooled, reports.mean(axis=1))]
            gains.append(losses[1].mean() - losses[0].mean())
    assert np.mean(covered) >= 0.95 - error(0.95, 40)
    assert np.mean(gains) > 0


# What is not claimed


def test_without_labels_the_pool_is_the_mean_of_the_log_odds():
    reports, truth = simulate(np.random.default_rng(0), items=100)
    jury = tp.jury(reports_only(reports))
    pool = LogOdds(clip=0.02).fit(reports, truth)
    assert_allclose(jury.pooled, pool.predict_proba(reports)[:, 1])
    assert (jury.rate, jury.cost, jury.pool) == (None, None, "log-odds")
    assert {judge.advice for judge in jury.judges} == {None}
    assert {shortage.needed for shortage in jury.withheld} == {10, 20}
    assert (jury.certificate.share, jury.certificate.labels_needed) == (0, 44)
    assert set(jury.decided_by) == {"person"}
    assert "there are 0." in printed(jury)
    assert "At least 44 labels, drawn at random" in printed(jury)


def test_a_rare_event_is_clipped_by_the_mean_verdict_where_nothing_is_labelled():
    verdicts = Verdicts.from_panel(
        reports_only(np.array([[0.0, 0.1], [0.0, 0.02]] * 5))
    )
    assert verdicts.clip == pytest.approx(0.003)
    assert Verdicts.from_panel(reports_only(np.zeros((5, 2)))).clip == 0.02


@pytest.mark.parametrize(("labels", "pool"), [(9, "log-odds"), (10, "shrunk")])
def test_the_pool_learns_from_ten_labels_on(labels, pool):
    reports, truth = simulate(np.random.default_rng(0), items=60)
    jury = tp.jury(with_labels(reports, truth, labels))
    assert jury.pool == pool
    if pool == "shrunk":
        fitted = Shrunk().fit(reports[:labels], truth[:labels])
        assert_allclose(
            jury.pooled[labels:], fitted.predict_proba(reports[labels:])[:, 1]
        )


def test_a_labelled_item_is_pooled_by_what_other_labels_teach():
    reports, truth = simulate(np.random.default_rng(0), items=60)
    other = truth.copy()
    other[0] = 1 - truth[0]
    mine, turned = (tp.jury(with_labels(reports, y, 40)) for y in (truth, other))
    fitted = Shrunk().fit(reports[:40], truth[:40]).predict_proba(reports[:1])[0, 1]
    assert mine.pooled[0] != pytest.approx(fitted, abs=1e-9)
    assert mine.decisions[0] == truth[0] != turned.decisions[0]


@pytest.mark.parametrize("labels", [19, 20])
def test_rates_and_judges_are_spoken_of_from_twenty_labels_on(labels):
    reports, truth = simulate(np.random.default_rng(0), items=60)
    jury = tp.jury(with_labels(reports, truth, labels))
    said = [jury.rate, jury.cost, jury.judges[0].bias, jury.judges[0].credit]
    assert all((value is not None) == (labels == 20) for value in said)
    assert len(jury.withheld) == (0 if labels == 20 else 2)


def test_too_few_pairs_are_counted_and_not_tested():
    reports = np.full((12, 3), 0.6)
    reports[3:, 1] = np.nan
    table = reports_only(reports, ("a", "b", "c"))
    jury = tp.jury(table, swapped=[("a", "b")])
    assert (jury.order_bias[0].items, jury.order_bias[0].bias) == (3, None)
    again = tp.jury(table, repeated=[("a", "b")])
    assert (again.repetitions[0].items, again.repetitions[0].flips) == (3, None)
    assert "too few pairs in both orders: 10 are needed, there are 3" in printed(jury)
    assert "too few items asked twice: 10 are needed" in printed(again)


def test_labels_that_are_no_random_sample_are_noticed(one):
    reports, truth = simulate(np.random.default_rng(0), items=400)
    order = np.argsort(reports.mean(axis=1))
    jury = tp.jury(with_labels(reports[order], truth[order], 100))
    assert jury.selective
    assert not one.selective
    assert "not a random sample" in " ".join(printed(jury).split())
    assert jury.certificate is None
    assert set(jury.decided_by) == {"label", "person"}
    assert "need labels of items drawn at random" in " ".join(printed(jury).split())
    within = tp.jury(with_labels(reports[order], truth[order], 100), budget=50)
    assert (within.decided_by == "automatic").sum() == 250  # as it was asked to
    assert not tp.jury(tp.Panel(reports, truth)).selective


# Items


def test_the_items_come_in_the_order_of_the_table():
    labels = [1, None, 0, None, None, 1]
    table = pa.table(
        {"id": list("abcdef"), "x": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "y": labels}
        | {"z": [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]}
    )
    jury = tp.jury(tp.read_panel(table))
    assert jury.ids.tolist() == list("abcdef")
    known = [by == "label" for by in jury.decided_by]
    assert known == [label is not None for label in labels]
    assert jury.decisions[known].tolist() == [1, 0, 1]
    panel = tp.Panel([[0.1, 0.2], [0.4, 0.5]], [0, 1])
    again = tp.jury(panel.with_pending([[0.2, 0.3]]))
    assert again.ids.tolist() == [0, 1, 2]
    named = tp.Panel(panel.reports, [0, 1], ids=["a", "b"])
    assert tp.jury(named.with_pending([[0.2, 0.3]])).ids.tolist() == [0, 1, 2]


def test_a_person_gets_the_items_with_the_largest_expected_cost():
    reports = np.array([[0.02, 0.02], [0.3, 0.3], [0.95, 0.95], [0.5, 0.5]])
    jury = tp.jury(reports_only(reports), costs=tp.Costs(10, 1), budget=2)
    assert jury.decided_by.tolist() == ["automatic", "person", "automatic", "person"]
    assert jury.decisions.tolist() == [0, 1, 1, 1]
    assert jury.review.cost_left == pytest.approx(0.25 / 1.45)
    assert tp.jury(reports_only(reports), budget=9).review.items == 4
    assert "leaves 17.2 % of the cost" in " ".join(printed(jury).split())


def test_a_fifth_of_the_items_for_a_person_leaves_the_cost_of_the_study():
    # Study, 17 panels: 57 % by expected cost, 71 % by margin, 80 % at random.
    rng, costs, left = np.random.default_rng(9), tp.Costs(10, 1), []
    for recipe in RECIPES.values():
        reports, truth = simulate(rng, items=1000, **recipe)
        jury = tp.jury(reports_only(reports), costs=costs, budget=len(truth) // 5)
        cost = np.where(truth, 10 * (jury.decisions == 0), jury.decisions == 1)
        by_margin = np.argsort(abs(jury.pooled - 0.5))[len(truth) // 5 :]
        kept = [jury.decided_by == "automatic", by_margin]
        left.append([cost[items].sum() / cost.sum() for items in kept])
    by_cost, margin = np.mean(left, axis=0)
    assert_allclose(by_cost, 0.57, atol=0.06)
    assert by_cost + 0.05 < margin < 0.8


def test_what_is_certified_is_decided_as_it_was_tested():
    reports, truth = simulate(np.random.default_rng(1), skill=(2.0, 3.0), items=500)
    costs = tp.Costs(20, 1)
    jury = tp.jury(with_labels(reports, truth, 200), costs=costs)
    sure = jury.decided_by == "automatic"
    anchor = Verdicts.from_panel(reports_only(reports)).anchor
    assert sure.mean() > 0.3
    assert_array_equal(jury.decisions[sure], anchor[sure] > costs.threshold)
    # A person gets those whose decision is most likely wrong, among them all alarms
    # between the threshold and one half.
    right = np.where(anchor > costs.threshold, anchor, 1 - anchor)
    assert right[sure].min() > right[jury.decided_by == "person"].max()
    assert "may be decided without a person" in printed(jury)


def test_items_to_label_next_have_weights_that_sum_to_all_unlabelled_items():
    reports, truth = simulate(np.random.default_rng(1), items=300)
    jury = tp.jury(with_labels(reports, truth, 50), label_next=30)
    weights = jury.columns()["label_weight"]
    assert (~np.isnan(weights)).sum() == 30
    assert np.nansum(weights) == pytest.approx(250)
    assert np.isnan(weights[:50]).all()
    assert "30 items chosen to label next" in printed(jury)


def buy_labels(rng, recipe, labels=30, bought=30):
    """Random labels, then those that the jury asks for: panel, weights, true rate."""
    reports, truth = simulate(rng, items=400, **RECIPES[recipe])
    plan = tp.jury(with_labels(reports, truth, labels), label_next=bought).plan
    cases = np.concatenate([np.arange(labels), plan.cases])
    rest = np.setdiff1d(np.arange(len(truth)), cases)
    panel = tp.Panel(reports[cases], truth[cases]).with_pending(reports[rest])
    return panel, np.append(np.full(labels, np.nan), plan.weights), truth.mean()


def test_bought_labels_that_come_back_with_their_weights_keep_the_rate_unbiased():
    rng, covered, off = np.random.default_rng(8), [], []
    for _ in range(12):
        for recipe in ("J5g", "J7bias"):
            panel, weights, truth = buy_labels(rng, recipe)
            rate = event_rate(
                of := Verdicts.from_panel(panel, weights), of.labels, of.anchor, 0.95
            )
            covered.append(rate.low <= truth <= rate.high)
            # Two pseudo-labels of each kind pull by their share of the labels.
            pull = (2 - 4 * rate.estimate) / 60
            off.append(rate.estimate - pull - truth)
    assert np.mean(covered) >= 0.95 - error(0.95, 24)
    assert abs(np.mean(off)) < 3 * np.std(off) / np.sqrt(24) + 0.005


def test_only_labels_drawn_at_random_certify_items():
    panel, weights, _ = buy_labels(np.random.default_rng(2), "J5g")
    jury = tp.jury(panel, label_weights=weights)
    assert jury.certificate.labels <= 30 < jury.labelled
    assert (jury.random_labels, jury.chosen_labels) == (30, 30)
    assert jury.sample_p_value is not None
    assert tp.jury(panel, label_weights=np.ones(60)).sample_p_value is None
    equal = tp.jury(panel, label_weights=np.full(60, 7.0))
    assert equal.rate == tp.jury(panel).rate
    assert jury.rate != equal.rate
    assert tp.jury(panel, label_weights=np.full(60, 1e200)).rate == equal.rate
    assert jury.judges[0].bias != equal.judges[0].bias


def test_what_more_labels_would_allow_counts_only_labels_drawn_at_random():
    panel, weights, _ = buy_labels(np.random.default_rng(4), "J5g", labels=60)
    jury = tp.jury(panel, label_weights=weights, label_next=20)
    assert jury.certificate.outlook == "possible"
    needed = jury.certificate.labels_needed
    text = " ".join(printed(jury).split())
    assert "5 judges, 400 items, 90 labels (60 drawn at random and 30 chosen)" in text
    assert "labels drawn at random decided without a person" in text
    assert " 60 (now) " in text
    assert f"About {needed} labels in all, drawn at random, would allow more" in text
    random, chosen = steps(jury)[:2]
    assert random.endswith(f"label about {needed} in all, drawn at random.")
    assert chosen.startswith("Label the 20 chosen items, and give the labels back")
    assert chosen.endswith(
        "only labels drawn at random allow more decisions without a person."
    )
    page = html(jury)
    assert "<dt>labels drawn at random</dt><dd>60</dd>" in page
    assert "<dt>labels chosen</dt><dd>30</dd>" in page


def test_both_orders_of_a_judge_count_as_one_judge_without_the_bias():
    rng = np.random.default_rng(0)
    log_odds = rng.normal(size=(50, 2))
    both = np.column_stack([log_odds[:, 0] + 1, log_odds[:, 0] - 1, log_odds[:, 1]])
    table = reports_only(expit(both), ("a", "b", "c"))
    jury = tp.jury(table, swapped=[("a", "b")])
    assert [judge.name for judge in jury.judges] == ["a", "c"]
    clipped = np.clip(log_odds, -3.8, 3.8)
    assert_allclose(jury.pooled, expit(clipped.mean(axis=1)), atol=0.03)


def test_the_orders_of_a_judge_without_colleagues_stay_two_columns():
    table = reports_only(np.full((20, 2), 0.6), ("a", "b"))
    jury = tp.jury(table, swapped=[("a", "b")])
    assert len(jury.judges) == 2
    assert (jury.order_bias[0].bias.value, jury.order_bias[0].p_value) == (0, 1)


def test_a_judge_without_colleagues_is_counted_once_whatever_its_columns():
    reports = np.random.default_rng(0).random((40, 1)).repeat(2, axis=1)
    jury = tp.jury(reports_only(reports, ("a", "b")), swapped=[("a", "b")])
    assert repr(jury) == "Jury(1 judge, 40 items, 0 labelled)"
    text = " ".join(printed(jury).split())
    assert "1 judge (2 columns), 40 items, 0 labels" in text
    assert "All columns are answers of one judge, and there is no other." in text
    assert "<dt>judges</dt><dd>1</dd>" in html(jury)
    assert jury.copies == ()
    assert "agree nearly always" not in text


def test_the_table_of_items_has_no_rounding_errors():
    jury = tp.jury(reports_only(np.array([[0.3, 0.3], [0.7, 0.7], [0.1, 0.1]])))
    assert jury.columns()["pooled"].tolist() == [0.3, 0.7, 0.1]
    assert jury.pooled.tolist() != [0.3, 0.7, 0.1]


def test_no_more_labels_are_asked_for_than_there_are_items():
    jury = tp.jury(reports_only(np.full((3, 2), 0.4)))
    assert steps(jury)[0] == (
        "Add at least 17 items with verdicts, and label all 20: the first statements "
        "need 20 labels."
    )
    assert "can choose 3 items to label next" in html(jury)
    assert steps(tp.jury(reports_only(np.full((20, 2), 0.4))))[0] == (
        "Label 20 more items, drawn at random."
    )


@pytest.mark.parametrize(
    ("costs", "total", "prices"),
    [
        (tp.Costs(), "the cost of [0-9]+ false alarms", "1, a false alarm 1."),
        (tp.Costs(fn=10, fp=2), "[0-9]+", "10, a false alarm 2."),
        (tp.Costs(fn=10, currency="EUR"), "[0-9]+ EUR", "10 EUR, a false alarm 1 EUR."),
    ],
)
def test_the_cost_is_one_per_thousand_items_in_its_unit(costs, total, prices):
    reports, truth = simulate(np.random.default_rng(1), items=300)
    text = " ".join(
        printed(tp.jury(with_labels(reports, truth, 100), costs=costs)).split()
    )
    found = re.search(
        f"decisions add up to {total} per 1,000 items \\(95 % interval [0-9]+ to "
        r"[0-9,]+\). A missed item costs (.*?) -",
        text,
    )
    assert found[1] == prices


def test_a_judge_who_never_answered_is_listed():
    reports, truth = simulate(np.random.default_rng(1), items=100)
    reports[:, 2] = np.nan
    jury = tp.jury(with_labels(reports, truth, 40))
    assert (jury.judges[2].answered, jury.judges[2].accuracy) == (0.0, None)
    assert "0.0 %" in printed(jury)


# What is shown


def test_a_jury_is_ready_for_json_and_markdown(one):
    assert json.loads(json.dumps(one.to_dict(), allow_nan=False))["labelled"] == LABELS
    page = one.to_markdown()
    assert "\n**5 judges, 400 items, 60 labels**\n" in page
    assert "| judge | answered | credit x 1000 | advice |" in page
    assert repr(one) == "Jury(5 judges, 400 items, 60 labelled)"
    constant = tp.jury(reports_only(np.full((4, 2), 0.5)))
    assert json.loads(json.dumps(constant.to_dict()))["effective_judges"] is None


def test_a_jury_fits_eighty_columns(runs):
    for jury, _, _ in runs[:5]:
        assert max(map(len, printed(jury).splitlines())) <= 80


# Scores and crowds


def lenient_scores(rng, items):
    """Judges who give 4 or 5 to nearly everything, and what is true."""
    reports, truth = simulate(rng, items=items, **RECIPES["J5g"])
    return np.digitize(reports, [0.05, 0.15, 0.25, 0.45]) / 4, truth


def test_a_rising_curve_says_what_each_score_is_worth():
    scores, truth = lenient_scores(np.random.default_rng(0), 3000)
    jury = tp.jury(with_labels(scores, truth, 2000), scores=(1, 5))
    found = dict(jury.score_scale)
    assert list(found) == [1, 2, 3, 4, 5]
    assert list(found.values()) == sorted(found.values())
    seen = truth[:2000, None].repeat(5, axis=1)[scores[:2000] == 0.75].mean()
    assert_allclose(found[4], seen, atol=0.03)  # equal steps would say 0.75
    assert found[4] < 0.5
    assert "What each score is worth" in printed(jury)
    assert jury.to_dict()["score_scale"][3]["score"] == 4


def test_the_curve_costs_next_to_nothing_where_labels_are_few():
    rng, gains = np.random.default_rng(5), []
    for _ in range(8):
        scores, truth = lenient_scores(rng, 500)
        panel = with_labels(scores, truth, 15)
        losses = [
            np.square(
                learn_pool(Verdicts.from_panel(panel), 0, scores=mapped)[1] - truth
            )[15:]
            for mapped in (False, True)
        ]
        gains.append(losses[0].mean() - losses[1].mean())
    assert np.mean(gains) > -0.002


def test_runs_of_a_judge_add_no_scores_between_the_scores():
    scores, truth = lenient_scores(np.random.default_rng(0), 100)
    scores = np.column_stack([scores, np.roll(scores[:, 0], 1)])
    panel = with_labels(scores, truth, 60)
    jury = tp.jury(panel, scores=(1, 5), repeated=[("agent0", "agent5")])
    assert {score for score, _ in jury.score_scale} <= {1, 2, 3, 4, 5}
    halves = tp.jury(panel, scores=(0.5, 0.6))
    assert len(halves.score_scale) >= 5


def test_one_score_for_all_items_is_a_flat_curve():
    scale = fit_scale(np.full((20, 2), 0.75), np.array([0, 1] * 10))
    assert_allclose(scale.probabilities, [0, (10 + 4 * 0.75) / 24, 1])
    assert scale.apply(np.array([[np.nan]])).shape == (1, 1)


def test_scores_without_labels_count_in_equal_steps():
    scores, _ = lenient_scores(np.random.default_rng(0), 50)
    jury = tp.jury(reports_only(scores), scores=(1, 5))
    assert_array_equal(jury.pooled, tp.jury(reports_only(scores)).pooled)
    assert jury.score_scale == []


def sparse_crowd(rng, items=600, workers=40, votes=3):
    """A few votes per item by workers of very different skill, and what is true."""
    truth = (rng.random(items) < 0.4).astype(int)
    skill = rng.uniform(0.4, 0.98, workers)
    reports = np.full((items, workers), np.nan)
    for t in range(items):
        who = rng.choice(workers, votes, replace=False)
        reports[t, who] = np.where(
            rng.random(votes) < skill[who], truth[t], 1 - truth[t]
        )
    return reports, truth


def test_a_sparse_crowd_is_pooled_better_by_how_often_each_voter_errs():
    reports, truth = sparse_crowd(np.random.default_rng(4))
    plain, crowd = (
        tp.jury(reports_only(reports), pool=pool) for pool in ("log-odds", "crowd")
    )
    losses = [np.square(jury.pooled - truth).mean() for jury in (plain, crowd)]
    assert losses[1] < 0.8 * losses[0]
    assert crowd.pool == "crowd"
    few = tp.jury(with_labels(reports, truth, 50), pool="crowd")
    assert few.pool == "shrunk + crowd"
    assert np.square(few.pooled - truth)[50:].mean() < losses[0]
    # No label has touched what the rate rests on.
    mine, turned = (
        Verdicts.from_panel(with_labels(reports, y, 50), by_votes=True)
        for y in (truth, 1 - truth)
    )
    assert_array_equal(mine.anchor, turned.anchor)
    assert few.rate.low < truth.mean() < few.rate.high


@needs("product-crowd")
def test_the_product_crowd_has_the_loss_of_the_study():
    # Study: votes .093, Dawid-Skene alone .057, with 50 labels as a feature .063.
    panel = tp.datasets.product_crowd()
    order = np.random.default_rng(0).permutation(len(panel))
    reports, truth = panel.reports[order], panel.outcomes[order]
    assert_allclose(
        np.square(np.nanmean(reports, axis=1) - truth).mean(), 0.093, atol=2e-3
    )
    verdicts = Verdicts.from_panel(with_labels(reports, truth, 50), by_votes=True)
    assert_allclose(np.square(verdicts.anchor - truth).mean(), 0.057, atol=6e-3)


@needs("judgebench")
def test_judgebench_keeps_the_language_model_and_finds_its_order_bias():
    panel = tp.datasets.judgebench()
    order = np.random.default_rng(0).permutation(len(panel))
    few = panel.take(order[:100]).with_pending(panel.reports[order[100:]])
    jury = tp.jury(few, swapped=[panel.agents[5:7]])
    assert [judge.advice for judge in jury.judges][-1] == "keep"
    assert jury.order_bias[0].p_value < 0.001
    assert 0.1 < jury.order_bias[0].bias.value < 0.4
    assert jury.rate.low < panel.outcomes.mean() < jury.rate.high
    assert 2.3 < jury.effective_judges < 3
    assert jury.copies == ()
    assert jury.certificate.share == 0
    text = " ".join(printed(jury).split())
    assert "More labels are unlikely to allow more decisions without one" in text


# Bad input

TABLE = reports_only(np.full((4, 2), 0.5), ("ann", "bob"))


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"swapped": [("ann", "bop")]}, AgentError, "no judge 'bop' .did you mean"),
        ({"swapped": [("ann", "bob")], "repeated": [("ann", "bob")]}, SettingError,
         "'ann' is named twice"),
        ({"costs": tp.Costs(fn="amount")}, CostError, "Write Costs"),
        ({"costs": tp.Costs(tp=-1)}, CostError, "one cost of a missed item"),
        ({"level": 1.0}, SettingError, "level must lie between"),
        ({"budget": 0}, SettingError, "at least 1 item; got 0"),
        ({"label_next": 9}, SettingError, "the number of items without a label, 4; got 9"),
        ({"max_error": 1.5}, SettingError, "max_error must lie between"),
        ({"pool": "vcg"}, SettingError, "must be log-odds or crowd; got 'vcg'"),
        ({"seed": -1}, SettingError, "a seed must be a whole number"),
        ({"seed": 1.5}, SettingError, "a seed must be a whole number"),
        ({"seed": "a"}, SettingError, "a seed must be a whole number"),
    ],
)  # fmt: skip
def test_bad_settings_are_refused_in_one_sentence(settings, kind, message):
    with pytest.raises(kind, match=message):
        tp.jury(TABLE, **settings)


@pytest.mark.parametrize("weights", [[1.0], [0.0, 1.0], [np.inf, 1.0]])
def test_weights_that_no_label_can_have_are_refused(weights):
    with pytest.raises(SettingError, match="label weights must be numbers above 0"):
        tp.jury(tp.Panel([[0.5, 0.5]] * 2, [0, 1]), label_weights=weights)


def test_labels_that_contradict_each_other_are_refused():
    panel = tp.Panel([[0.5, 0.4]] * 3, [0, 1, 1], ids=["a", "a", "b"])
    with pytest.raises(OutcomeError, match="item 'a' has 0 and 1. Correct one"):
        tp.jury(panel)
    assert len(tp.jury(tp.Panel(panel.reports, [0, 0, 1], ids=panel.ids))) == 3


def test_what_is_no_jury_is_refused():
    with pytest.raises(PanelError, match="needs a Panel.*got list"):
        tp.jury([[0.5]])
    with pytest.raises(PanelError, match="got 3 classes"):
        tp.jury(tp.Panel(np.full((3, 2, 3), 1 / 3), [0, 1, 2]))
    panel = tp.Panel([[0.5, 0.5]] * 2, [0, 1]).with_pending([[np.nan, np.nan]])
    with pytest.raises(PanelError, match="item 2 has none"):
        tp.jury(panel)
    with pytest.raises(PanelError, match="the panel has weights"):
        tp.jury(tp.Panel([[0.5, 0.5]] * 2, [0, 1], weights=[1, 2]))
