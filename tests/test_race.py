"""The race at a small size; its page is what its rows give."""

import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from race import __main__ as race
from race import comparison, criteria, measurement, page, panels, sources
from race.comparison import MEAN, Results, paired_p_value
from race.libraries import Library, Peer, prepare
from race.measurement import OLD, OURS
from race.panels import JUDGING, PANELS

from truepool.core.engine import Batch, Cell, RowFile, run
from truepool.pools import auto, simplest

ROOT = Path(__file__).parents[1]
SMALL = ("diabetes-40", "wine-K3")
"""Panels of data that scikit-learn brings along."""
SCIKIT_LEARN = Library("scikit-learn", "scikit_learn", ())
ABSENT = "could not be installed: no such package"


def test_a_small_race_goes_from_panels_to_rows_to_a_page(tmp_path, monkeypatch):
    """Two panels, two draws; scikit-learn answers from the environment of the tests."""
    monkeypatch.setattr(measurement, "RUNS", 1)
    for pool in (auto, simplest):
        monkeypatch.setattr(pool, "CANDIDATES", ("mean", "log-odds"))
    cells = [Cell("race", (("panel", n),), draw) for draw in (0, 1) for n in SMALL]
    cells += [Cell("speed", (("panel", SMALL[0]),), 0)]
    file = RowFile(tmp_path / "rows.jsonl", "test")
    with Peer(SCIKIT_LEARN, Path(sys.executable), tmp_path) as peer:
        work = partial(measurement.measure, peers={"own": peer, "crowd-kit": ABSENT})
        run([Batch(work, cells, file)])

    draw = PANELS[SMALL[0]].draw(1)
    p, y = draw.reports.mean(axis=1), draw.outcomes
    rows = {row["name"]: row for row in file[cells[2]]}
    costs = [
        np.where(y == 1, ratio * (p <= 1 / (1 + ratio)), p > 1 / (1 + ratio)).mean()
        for ratio in (1, 5, 10)
    ]
    assert_allclose(rows[MEAN]["means"][:3], costs, rtol=1e-4)
    assert_allclose(rows[MEAN]["means"][4], np.square(p - y).mean(), rtol=1e-4)
    assert rows[OURS]["errors"] == [0.0] * 5
    assert len(rows[OLD]["means"]) == 5

    # The same question is answered from the file, without a process.
    with Peer(SCIKIT_LEARN, Path("no-such-python"), tmp_path) as peer:
        again = peer.ask(draw.learning, draw.reports)[MEAN]
    assert_allclose(again.pooled[:, 1], p, rtol=1e-12)

    rows = {cell: file[cell] for cell in cells}
    text, figures = page.render(rows, {"before": rows})
    assert "| before |" in text
    assert set(figures) == {"cost.svg", "panels.svg", "speed.svg"}
    assert f"crowd-kit failed in 4 draws (diabetes-40, wine-K3): {ABSENT}" in text
    headings = re.findall(r"^## (.*)$", text, re.M)
    assert headings[:2] == ["Where others win", "Verdict"]
    assert "| crowd-kit |" not in text  # a library without an answer has no figures


def test_a_peer_whose_process_ends_is_reported(tmp_path):
    draw = PANELS["diabetes-40"].draw(0)
    broken = Library(
        "metaforecast", "metaforecast_experts", ()
    )  # is not installed here
    with Peer(broken, Path(sys.executable), tmp_path) as peer:
        (answer,) = peer.ask(draw.learning, draw.reports).values()
    assert answer.error == "its process has ended"


def test_a_library_that_cannot_be_installed_says_so(tmp_path):
    wanted = Library("nowhere", "nowhere", ("/nowhere/at/all",))
    assert str(prepare(wanted, tmp_path)).startswith("could not be installed: ")


def test_no_case_is_asked_about_twice():
    panel = PANELS["diabetes-40"]
    y = sources.load("diabetes")[1]
    asked = [panel.draw(number) for number in range(panels.DRAWS)]
    assert sum(len(draw.outcomes) for draw in asked) == len(y)
    assert sum(draw.outcomes.sum() for draw in asked) == y.sum()
    assert all(len(draw.learning) == 40 for draw in asked)


@pytest.mark.parametrize("hard", ["adversarial", "miscalibrated", "sparse", "drift"])
def test_what_is_hard_changes_the_reports_only(hard):
    plain = panels.JudgingPanel("x", "wine", 6, 60).draw(0)
    changed = panels.JudgingPanel("x", "wine", 6, 60, hard).draw(0)
    assert_array_equal(plain.outcomes, changed.outcomes)
    assert_array_equal(plain.learning.outcomes, changed.learning.outcomes)
    differs = (plain.reports != changed.reports).any(axis=(0, 2))
    assert differs.sum() == {"adversarial": 2, "drift": 2}.get(hard, 6)
    assert (changed.learning.times is not None) == (hard == "drift")


