"""Percentages beside probabilities: the first message says what is wrong."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from truepool.core.errors import ReportError
from truepool.panel.panel import Panel
from truepool.panel.report_units import mixed_units
from truepool.tables import read_panel

RNG = np.random.default_rng(0)
P = RNG.uniform(0.05, 0.95, 60)
OUTCOMES = (RNG.uniform(size=60) < P).astype(int)
OTHERS = np.clip(P[:, None] + RNG.normal(0, 0.05, (60, 2)), 0.01, 0.99)
PERCENT = np.clip(100 * (P + RNG.normal(0, 0.05, 60)), 1.5, 99).round(2)
MIXED = np.where(np.arange(60) % 2 == 1, PERCENT, (PERCENT / 100).round(4))


def table(rf):
    columns = {"rf": rf, "gbm": OTHERS[:, 0], "mlp": OTHERS[:, 1], "y": OUTCOMES}
    return pa.table(columns)


def test_one_agent_in_percent_is_named_at_once():
    with pytest.raises(ReportError) as refusal:
        read_panel(table(PERCENT))
    assert str(refusal.value).endswith(
        "Only 'rf' is in percent: divide it by 100 (--percent=rf)."
    )


def test_several_agents_in_percent_are_named_together():
    reports = np.column_stack([PERCENT, PERCENT, OTHERS])
    cure = r"Only 'a' and 'b' are in percent: divide them by 100 \(--percent=a,b\)"
    with pytest.raises(ReportError, match=cure):
        Panel(reports, OUTCOMES, agents=("a", "b", "c", "d"))


@pytest.mark.parametrize("percent", [False, True])
def test_an_agent_that_mixes_units_is_asked_for_one(percent):
    with pytest.raises(ReportError) as refusal:
        read_panel(table(MIXED), percent=percent)
    first = f"{MIXED[1]:g} in zero-based row 1, {MIXED[0]:g} in zero-based row 0"
    said = f"'rf' mixes percentages and probabilities ({first}); write it in one unit."
    if not percent:
        said += " If all of it is in percent, pass --percent=rf."
    assert str(refusal.value).endswith(said)
    assert "100" not in str(refusal.value).partition(").")[2]


def test_the_cure_of_an_agent_in_percent_is_an_option_that_works():
    panel = read_panel(table(PERCENT), percent="rf")
    fractions = read_panel(table(PERCENT / 100))
    np.testing.assert_allclose(panel.reports, fractions.reports)


def test_a_table_in_percent_is_still_told_of_the_option():
    with pytest.raises(ReportError, match="like percentages: divide by 100 \\(--perc"):
        Panel(np.column_stack([PERCENT, PERCENT]), OUTCOMES)


def test_small_percentages_are_not_taken_for_probabilities():
    share = RNG.uniform(0.001, 0.2, 200)
    assert mixed_units(100 * share, share[:, None]) is None
    mixed = np.where(np.arange(200) < 100, 100 * share, share)
    assert mixed_units(mixed, share[:, None]) == (
        int(np.argmax(mixed > 1)),
        int(np.argmax(mixed <= 1)),
    )


def test_an_agent_beside_which_nobody_reports_mixes_nothing():
    assert mixed_units(MIXED, np.full((60, 1), np.nan)) is None


def test_the_refusal_names_the_column_with_the_largest_report():
    table = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.9], "y": [0, 1]})
    with pytest.raises(ReportError, match=r"the largest is 0\.9 in column 'b'"):
        read_panel(table, percent=True)


def test_a_long_table_of_fractions_is_no_table_of_percentages():
    table = pd.DataFrame(
        {"case": [1, 1, 2, 2], "who": list("abab"), "p": [0.1, 0.2, 0.8, 0.9]}
    ).assign(y=[0, 0, 1, 1])
    long = ("case", "who", "p")
    with pytest.raises(ReportError, match=r"the largest is 0\.9 of agent 'b'"):
        read_panel(table, percent=True, long=long)
    signed = table.assign(p=table.p.map("{}%".format))
    shares = read_panel(signed, percent=True, long=long).reports
    assert shares.max() == pytest.approx(0.009)


@pytest.mark.parametrize("repeats", [1, 3], ids=["id", "question"])
def test_a_column_of_many_texts_is_no_agent_with_a_mark_for_no_report(repeats):
    names = [f"TX{t // repeats}" for t in range(60)]
    columns = {"Vorgang": names, "a": OTHERS[:, 0], "b": OTHERS[:, 1], "y": OUTCOMES}
    with pytest.raises(ReportError) as refusal:
        read_panel(pd.DataFrame(columns))
    said = str(refusal.value)
    assert f"It has {60 // repeats} different texts, so it is no agent" in said
    assert "--ignore Vorgang" in said
    assert "--id Vorgang" in said
    assert "--long" in said
    assert "--missing" not in said


SCORES = {name: RNG.integers(1, 11, 60) for name in ("ann", "bob", "cyd")}


@pytest.mark.parametrize("layout", [None, "long"])
def test_scores_are_not_read_as_percentages(layout):
    frame = pd.DataFrame(SCORES).assign(y=OUTCOMES)
    if layout == "long":
        frame = frame.assign(case=range(60)).melt(
            ["case", "y"], var_name="agent", value_name="report"
        )
    with pytest.raises(ReportError) as refusal:
        read_panel(frame, percent=True, layout=layout)
    assert str(refusal.value) == (
        "with --percent reports are percentages; all numbers of 'ann', 'bob', 'cyd' "
        "are whole, from 1 to 10, and look like scores. If they are, pass --scores 1-10 "
        "instead; if they are percentages, write a percent sign after each."
    )


def test_percent_signs_make_percentages_of_small_whole_numbers():
    signed = {name: [f"{s}%" for s in scores] for name, scores in SCORES.items()}
    panel = read_panel(pd.DataFrame(signed).assign(y=OUTCOMES), percent=True)
    assert panel.reports[0, 0] == SCORES["ann"][0] / 100


@pytest.mark.parametrize("other", [11, 7.3])
def test_one_larger_number_or_fraction_is_enough_for_percentages(other):
    frame = pd.DataFrame(SCORES).astype(float).assign(y=OUTCOMES)
    frame.loc[3, "bob"] = other
    assert len(read_panel(frame, percent=True)) == 60


@pytest.mark.parametrize(("reports", "scores"), [(4, False), (5, True)])
def test_few_small_whole_numbers_may_be_percentages(reports, scores):
    frame = pd.DataFrame(SCORES).assign(y=OUTCOMES)[:reports]
    if scores:
        with pytest.raises(ReportError, match="look like scores"):
            read_panel(frame, percent=True)
    else:
        assert len(read_panel(frame, percent=True)) == reports


def test_small_percentages_beside_an_agent_that_reports_the_opposite_are_one_unit():
    """Half of the numbers are at most 1, which is usual where 2 % are positive."""
    rng = np.random.default_rng(0)
    p = 1 / (1 + np.exp(-rng.normal(-4.5, 1.5, 2000)))
    column = np.round(100 * p, 2)
    assert 0.3 < (column <= 1).mean() < 0.7
    sound = p * rng.uniform(0.7, 1.3, 2000)
    for others in (np.c_[sound, 1 - p], np.c_[sound, p, 1 - p]):
        assert mixed_units(column, others) is None
    mixed = np.where(np.arange(2000) % 2, column, p)
    assert mixed_units(mixed, np.c_[sound, p, 1 - p]) is not None
