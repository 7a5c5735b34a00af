"""Forecasts that are updated over a question's life: the last, or each while it stood."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import truepool as tp
from truepool.core.errors import SettingError, SourceError
from truepool.measures.losses import Loss, agent_losses
from truepool.tables import TableFormat, load_panel, read_reports

LONG = ("question", "forecaster", "probability")
WRITTEN = {"long": LONG, "time": "made", "decision_time": "closes"}


def forecasts(seed=0, questions=6, forecasters=4):
    """Random updates, some of them too late; not everybody forecasts everything."""
    rng = np.random.default_rng(seed)
    rows = []
    for q in range(questions):
        closes = rng.integers(20, 40)
        for name in "abcdefgh"[:forecasters]:
            days = rng.choice(45, rng.integers(1 if name == "a" else 0, 5), False)
            if name == "a":
                days[0] = rng.integers(0, 19)
            rows += [
                (f"q{q}", name, day, closes, rng.random(), q % 2)
                for day in np.unique(days)
            ]
    columns = ["question", "forecaster", "made", "closes", "probability", "y"]
    return pd.DataFrame(rows, columns=columns).sample(frac=1, random_state=seed)


def time_weighted(table, **more):
    return tp.read_panel(table, **WRITTEN, updates="time-weighted", **more)


def integrate(table, question, name):
    """Mean Brier loss of a forecaster's standing forecast, day by day; and for how long."""
    own = table[(table.question == question) & (table.made < table.closes)]
    days = np.arange(own.made.min(), own.closes.max())
    losses = []
    for day in np.unique(days):
        made = own[(own.forecaster == name) & (own.made <= day)]
        if len(made):
            standing = made.loc[made.made.idxmax()]
            losses.append((standing.probability - standing.y) ** 2)
    return np.mean(losses) if losses else np.nan, len(losses) / len(days)


@pytest.mark.parametrize("seed", range(4))
def test_a_score_is_the_average_over_the_life_of_the_question(seed):
    table = forecasts(seed)
    panel = time_weighted(table)
    losses = (panel.reports - panel.outcomes[:, None]) ** 2
    for question in np.unique(panel.ids):
        own = panel.ids == question
        weights = panel.weights[own]
        assert_allclose(weights.sum(), 1.0)
        for i, name in enumerate(panel.agents):
            stood = ~np.isnan(losses[own, i])
            mean, covered = integrate(table, question, name)
            assert_allclose(weights[stood].sum(), covered, atol=1e-12)
            if stood.any():
                found = np.average(losses[own, i][stood], weights=weights[stood])
                assert_allclose(found, mean)


@pytest.mark.parametrize("seed", range(2))
def test_over_all_questions_a_score_counts_each_by_the_time_covered(seed):
    table = forecasts(seed)
    panel = time_weighted(table)
    scores = [
        [integrate(table, question, name) for question in table.question.unique()]
        for name in panel.agents
    ]
    losses, covered = np.nan_to_num(scores).transpose(2, 0, 1)
    expected = np.average(losses, axis=1, weights=covered)
    assert_allclose(agent_losses(panel, Loss("brier")), expected)


def test_intervals_of_a_question_are_a_group_and_share_its_time():
    panel = time_weighted(forecasts())
    assert_array_equal(panel.groups, panel.ids)
    for question in np.unique(panel.ids):
        assert len(np.unique(panel.times[panel.ids == question])) == 1


