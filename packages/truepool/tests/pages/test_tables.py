import io
import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel
from rich.console import Console

from truepool import audit, compare, replay
from truepool.comparison import Estimate
from truepool.core.errors import SourceError
from truepool.pages import comparison, figures, weights
from truepool.pages import replay as replays
from truepool.pages.audit import page as layout
from truepool.pages.wording import Speaker
from truepool.panel.costs import Costs
from truepool.panel.labels import Labels
from truepool.panel.panel import Panel
from truepool.pools.interface.result import Explanation


def shown(grid):
    page = io.StringIO()
    grid.print(Console(file=page, width=120))
    return page.getvalue()


def test_a_comparison_the_mean_wins_says_so():
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 300)
    reports = np.clip(
        0.2 + 0.6 * outcomes[:, None] + rng.normal(size=(300, 6)) * 0.3, 0, 1
    )
    result = compare(
        Panel(reports, outcomes), pools=["best-agent"], loss="brier", resamples=50
    )
    assert result.rows[0].pool == "mean"
    assert "nothing beats the plain mean here" in shown(comparison.grid(result))


def test_a_lead_that_chance_may_explain_is_called_so():
    result = compare(
        random_panel(0, cases=30, skill=0.3), resamples=50, pools=["vcg", "platt"]
    )
    page = shown(comparison.grid(result))
    assert "not statistically significant" in page or "nothing beats" in page


def test_a_clear_lead_is_marked_with_a_star():
    panel = random_panel(3, cases=1500)
    result = compare(panel, pools=["convex"], loss="brier", resamples=100)
    page = shown(comparison.grid(result))
    assert "significantly lower (adjusted p < 0.001)" in page
    assert "] *" in page


def test_a_narrow_terminal_shows_what_matters_most():
    result = compare(random_panel(3), pools=["convex"], loss="brier", resamples=20)
    page = io.StringIO()
    comparison.grid(result).print(Console(file=page, width=80))
    lines = page.getvalue().splitlines()
    assert any(line.startswith("convex") and "]" in line for line in lines)
    header = next(line for line in lines if line.startswith("pool"))
    assert header.split() == [
        "pool",
        "brier",
        "loss",
        "per",
        "case",
        "recall",
        "alarms",
    ]
    (said,) = re.findall(r"Left out.*\n?.*all\.", page.getvalue())
    assert "Left out for lack of width: 'against mean', 'against best agent'" in said
    assert "Recall: " in page.getvalue()
    assert "ECE: calibration error" not in page.getvalue()
    # As wide as it says, and not narrower, it is complete.
    width = int(re.search(r"COLUMNS=(\d+) shows all\.", said)[1])
    for columns, complete in ((width, True), (width - 1, False)):
        page = io.StringIO()
        comparison.grid(result).print(Console(file=page, width=columns))
        assert ("Left out" not in page.getvalue()) == complete
    page = io.StringIO()
    terminal = Console(file=page, width=80, force_terminal=True, color_system=None)
    comparison.grid(result).print(terminal)
    assert f"a terminal of {width} shows all." in " ".join(page.getvalue().split())


@pytest.mark.parametrize("credit", [None, {"ada": 0.01, "bob": -0.02}])
def test_weights_are_shown_heaviest_first(credit):
    page = shown(weights.grid({"ada": 0.2, "bob": 0.8}, credit, "brier"))
    assert page.index("bob") < page.index("ada")
    assert ("credit" in page) == (credit is not None)


def test_pools_that_were_tried_are_shown_with_their_scores():
    scores = {"vcg": 0.12344, "mean": 0.2}
    explanation = Explanation("auto", scores=scores, scored_by="log")
    (grid,) = weights.explanation_grids(explanation)
    assert grid.headers == ("pool", "log loss per case")
    assert grid.rows == (("vcg", "0.1234"), ("mean", "0.2"))


