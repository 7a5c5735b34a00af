"""The canonical game, and how its tables name what they hold."""

import json
import warnings

import numpy as np
import pytest

from truepool.core.engine import Cell
from truepool_lab.games import Game
from truepool_lab.paper import canonical_game
from truepool_lab.paper.canonical_game import (
    ABOVE,
    BELOW,
    CALIBRATED,
    game_cells,
    price_rows,
    row_name,
    solve,
)
from truepool_lab.paper.settings import COSTS

CELL = Cell("any", (("cases", 1000),), 0)


def test_the_canonical_game_is_that_of_sec_poa():
    game = canonical_game.CANONICAL
    assert (game.agents, game.correlation, game.mean, game.threshold) == (
        5,
        0.5,
        0.3,
        0.3,
    )
    assert game.costs == COSTS


def test_beliefs_hang_on_the_repeat_and_not_on_the_mechanism():
    brier, vcg = solve(CELL, "Brier"), solve(CELL, "VCG")
    assert brier.truthful_fn == vcg.truthful_fn
    again = solve(Cell("other", (("cases", 1000), ("n", 3)), 0), "Brier")
    assert again.fn == brier.fn
    next_one = solve(Cell("any", (("cases", 1000),), 1), "Brier")
    assert next_one.truthful_fn != brier.truthful_fn


def test_it_is_the_game_anyone_can_play():
    end = solve(CELL, "VCG", sees="none", agents=3, offset=0.01)
    game = Game(3, 0.5, 0.3, 0.01, 0.3, COSTS, 1000, outcomes="drawn")
    same = game.solve("vcg", seed=CELL.seed("beliefs"), sees="none")
    assert np.array_equal(end.shifts, same.shifts)
    assert end.fn == same.fn


def test_clipped_beliefs_are_told_in_the_reading_and_not_as_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(CELL, "Brier", offset=ABOVE)
    assert "+0.36, inferred from printed shifts" in canonical_game.offset_note(ABOVE)
    assert "(clipped to [0, 1]" in canonical_game.offset_note(ABOVE)


@pytest.mark.parametrize(
    ("size", "repeats", "cases"), [("quick", 4, 2000), ("full", 10, 10_000)]
)
def test_ten_repeats_and_fewer_at_reduced_size(size, repeats, cases):
    made = game_cells("any", size, {"n": [2, 3]})
    assert len(made) == 2 * repeats
    assert {cell["cases"] for cell in made} == {cases}


def test_prices_come_with_what_lies_behind_them():
    ends = {paid: solve(CELL, paid, offset=ABOVE) for paid in ("VCG", "Brier")}
    rows = price_rows("tab:poa", "n=5", ends, ABOVE, ABOVE, " PoA")
    found = {row["key"][0]: row["value"] for row in rows}
    assert found["Brier PoA"] is None
    assert found["truthful FN"] == 0
    assert found["Brier FN"] == ends["Brier"].fn > 0
    assert found["VCG shift"] == ends["VCG"].shift
    assert len(found) == len(rows) == 7
    assert json.loads(json.dumps(rows)) == rows


def test_calibrated_rows_are_not_those_of_the_paper():
    rows = price_rows(
        "tab:poa", "n=5", {"Brier": solve(CELL, "Brier")}, CALIBRATED, ABOVE
    )
    assert all(row["key"][0].endswith(", calibrated") for row in rows)
    assert row_name("PoA", BELOW, BELOW) == "PoA"
