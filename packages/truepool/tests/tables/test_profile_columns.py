"""What one column of an unknown table could be."""

import numpy as np
import pandas as pd
import pytest

from truepool.tables.column_profile import ColumnProfile
from truepool.tables.profile import profile_table

T = 60
RNG = np.random.default_rng(1)
Y = np.arange(T) % 2
REPORTS = {f"m{i}": np.clip(0.2 + 0.6 * Y + RNG.normal(0, 0.1, T), 0.01, 1).round(3)
           for i in range(3)}  # fmt: skip
DAYS = pd.date_range("2026-01-20", periods=T).strftime("%d.%m.%Y").tolist()


def look(folder, columns, **written):
    path = folder / "table.csv"
    pd.DataFrame(columns).to_csv(path, index=False, **written)
    return profile_table(path)


def column(values, name="c"):
    distinct = tuple(dict.fromkeys(v for v in values if v is not None))
    codes = [-1 if v is None else distinct.index(v) for v in values]
    return ColumnProfile(name, distinct, np.array(codes), dated=False)


def test_numbers_in_scientific_notation_are_numbers(tmp_path):
    cells = [f"{p:.2e}".replace(".", ",") for p in REPORTS["m0"]]
    cells[0] = "8,99e-05"
    profile = look(tmp_path, REPORTS | {"m0": cells, "y": Y}, sep=";", decimal=",")
    assert profile.options["agents"] == ["m0", "m1", "m2"]
    assert profile.options["decimal"] == ","
    assert profile.problem is None


@pytest.mark.parametrize(
    ("amounts", "decimal"),
    [
        (["$2,951", "$1,394", "$980"], None),
        (["2,951", "1,394", "980"], None),
        (["2,95", "1,39", "980"], ","),
        (["2,95 €", "1,39 €", "980 €"], None),
    ],
)
def test_the_decimal_mark_is_that_of_the_reports(tmp_path, amounts, decimal):
    """A comma between thousands is none; amounts with a currency may have another."""
    percent = {name: (100 * p).round().astype(int) for name, p in REPORTS.items()}
    rest = {"loss": amounts * (T // 3), "y": Y}
    assert look(tmp_path, percent | rest, sep=";").options.get("decimal") == decimal
    assert "decimal" not in look(tmp_path, REPORTS | rest, sep=";").options


@pytest.mark.parametrize(("cell", "cells"), [("", "1 cell"), ("later", "1 cell")])
def test_dates_but_for_one_cell_are_asked_about(tmp_path, cell, cells):
    profile = look(tmp_path, REPORTS | {"y": Y, "day": [*DAYS[:-1], cell]})
    (question,) = profile.questions
    assert question.sentence == "does 'day' date the cases?"
    assert question.reasons.startswith(
        f"All but {cells} of 60 are dates; first correct"
    )
    assert question.if_so == {"time": "day", "time-format": "%d.%m.%Y"}
    assert "time" not in profile.options


def test_many_gaps_are_no_mistakes_in_a_column_of_dates():
    assert column([*DAYS[:-3], None, None, None]).nearly_times[1] == 3
    assert column([*DAYS[:-4], None, None, None, None]).nearly_times is None
    many = [f"{1 + t % 28:02}.{1 + t % 12:02}.{1900 + t // 12}" for t in range(1200)]
    assert column([*many[:-12], *[None] * 12]).nearly_times[1] == 12
    assert column([*many[:-13], *[None] * 13]).nearly_times is None
    assert column(["Rome", "Oslo", DAYS[0]]).nearly_times is None


def test_a_column_called_a_percentage_is_asked_about_and_is_no_amount(tmp_path):
    noise = RNG.uniform(0, 90, T).round(2)
    columns = REPORTS | {"echo_pct": noise, "tax_pct": noise + 5, "fee": noise + 200}
    profile = look(tmp_path, columns | {"y": Y})
    (question,) = profile.questions
    assert question.sentence == "is 'echo_pct' an agent in percent?"
    assert question.reasons.endswith("and its name says so.")
    assert profile.amounts == ("tax_pct", "fee")


@pytest.mark.parametrize(
    ("name", "values", "offered"),
    [
        ("review_propensity", [1.0, 0.3, 0.1], True),
        ("p-review", [1.0, 0.3, 0.1], True),
        ("review propensity", ["100%", "30%", "12%"], True),
        ("propensity", [1.0, 0.3, 0.0], False),  # of 0 there is no outcome
        ("review_score", [1.0, 0.3, 0.1], False),
        ("p", [1.0, 0.3, 0.1], False),
    ],
)
def test_the_chance_of_a_review_is_known_by_its_name(tmp_path, name, values, offered):
    profile = look(tmp_path, REPORTS | {name: np.resize(values, T), "y": Y})
    asked = [q for q in profile.questions if q.option == "propensity"]
    assert bool(asked) == offered
    assert (name in profile.options["agents"]) != offered


def test_few_words_in_many_numbers_are_left_out_of_them():
    numbers = [str(n / 2) for n in range(50)]
    assert column([*numbers, "n/d", "n/d"]).without_words().words == {"n/d": 2}
    floors = ["1", "2", "3", "ground"] * 9
    assert column(floors).without_words().words == {}
    three = [*numbers, "a", "b", "c"]
    assert column(three).without_words().words == {}
    most = [*numbers[:21], *["n/d"] * 21]
    assert column(most).without_words().words == {}
    assert column([*numbers[:20], "n/d"]).without_words().words == {}
    rest = column(["n/d", "0.5", "0.2", "0.9", None, "0.5"]).without_words()
    assert rest.is_report
    np.testing.assert_array_equal(rest.by_row, [np.nan, 0.5, 0.2, 0.9, np.nan, 0.5])


def test_whole_numbers_and_halves_up_to_ten_may_be_scores():
    assert column(["1", "5", "3"]).is_score
    assert column(["0", "10", "3"]).is_score
    assert not column(["1", "11", "3"]).is_score
    assert column(["1", "2.5", "3"]).is_score
    assert not column(["1", "2.3", "3"]).is_score
    assert not column(["0", "0.5", "1"]).is_score
    assert not column(["0", "1"]).is_score
    assert not column(["1%", "2%", "3%"]).is_score


def test_a_case_of_a_long_table_has_several_agents(tmp_path):
    rows = {"case": [f"c{t // 3}" for t in range(T)], "who": ["a", "b", "c"] * (T // 3),
            "p": REPORTS["m0"], "y": (np.arange(T) // 3) % 2}  # fmt: skip
    assert look(tmp_path, rows).options["long"] == ["case", "who", "p"]
    single = rows | {"case": [f"c{t // 2}" for t in range(T)]}
    single["who"] = np.repeat(["a", "b", "c"] * (T // 6), 2)
    single["y"] = (np.arange(T) // 2) % 2
    assert "long" not in look(tmp_path, single).options