def make_results(costs):
    """Rows of one panel with these costs (draws) by competitor, at every ratio."""
    draws = len(next(iter(costs.values())))
    return Results(
        {
            Cell("race", (("panel", "heart"),), r): [
                {"name": name, "means": [c[r]] * 5, "errors": [0.0] * 5, "ece": 0.0,
                 "cases": 100}
                for name, c in costs.items()
            ]
            for r in range(draws)
        }
    )  # fmt: skip


def test_the_best_peer_is_chosen_on_the_other_draws():
    """Each of two peers wins one draw by luck: on the draw that is left it loses."""
    found = make_results(
        {
            OURS: [2.0, 2.0],
            OLD: [9, 9],
            MEAN: [4.0, 4.0],
            "a": [1.0, 3.0],
            "b": [3.0, 1.0],
        }
    )
    assert found.best_peer == ("b", "a")
    assert [verdict.other for verdict in found.against_best()] == [3.0] * 3
    assert found.best_peer_costs() == 3 / 4
    assert found.cost(OURS) == 2 / 4


def test_where_a_peer_fails_the_mean_stands_in():
    cell = Cell("race", (("panel", "heart"),), 0)
    row = {"means": [1.0] * 5, "errors": [0.0] * 5, "ece": 0.1, "cases": 10}
    rows = [{"name": OURS, **row}, {"name": MEAN, **row, "means": [3.0] * 5}]
    found = Results({cell: [*rows, {"name": "c", "error": "no"}]})
    assert found.means["c"][0, 0, 0] == 3.0
    assert found.failures == {"c": [("heart", "no")]}
    assert found.peers == (MEAN,)


def test_the_test_rejects_five_percent_of_true_hypotheses():
    """Six draws of 50 cases without any difference, with and without effects of the draw."""
    rng = np.random.default_rng(0)
    for spread in (0.0, 0.5):
        cases = rng.normal(size=(2000, 6, 50)) + spread * rng.normal(size=(2000, 6, 1))
        errors = cases.std(axis=2, ddof=1) / np.sqrt(50)
        p = [
            paired_p_value(d, e, 300)
            for d, e in zip(cases.mean(axis=2), errors, strict=True)
        ]
        rejected = np.mean(np.array(p) < 0.05)
        # Four standard errors of a share of 5 %; the larger error makes it smaller.
        assert 0.01 < rejected < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.parametrize("name", SMALL)
def test_a_draw_that_is_measured_again_has_the_loss_of_its_row(name):
    cell = Cell("race", (("panel", name),), 0)
    rows = {row["name"]: row for row in race.stored()[0][cell]}
    draw = PANELS[name].draw(0)
    answer = measurement.pool_answer(measurement.configure(OURS), draw)
    found = measurement.row(
        OURS, answer, draw, measurement.case_losses(answer.pooled, draw)
    )
    # Last bits differ between machines; rows have five digits.
    assert_allclose(found["means"], rows[OURS]["means"], rtol=1e-3)
    mean = draw.reports.mean(axis=1)
    mean = np.column_stack([1 - mean, mean]) if mean.ndim == 1 else mean
    losses = measurement.case_losses(mean, draw).mean(axis=0)
    assert_allclose(losses, rows[MEAN]["means"], rtol=1e-3)


def test_data_sets_are_resampled_with_all_their_panels():
    ours, other = np.array([0.8, 0.8, 1.0]), np.ones(3)
    whole = comparison.advantage(ours, other, ["a", "b", "b"])
    assert whole[0] == comparison.advantage(ours, other)[0]
    # Two data sets: only one, both, or only the other.
    assert_allclose(whole[1:], [0.1, 0.2])
    names = {criteria.data_set(panel.name) for panel in JUDGING}
    assert len(names) == 9


def test_no_difference_is_not_significant():
    assert paired_p_value(np.zeros(3), np.zeros(3), 30) == 1.0
    assert paired_p_value(np.ones(3), np.zeros(3), 30) == 0.0


def test_the_page_is_what_the_rows_give():
    rows, earlier = race.stored()
    assert list(rows) == race.cells()
    text, figures = page.render(rows, earlier)
    assert text == (ROOT / "docs" / "race.md").read_text()
    for name in figures:
        assert (ROOT / "docs" / page.FIGURES / name).is_file()


def test_what_the_protocol_fixes_does_not_move():
    assert (panels.DRAWS, race.DEVELOPMENT_DRAWS, len(JUDGING)) == (6, 2, 25)
    assert (panels.MAX_NEW, panels.MAX_TRAINING, panels.DAYS) == (2_000, 2_500, 4)
    assert (measurement.RATIOS, measurement.CLIP) == ((1, 5, 10), 1e-6)
    assert comparison.LEVEL == 0.05
    targets = criteria.TARGET_PEER, criteria.TARGET_OLD, criteria.TARGET_WORSE
    assert targets == (0.02, 0.06, 0.05)
