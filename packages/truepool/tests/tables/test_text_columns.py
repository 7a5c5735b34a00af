"""Columns of text that were taken for agents: what they are, and where they belong."""

import numpy as np
import pandas as pd
import pytest

from truepool.core.errors import ReportError
from truepool.panel.panel import Panel
from truepool.tables import read_panel

T = 40
RNG = np.random.default_rng(2)
Y = np.arange(T) % 2
P = {n: np.clip(0.2 + 0.5 * Y + RNG.normal(0, 0.1, T), 0, 1).round(3) for n in "ab"}
SITES = ["St. Anna", "St. Bruno"] * (T // 2)
WARDS = [f"ward {t % 5}" for t in range(T)]
DAYS = pd.date_range("2026-01-20", periods=T).strftime("%d.%m.%Y")


def refusal(columns, **written):
    with pytest.raises(ReportError) as found:
        read_panel(pd.DataFrame(columns).assign(y=Y), **written)
    return str(found.value)


def test_all_columns_of_text_are_named_in_one_sentence():
    said = refusal(P | {"Site": SITES, "Ward": WARDS, "Seen At": DAYS})
    assert said == (
        "an agent must be a column of numbers; 'Site', 'Ward' and 'Seen At' (dates) "
        "hold text. Name the agents with --agents, name a column of dates with --time, "
        "or let truepool init TABLE find out what the columns are."
    )
    columns = pd.DataFrame(P | {"Site": SITES, "Ward": WARDS}).assign(y=Y)
    assert read_panel(columns, agents="a,b").agents == ("a", "b")


def test_named_columns_of_text_are_to_be_left_out_of_the_names():
    said = refusal(P | {"Site": SITES, "Ward": WARDS}, agents="a,b,Site,Ward")
    assert "'Site' and 'Ward' hold text. Leave them out of --agents, or let" in said


def test_one_column_of_numbers_beside_texts_may_be_a_long_table():
    said = refusal({"question": WARDS, "who": SITES, "p": P["a"]})
    assert said.endswith("A table with one row per report is read with --long.")


def test_the_name_of_a_place_is_no_word_for_missing():
    said = refusal(P | {"Ward": WARDS})
    assert "--missing" not in said
    assert said.endswith(
        "It holds no numbers: leave it out (--ignore Ward; of a saved pool, in its "
        "fit)."
    )


def test_dates_are_offered_as_times_with_their_format():
    said = refusal(P | {"Seen At": DAYS})
    option = "--time 'Seen At' --time-format '%d.%m.%Y'"
    assert f"It holds dates: pass {option} if it dates the cases, else leave" in said
    table = pd.DataFrame(P | {"Seen At": DAYS}).assign(y=Y)
    panel = read_panel(table, time="Seen At", time_format="%d.%m.%Y")
    assert panel.agents == ("a", "b")


def test_verdicts_in_words_are_sent_to_the_jury():
    words = np.where(Y, "pass", "fail")
    said = refusal({"gpt": words, "claude": words[::-1], "llama": words})
    assert said == (
        "a report must be a number in [0, 1]; 'gpt', 'claude' and 'llama' hold the "
        "words 'fail' and 'pass'. Verdicts in words are read by truepool jury, with "
        "--positive, and in Python by truepool_jury.juries.read_verdicts; columns that are "
        "no agents are left out with --ignore."
    )
    said = refusal(P | {"gpt": words})
    assert said.endswith(
        "; if these are votes of an agent, write them as 1 and 0, or use truepool jury "
        "(truepool_jury.juries.read_verdicts in Python)."
    )
    assert "--missing" not in said


def test_a_word_among_numbers_may_still_mean_no_report():
    cells = P["a"].astype(str).astype(object)
    cells[3] = "not run"
    assert "pass --missing 'not run'" in refusal(P | {"a": cells})
    never = ["not run"] * T
    assert "pass --missing 'not run'" in refusal(P | {"c": never})


def test_a_word_among_percentages_is_said_to_be_no_percentage():
    cells = (100 * P["a"]).astype(str).astype(object)
    cells[3] = "n.a."
    said = refusal({"a": cells, "b": 100 * P["b"]}, percent=True)
    assert said.startswith("a percentage must be a number from 0 to 100; column 'a'")


def test_a_number_outside_its_range_is_quoted_as_the_table_has_it():
    cells = [f"{100 * p:.2f}%".replace(".", ",") for p in P["a"]]
    cells[3] = "140,50%"
    said = refusal({"a": cells, "b": cells[:3] * 2 + cells[6:] + cells[:0]},
                   percent=True, decimal=",")  # fmt: skip
    assert "column 'a' has 140,50% in zero-based row 3" in said


def test_two_percentages_at_one_time_are_quoted_as_percentages():
    rows = {"case": [1, 1, 2], "agent": ["x", "x", "y"], "report": [40, 70.0, 20]}
    with pytest.raises(ReportError, match="'x' has 40 and 70 on case 1"):
        read_panel(pd.DataFrame(rows | {"y": [0, 0, 1]}), layout="long", percent=True)


@pytest.mark.parametrize(("lowest", "cure"), [
    (-40.0, "These look like logits"), (-40.5, r"leave that column out \(--ignore b; of a saved pool, in its fit\)"),
    (-7847.0, r"if 'b' is not an agent, leave that column out \(--ignore b; of"),
])  # fmt: skip
def test_amounts_below_zero_are_no_logits(lowest, cure):
    reports = np.column_stack([P["a"], np.linspace(lowest, -1, T)])
    with pytest.raises(ReportError, match=cure):
        Panel(reports, Y, agents=("a", "b"))


@pytest.mark.parametrize("slip", [-0.01, 1.0001])
def test_a_single_report_outside_is_to_be_corrected_and_names_no_unit(slip):
    reports = np.full((200, 2), 0.4)
    reports[12, 1] = slip
    with pytest.raises(ReportError) as refusal:
        Panel(reports, np.arange(200) % 2, agents=("a", "b"))
    assert "agent 'b'" in str(refusal.value)
    assert str(refusal.value).endswith(". Correct or empty this cell.")
    reports[13, 1] = slip
    with pytest.raises(ReportError, match=r"Correct or empty these 2 cells\.$"):
        Panel(reports, np.arange(200) % 2, agents=("a", "b"))


def test_a_single_report_above_1_beside_percentages_does_not_suggest_percent():
    a = np.full(200, 0.4)
    a[12] = 1.0001
    table = pd.DataFrame({"a": a, "b": 40.0, "y": np.arange(200) % 2})
    with pytest.raises(ReportError, match=r"1.0001.*Correct or empty this cell\.$"):
        read_panel(table, percent="b")
