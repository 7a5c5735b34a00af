"""The page of a jury: what to do first, then the evidence, and nothing that runs."""

import re
from dataclasses import replace

import numpy as np
import pytest
from simulated_juries import RECIPES, simulate, with_labels

import truepool as tp
from truepool.tables import ReportTable
from truepool_jury.render.advice import MAX_NAMED, headline, steps
from truepool_jury.render.page import MAX_ITEMS, html

HOSTILE = "</style><script>alert(1)</script>"


def analyse(labels=100, judges=None, items=300, recipe="J9g", **settings):
    reports, truth = simulate(np.random.default_rng(1), items=items, **RECIPES[recipe])
    names = judges or tuple(f"judge{i}" for i in range(reports.shape[1]))
    if not labels:
        return tp.jury(ReportTable(reports, names, None, None), **settings)
    panel = tp.Panel(reports[:labels], truth[:labels], agents=names)
    return tp.jury(panel.with_pending(reports[labels:]), **settings)


@pytest.fixture(scope="module")
def page():
    names = (HOSTILE, *(f"judge{i}" for i in range(1, 9)))
    return html(analyse(judges=names, label_next=20, swapped=[("judge3", "judge4")]))


def order(page, *words):
    places = [page.index(word) for word in words]
    assert places == sorted(places)


def test_the_page_says_what_to_do_before_it_shows_why(page):
    order(
        page, "How far can this jury be relied on?", "What is the true rate?",
        "Which judges earn a place?", "Are the verdicts calibrated?",
        "Do judges repeat each other?", "Does the order matter",
        "What should a person look at?", "What to label next?", "How this was computed",
    )  # fmt: skip


def test_the_page_runs_and_loads_nothing_that_a_judge_is_called(page):
    assert HOSTILE not in page
    assert page.count("<script>") == 1
    assert "default-src 'none'" in page
    assert not re.search(r'(?:src|href)="(?!#)', page)


def test_every_judge_has_its_credit_its_slope_and_its_curve(page):
    for judge in range(1, 9):
        assert f'<th scope="row">judge{judge}</th>' in page or judge == 4
    assert page.count("Reliability diagram of") == 8
    assert "Rise" not in page
    assert "label_weight" in page


def test_long_lists_are_cut_and_say_so(page):
    assert (
        f"The {MAX_ITEMS} with the largest expected cost; the table of items has all."
        in page
    )
    assert f"And {20 - MAX_ITEMS} more; the table of items has all." in page
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 100)
    reports = np.clip(truth[:, None] * 0.5 + rng.random((100, 14)) / 2, 0, 1)
    crowd = tp.jury(with_labels(reports, truth, 60))
    assert "The 12 least calibrated of 14 judges." in html(crowd)
    kept = tuple(replace(judge, advice="keep") for judge in crowd.judges)
    found = steps(replace(crowd, judges=kept))
    assert any(f"agent4 and {14 - MAX_NAMED} more: without" in step for step in found)


def test_without_labels_the_page_asks_for_them():
    jury = analyse(labels=0, items=60)
    assert headline(jury).startswith("Too few labels to assess this jury: 0 of the 20")
    assert steps(jury)[0] == "Label 20 more items, drawn at random."
    page = html(jury)
    assert "calibrated?" not in page
    assert "true rate</dt>" not in page
    assert "Too few labels for the true rate and the cost" in page


def test_with_few_labels_no_curve_is_drawn():
    page = html(analyse(labels=25, items=80))
    assert "There are too few labels to draw it." in page


def test_the_headline_says_how_much_needs_no_person():
    sharp = {"skill": (2.0, 3.0), "items": 400}
    reports, truth = simulate(np.random.default_rng(1), **sharp)
    jury = tp.jury(with_labels(reports, truth, 200))
    share = jury.certificate.share
    assert 0.5 <= share < 1
    promise = (
        "may be decided without a person: at most 10 % errors, with 90 % confidence."
    )
    assert headline(jury) == f"{100 * share:.1f} % of items {promise}"
    assert any("To decide more items" in step for step in steps(jury))
    perfect = np.where(truth, 0.9, 0.1)[:, None].repeat(2, axis=1)
    whole = tp.jury(with_labels(perfect, truth, 200))
    assert headline(whole) == f"All items {promise}"
    assert "100.0 % of items may be decided" in html(whole)
    assert "Items for a person" not in html(whole)
    assert not any("to a person" in step for step in steps(whole))
    done = tp.jury(tp.Panel(reports[:, :2] * 0 + 0.5, truth))
    assert steps(done) == ["Nothing: every item has a label, and no judge has to go."]


def test_with_a_budget_the_headline_promises_no_bound():
    jury = analyse(budget=30)
    assert headline(jury) == (
        "170 items decided without a person, at the lowest expected cost; within a "
        "budget no bound on errors is promised."
    )
    assert "Send 30 items to a person, those with the largest expected cost." in steps(
        jury
    )


def test_labels_that_are_no_random_sample_come_first():
    reports, truth = simulate(np.random.default_rng(0), items=300)
    by_mean = np.argsort(reports.mean(axis=1))
    jury = tp.jury(with_labels(reports[by_mean], truth[by_mean], 80))
    assert headline(jury).startswith("Do not rely on the rate")
    assert steps(jury)[0].startswith("Label items that are drawn at random")
    assert '<p class="verdict warning">' in html(jury)


def test_copies_biased_orders_and_harmful_judges_are_named():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    good = np.clip(0.8 * truth + 0.1 + rng.normal(0, 0.1, 300), 0, 1)
    noise = rng.random(300)
    swapped = np.clip(noise + 0.3, 0, 1)
    reports = np.column_stack([good, good, 1 - good, noise, swapped])
    panel = tp.Panel(reports[:120], truth[:120], agents=tuple("abcde"))
    jury = tp.jury(panel.with_pending(reports[120:]), swapped=[("e", "d")])
    found = " ".join(steps(jury))
    assert "Drop c, e: without them the mean verdict is significantly better." in found
    assert "Of near-copies keep one: a or b." in found
    assert "Keep asking about each pair in both orders (e)" in found


def test_scores_are_explained_beside_the_calibration():
    reports, truth = simulate(np.random.default_rng(1), items=200)
    scores = np.round(reports * 4) / 4
    page = html(tp.jury(with_labels(scores, truth, 80), scores=(1, 5)))
    order(page, "Are the verdicts calibrated?", "What each score is worth")