def test_a_replay_of_decisions_has_no_best_weights_to_show():
    summary = replay("hedge", random_panel(1), loss="cost").summary
    assert "best in hindsight" not in shown(replays.weights(summary))
    assert "-" in shown(replays.grid([summary]))


def test_the_weights_of_a_replay_are_drawn(tmp_path):
    page = figures.replay(replay("gradient", random_panel(1)))
    figures.save(page, tmp_path / "weights.png")
    assert (tmp_path / "weights.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    page = figures.replay(replay("hedge", random_panel(1)))
    monkeypatch.setattr("truepool.core.files.os.replace", full_disk)
    with pytest.raises(SourceError, match="cannot be written: No space left"):
        figures.save(page, tmp_path / "weights.svg")
    assert not list(tmp_path.iterdir())


def full_disk(*arguments, **options):
    raise OSError(28, "no space left")


def test_of_many_agents_the_largest_weights_are_printed():
    panel = random_panel(0, cases=6, agents=60)
    table = replays.weights(replay("static", panel).summary)
    assert len(table.rows) == 50
    assert table.notes == ("10 other agents share 16.7 %; --json lists all.",)


def starred(low, high, p_value):
    """How a difference to the mean is shown, given its interval and adjusted p."""
    result = compare(
        random_panel(0, cases=60), resamples=20, pools=["vcg"], loss="brier"
    )
    row = replace(
        result["vcg"], to_mean=Estimate(-0.1, low, high), p_mean=p_value, p_best=1.0
    )
    rows = (row, replace(result["mean"], p_mean=1.0, p_best=1.0))
    page = comparison.grid(replace(result, rows=rows))
    return page.rows[0][4], page.notes[-1]


def test_a_star_needs_an_interval_without_0_and_a_small_p_value():
    cell, verdict = starred(-0.2, -0.05, 0.001)
    assert cell.endswith("*")
    assert "significantly lower" in verdict
    for low, high, p_value in [(-0.2, 0.01, 0.001), (-0.2, -0.05, 0.2)]:
        cell, verdict = starred(low, high, p_value)
        assert "*" not in cell
        assert "not statistically significant" in verdict


def test_classes_are_called_by_their_labels():
    panel = random_panel(0, cases=90, classes=3)
    names = np.array(["green", "yellow", "red"])[panel.outcomes]
    panel = Panel(panel.reports, panel.outcomes).with_labels(
        Labels(("green", "yellow", "red"))
    )
    assert len(names) == 90
    costs = Costs(matrix=[[0, 1, 1], [1, 0, 1], [9, 1, 0]])
    result = compare(panel, costs=costs, pools=["mean"], resamples=20)
    page = shown(comparison.grid(result))
    assert "deciding green when it is red" in page
    assert "class 0" not in page


def test_no_class_of_three_is_called_positive_or_negative():
    """Recall is the mean over classes, and there is no share of false alarms."""
    panel = random_panel(0, cases=120, classes=3).with_columns(
        {"ward": ["a", "b"] * 60}
    )
    result = compare(panel, pools=["median"], by="ward", resamples=20)
    pages = [comparison.grid(result), comparison.groups(result)]
    audited = layout(Speaker.of(audit(panel, by="ward", resamples=20)))
    (section,) = (one for one in audited.sections if one.name == "segments")
    pages.append(section.parts[0])
    for page in pages:
        text = f"{page.headers} {page.notes}".lower()
        for word in ("positive", "negative", "alarms"):
            assert word not in text
        assert {len(row) for row in page.rows} == {len(page.headers)}
    for page in pages[:2]:
        words = " ".join(page.explanations())
        assert words.count("Recall: share of the cases of a class") == 1
    (row,) = [row for row in result.rows if row.pool == "mean"]
    decided = panel.reports.mean(axis=1).argmax(axis=1)
    recalls = [(decided[panel.outcomes == k] == k).mean() for k in range(3)]
    assert_allclose(row.recall, np.mean(recalls))
