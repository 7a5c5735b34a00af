import io

import pytest
from rich.console import Console

from truepool.pages import figures
from truepool.panel.costs import Costs
from truepool_lab.games import Game, sweep
from truepool_lab.render import game_paths, tables

COSTS = Costs(fn=10, fp=1)
GAME = Game(threshold=0.3, costs=COSTS, cases=500)


def shown(grid, width=120):
    page = io.StringIO()
    grid.print(Console(file=page, width=width))
    return page.getvalue()


def test_ends_are_laid_out_with_prices_and_intervals():
    ends = [GAME.solve("brier"), GAME.solve("vcg")]
    page = shown(tables.grid(ends, GAME, GAME.draw()))
    notes = " ".join(page.split())
    assert "5 agents, correlation 0.49, base rate 0.29, offset 0.000" in page
    assert "1.00 [1.00, 1.00]" in page
    assert "threshold for these costs is 0.091" in notes
    for end in ends:  # as JSON and Python count them
        assert f"after {end.rounds} rounds" in page
        assert end.to_dict()["rounds"] == end.rounds
        assert f"converged after {end.rounds} rounds" in repr(end)
    assert "[+.00, +.50]" in page
    assert "the lowest and highest shift" in notes
    assert "did not converge" not in notes


@pytest.mark.parametrize("width", [80, 140])
def test_only_columns_that_are_shown_are_explained(width):
    page = shown(tables.grid([GAME.solve("vcg")], GAME, GAME.draw()), width)
    head, _, notes = page.partition("\nvcg")
    for column, label in {
        "shift": "Shift: ",
        "missed": "Missed, truthful: ",
        "false alarms": "False alarms: ",
        "cost": "Cost: ",
        "converged": "Converged: ",
    }.items():
        assert (f" {column} " in head) == (label in notes)
    assert ("Converged: " in notes) == (width == 140)


def test_the_costs_own_threshold_needs_no_remark():
    game = Game(costs=COSTS, cases=200)
    assert "threshold for these costs" not in shown(
        tables.grid([game.solve("wsu")], game, game.draw())
    )


def test_games_that_did_not_converge_are_marked():
    circle = GAME.solve("vcg", order="simultaneous")
    page = shown(tables.grid([circle, GAME.solve("vcg", rounds=1)], GAME, GAME.draw()))
    assert "no, cycle of 2" in page
    assert "did not converge" in " ".join(page.split())


@pytest.mark.filterwarnings("ignore::truepool_lab.games.ClippedBeliefsWarning")
def test_an_undefined_price_is_called_so():
    game = Game(offset=0.36, threshold=0.3, cases=300)
    page = shown(tables.grid([game.solve("brier")], game, game.draw()))
    assert "undefined " in page
    found = sweep(game, {"offset": [0.36]}, ["brier"])
    assert "undefined" in shown(tables.sweep_grid(found))


def test_a_price_that_some_resample_leaves_undefined_has_no_interval():
    game = Game(threshold=0.05, cases=60)
    end = next(
        e for e in (game.solve("vcg", seed=s) for s in range(50))
        if e.poa is not None and e.intervals()["poa"] is None
    )  # fmt: skip
    line = next(x for x in shown(tables.grid([end], game, game.draw())).splitlines()
                if x.startswith("vcg"))  # fmt: skip
    assert "[" not in line


@pytest.mark.parametrize("repetitions", [1, 3])
def test_a_sweep_fits_eighty_columns(repetitions):
    found = sweep(GAME, {"rho": [0.2, 0.5]}, ["vcg"], repetitions=repetitions)
    page = shown(tables.sweep_grid(found), width=80)
    assert max(map(len, page.splitlines())) <= 80
    assert ("±" in page) == (repetitions > 1)
    assert "Left out for lack of width" in page


def test_a_sweep_is_drawn_with_one_line_per_payment_and_setting(tmp_path):
    found = sweep(GAME, {"tau": [0.1, 0.3, 0.5], "n": [2, 3]}, ["brier", "vcg"])
    page = game_paths.sweep(found)
    top, bottom = page.axes
    labels = [text.get_text() for text in top.get_legend().get_texts()]
    assert labels == [
        "brier, agents 2", "vcg, agents 2", "brier, agents 3", "vcg, agents 3",
    ]  # fmt: skip
    assert bottom.get_yscale() == "log"
    assert bottom.get_xlabel() == "threshold"
    figures.save(page, tmp_path / "sweep.svg")
    assert "svg" in (tmp_path / "sweep.svg").read_text()[:200]


def test_words_can_be_swept_over_and_drawn(tmp_path):
    page = game_paths.sweep(sweep(GAME, {"sees": ["none", 1, "all"]}, ["brier"]))
    figures.save(page, tmp_path / "sees.png")
    assert page.axes[1].get_yscale() == "linear"


def test_rounds_are_drawn_for_each_payment():
    page = game_paths.shifts([GAME.solve("vcg"), GAME.solve("brier")])
    assert len(page.axes) == 2
    assert len(page.axes[0].lines) == 5 + 2  # agents, their mean, and zero


def test_an_end_is_told_with_its_intervals():
    result = tables.to_dict(GAME.solve("vcg"))
    assert result["intervals"]["fn"][0] <= result["fn"] <= result["intervals"]["fn"][1]