def test_another_group_may_be_named():
    table = forecasts().assign(topic=lambda t: t.question.str[1].astype(int) // 2)
    panel = time_weighted(table, group="topic")
    assert set(panel.groups) == {0, 1, 2}


def test_dates_and_text_are_as_good_as_numbers():
    table = forecasts()
    numbers = time_weighted(table)
    day = pd.Timestamp("2026-01-01")
    for name in ("made", "closes"):
        table[name] = day + pd.to_timedelta(table[name], "D")
    dates = time_weighted(table)
    texts = time_weighted(
        table.assign(
            **{n: table[n].dt.strftime("%Y-%m-%d") for n in ("made", "closes")}
        )
    )
    assert_allclose(dates.weights, numbers.weights)
    assert_allclose(texts.weights, numbers.weights)
    assert_array_equal(dates.reports, numbers.reports)


def test_a_forecast_at_the_close_comes_too_late_also_where_it_is_the_only_one():
    rows = {
        "question": ["q", "q", "r", "r"], "forecaster": ["a", "b", "a", "b"],
        "probability": [0.9, 0.8, 0.3, 0.2], "made": [1, 5, 5, 6],
        "closes": [5, 5, 6, 6], "y": [1, 1, 0, 0],
    }  # fmt: skip
    table = pd.DataFrame(rows)
    panel = time_weighted(table)
    assert panel.ids.tolist() == ["q", "r"]
    assert panel.weights.tolist() == [1.0, 1.0]
    assert_array_equal(panel.reports, [[0.9, np.nan], [0.3, np.nan]])
    with pytest.raises(SourceError, match="all 4 were made at that time or later"):
        time_weighted(table.assign(made=7))


def test_the_last_forecast_is_the_rule_unless_another_is_asked_for():
    table = forecasts()
    panel = tp.read_panel(table, **WRITTEN)
    assert panel.weights is None
    assert_array_equal(
        panel.reports, tp.read_panel(table, **WRITTEN, updates="last").reports
    )
    assert len(panel) == 6


def test_what_was_split_and_what_was_late_is_stated():
    table = forecasts()
    written = TableFormat(**WRITTEN, updates="time-weighted")
    panel, summary = load_panel(table, written)
    assert (summary.cases, summary.intervals) == (6, len(panel))
    notes = " ".join(summary.notes())
    assert f"6 cases split into {len(panel)} intervals between updates" in notes
    assert f"{summary.late} reports made at or after the decision time" in notes
    assert "replaced" not in notes


def test_a_question_without_a_forecast_in_time_is_left_out_and_counted():
    table = forecasts()
    table.loc[table.question == "q3", "made"] = 50
    panel, summary = load_panel(table, TableFormat(**WRITTEN, updates="time-weighted"))
    assert "q3" not in panel.ids
    assert summary.empty_cases == 1


def test_new_cases_have_their_last_report_however_the_pool_was_fitted():
    table = forecasts()
    words = {**WRITTEN, "updates": "time-weighted"}
    reports = read_reports(table, ("a", "b", "c", "d"), **words)
    assert len(reports.values) == 6


@pytest.mark.parametrize(
    ("words", "error", "sentence"),
    [
        ({"updates": "mean"}, SettingError, "updates must be one of last, last-row, time-weighted; got 'mean'"),
        ({"updates": "time-weighted"}, SettingError, "count until each case ends; no column says when"),
        ({**WRITTEN, "updates": "time-weighted", "weight": "w"}, SettingError, "weights already; got the weight column 'w' as well"),
        ({"layout": "tall"}, SettingError, "'wide' or 'long'; got 'tall'"),
        ({"layout": "wide", "long": LONG}, SettingError, "Leave out one of them"),
        ({"layout": "long"}, SourceError, "there is no long column 'case'"),
        ({"long": LONG, "decision_time": "closes", "updates": "time-weighted"}, SourceError, "Name it .--time"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(words, error, sentence):
    with pytest.raises(error, match=sentence):
        tp.read_panel(forecasts(), **words)


def test_a_long_table_with_the_usual_names_needs_no_names():
    table = forecasts().rename(
        columns=dict(zip(LONG, ("case", "agent", "report"), strict=True))
    )
    panel = tp.read_panel(table, layout="long", time="made", decision_time="closes")
    assert_array_equal(panel.reports, tp.read_panel(forecasts(), **WRITTEN).reports)
    named = tp.read_panel(forecasts(), layout="long", **WRITTEN)
    assert_array_equal(named.reports, panel.reports)
    wide = pd.DataFrame({"a": [0.1, 0.2], "b": [0.5, 0.3], "y": [0, 1]})
    assert len(tp.read_panel(wide, layout="wide")) == 2
