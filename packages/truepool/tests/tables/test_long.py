"""Long tables, one row per report: cases, updates and decision times."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from corpus import A, P, Y, long, read_table, refusal
from numpy.testing import assert_allclose, assert_array_equal

import truepool as tp
from truepool.measures.losses import Loss, agent_losses
from truepool.tables import TableFaults, read_panel, read_reports

ROWS = {
    "question": ["q1", "q1", "q2", "q2", "q1"],
    "who": ["ada", "bob", "ada", "bob", "ada"],
    "p": [0.5, 0.6, 0.2, 0.4, 0.9],
    "made": [1, 1, 1, 1, 2],
    "y": [1, 1, 0, 0, 1],
}
COLUMNS = ("question", "who", "p")


def rows(**columns):
    return pa.table({**ROWS, **columns})


def notes(source, **keys):
    return {note.code: note.fields for note in read_table(source, **keys)[1].notes}


# Found, or named


@pytest.mark.parametrize("names", [COLUMNS, ("case", "agent", "report")])
def test_a_long_table_is_found(names):
    table = dict(zip((*names, "y"), long({"rf": P, "gbm": A}).values(), strict=True))
    panel, found = read_table(pa.table(table))
    assert (found.schema.long, panel.agents) == (names, ("gbm", "rf"))
    assert_allclose(panel.reports, np.column_stack([A, P]))
    assert panel.ids.tolist() == [f"q{t}" for t in range(60)]


@pytest.mark.parametrize("name", ["made", "time"])
def test_it_is_found_by_the_updates_of_a_time_that_is_named(name):
    """What is said of a table never hides what would be found without it."""
    cases = [f"q{t}" for t in range(20) for _ in range(3)]
    table = {"question": cases, "who": ["ann", "ann", "bob"] * 20, "p": P}
    table |= {"y": [t // 30 for t in range(60)]}
    table |= {name: [f"2026-01-0{1 + t % 3}" for t in range(60)]}
    keys = {"time": name} if name != "time" else {}
    assert read_table(pa.table(table), **keys)[1].schema.long == COLUMNS


@pytest.mark.parametrize("unit", ["1", "percent", "stars"])
def test_it_is_found_beside_dates_and_in_any_unit(unit):
    values = {"1": P, "percent": 100 * P, "stars": 1 + np.arange(60) % 5}[unit]
    table = long({"rf": values, "gbm": values, "sun": values})
    day = pd.Timestamp("2026-03-20") + pd.to_timedelta(np.repeat(np.arange(60), 3), "D")
    table |= {
        "made": day.strftime("%d.%m.%Y"),
        "closes": (day + pd.Timedelta("9D")).strftime("%Y-%m-%d"),
    }
    if unit == "1":
        assert read_table(pa.table(table))[1].schema.long == COLUMNS
    else:
        assert refusal(pa.table(table)).questions[0].fields["names"] == [
            "gbm",
            "rf",
            "sun",
        ]


@pytest.mark.parametrize(
    "columns",
    [
        {
            "case": np.arange(60),
            "who": np.resize(["x", "z"], 60),
        },  # one report per case
        {"kount": (947 * P).astype(int)},  # no agent is called 0 or 1
        {"age": np.arange(60) % 40, "ward": np.resize(["x", "z", "w"], 60)},
    ],
)
def test_a_wide_table_is_not_taken_for_a_long_one(columns):
    assert refusal(pa.table({"p": P, **columns, "y": Y})).codes in (
        ("few-agents",),
        ("unit",),
        ("maybe-scores",),
    )
    assert (
        len(
            read_panel(pa.table({"p": P, "q": A, **columns, "y": Y}), agents=["p", "q"])
        )
        == 60
    )


def test_two_columns_that_could_be_the_agent_are_asked_about():
    table = long({"rf": P, "gbm": A}) | {"where": np.tile(["here", "there"], 60)}
    (question,) = (q for q in refusal(pa.table(table)).questions if q.key == "long")
    assert {choice[1] for choice in question.choices} == {"who", "where"}


@pytest.mark.parametrize("value", [("a", "b"), ("a", "b", "b"), "abc", 3, True])
def test_a_long_table_has_three_columns(value):
    assert refusal(rows(), long=value).codes == ("bad-setting",)


def test_the_wide_table_that_it_was_made_from(tmp_path):
    rng = np.random.default_rng(3)
    reports = rng.random((40, 4)).round(3)
    reports[rng.random(reports.shape) < 0.4] = np.nan
    reports[:, 0] = 0.25
    outcomes = np.arange(40) % 2
    text = "case,agent,report,y\n" + "\n".join(
        f"c{t:02},a{i},{reports[t, i]},{outcomes[t]}"
        for t, i in rng.permutation(np.argwhere(~np.isnan(reports)))
    )
    (tmp_path / "t.csv").write_text(text)
    panel, _ = read_table(tmp_path / "t.csv")
    order = np.argsort(panel.ids.astype(str))
    assert_array_equal(panel.reports[order], reports)
    assert_array_equal(panel.outcomes[order], outcomes)
    new = read_reports(
        tmp_path / "t.csv", panel.agents[::-1], long=("case", "agent", "report")
    )
    assert_array_equal(new.values[:, ::-1], panel.reports)


def test_agents_are_chosen_and_ignored_by_name():
    three = rows(who=["ada", "bob", "ada", "bob", "eve"])
    assert read_panel(three, long=COLUMNS, agents=["ada", "bob"]).agents == (
        "ada",
        "bob",
    )
    assert read_panel(three, long=COLUMNS, ignore="eve").agents == ("ada", "bob")
    (fault,) = refusal(three, long=COLUMNS, ignore="bub").faults
    assert (fault.code, fault.cures[0].value) == ("no-column", ["bob"])


def test_cases_may_lack_an_outcome():
    table = rows(question=["q1", "q1", "q2", "q2", "q3"], y=[1, None, 0, 0, None])
    panel = read_panel(table, long=COLUMNS)
    assert (panel.ids.tolist(), panel.pending.ids.tolist()) == (["q1", "q2"], ["q3"])


def test_names_are_trimmed_and_those_spelled_alike_are_noted():
    names = ["ann", "Ann", "bob ", "ann", "Ann", "bob"]
    table = pa.table(
        {
            "q": list("xxxyyy"),
            "who": names,
            "p": [0.1, 0.2, 0.3] * 2,
            "y": [0] * 3 + [1] * 3,
        }
    )
    found = notes(table, long=("q", "who", "p"))
    assert found["names-trimmed"] == {"column": "who", "count": 1}
    assert found["agents-alike"]["column"] == "who"
    panel, _ = read_table(table, long=("q", "who", "p"))
    assert panel.agents == ("Ann", "ann", "bob")


def test_columns_of_the_cases_have_one_value_per_case():
    table = rows(amount=[5.0, 5.0, 7.0, None, None], note=["x", "x", None, None, "x"])
    panel = read_panel(table, long=COLUMNS, time="made", columns=["amount", "note"])
    assert panel.columns["amount"].tolist() == [5.0, 7.0]
    assert panel.columns["note"].tolist() == ["x", None]
    (fault,) = refusal(
        rows(amount=[5.0, 6.0, 7.0, 7.0, 5.0]),
        long=COLUMNS,
        time="made",
        columns="amount",
    ).faults
    assert (fault.code, fault.column, fault.found, fault.row) == (
        "values-differ",
        "amount",
        6.0,
        1,
    )
    assert (fault.fields["case"], fault.fields["other"]) == ("q1", 5.0)


# Contradictions


@pytest.mark.parametrize(
    ("columns", "keys", "code", "row"),
    [
        ({}, {}, "two-reports", 4),
        ({"made": [1] * 5}, {"time": "made"}, "two-reports", 4),
        ({"y": [1, 0, 0, 0, 1]}, {"time": "made"}, "values-differ", 1),
        ({"who": ["ada", None, "ada", "bob", "ada"]}, {}, "key-missing", 1),
        ({"question": ["q1", "", "q2", "q2", "q1"]}, {}, "key-missing", 1),
        ({}, {"decision_time": "made"}, "no-report-time", None),
        ({"closes": [2, 2, 3, 3, 9]}, {"time": "made", "decision_time": "closes"}, "decision-times", 0),
        ({"closes": [1, 1, 1, 1, 1]}, {"time": "made", "decision_time": "closes"}, "all-late", None),
        ({"closes": [datetime.date(2026, 1, 1)] * 5}, {"time": "made", "decision_time": "closes"}, "times-differ", None),
        ({}, {"updates": "time-weighted", "time": "made"}, "no-decision-time", None),
        ({"closes": [9] * 5}, {"updates": "time-weighted", "decision_time": "closes"}, "no-report-time", None),
        ({"closes": [9] * 5, "w": [1.0] * 5},
         {"updates": "time-weighted", "time": "made", "decision_time": "closes", "weight": "w"}, "two-weights", None),
        ({}, {"updates": "mean"}, "bad-setting", None),
        ({"p": [0.5, 0.6, 0.2, 1.4, 0.9]}, {"time": "made"}, "report-outside", 3),
    ],
)  # fmt: skip
def test_a_long_table_that_contradicts_itself_is_refused(columns, keys, code, row):
    fault = refusal(rows(**columns), long=COLUMNS, **keys).faults[0]
    assert (fault.code, fault.row) == (code, row)


def test_two_reports_are_quoted_as_the_table_has_them():
    table = rows(p=[40.0, 60.0, 20.0, 40.0, 70.0])
    (fault,) = refusal(table, long=COLUMNS, percent=True).faults
    assert (fault.agent, fault.found, fault.fields["case"]) == (
        "ada",
        [40.0, 70.0],
        "q1",
    )


def test_swapped_columns_contradict_each_other():
    assert refusal(rows().slice(0, 4), long=("who", "question", "p")).codes == (
        "values-differ",
    )


def test_a_decision_time_is_for_a_long_table():
    wide = pa.table({"a": [0.1, 0.2], "b": [0.1, 0.2], "t": [1, 2], "y": [0, 1]})
    assert refusal(wide, decision_time="t").codes == ("not-long",)


# Updates: the last report counts, or each while it stood


def test_the_latest_report_counts():
    panel, _ = read_table(rows(), long=COLUMNS, time="made")
    assert_array_equal(panel.reports, [[0.9, 0.6], [0.2, 0.4]])
    assert panel.times.tolist() == [2, 1]
    assert notes(rows(), long=COLUMNS, time="made")["replaced"] == {"count": 1}


def test_only_reports_before_the_decision_count():
    keys = {"long": COLUMNS, "time": "made", "decision_time": "closes"}
    panel, _ = read_table(rows(closes=[2, 2, 3, 3, 2]), **keys)
    assert_array_equal(panel.reports, [[0.5, 0.6], [0.2, 0.4]])
    assert panel.times.tolist() == [2, 3]
    assert notes(rows(closes=[2, 2, 3, 3, 2]), **keys)["late"] == {"count": 1}


def test_days_that_cannot_be_told_apart_do_not_let_the_outcome_leak_in():
    table = rows(
        made=["2025-02-08", "2025-02-09"] * 2 + ["2025-02-09"],
        closes=["2025-02-09"] * 5,
    )
    panel = read_panel(table, long=COLUMNS, time="made", decision_time="closes")
    assert_array_equal(panel.reports, [[0.5, np.nan], [0.2, np.nan]])


def test_the_cure_for_reports_at_one_time_works():
    same = rows(made=[1] * 5)
    (fault,) = refusal(same, long=COLUMNS, time="made").faults
    cure = next(cure for cure in fault.cures if cure.key == "updates")
    panel, _ = read_table(same, long=COLUMNS, time="made", updates=cure.value)
    assert_array_equal(panel.reports, [[0.9, 0.6], [0.2, 0.4]])
    weighted = {"decision_time": "end", "updates": "time-weighted", "time": "made"}
    (fault,) = refusal(rows(made=[1] * 5, end=[2] * 5), long=COLUMNS, **weighted).faults
    assert "remove-others" in [cure.action for cure in fault.cures]


def test_two_columns_of_times_may_be_written_differently():
    columns = {
        "made": ["04/07/2025 07:50 PM", "04/17/2025 07:50 PM"] * 2
        + ["04/08/2025 01:00 AM"],
        "end": ["04/28/2025"] * 5,
    }
    keys = {"long": COLUMNS, "time": "made", "decision_time": "end"}
    _, found = read_table(rows(**columns), **keys)
    assert found.schema.formats == {"made": "%m/%d/%Y %I:%M %p", "end": "%m/%d/%Y"}
    forms = "%m/%d/%Y %I:%M %p | %m/%d/%Y"
    assert len(read_panel(rows(**columns), time_format=forms, **keys)) == 2
    unclear = rows(**columns | {"end": ["06/05/2025"] * 5})
    (question,) = refusal(unclear, **keys).questions
    assert (question.code, question.column) == ("which-format", "end")
    assert refusal(unclear, time_format=f"{forms} | %d/%m/%Y", **keys).codes == (
        "which-format",
    )


ZONED = ["2026-03-01T06:30:00-05:00"] * 5


@pytest.mark.parametrize("as_dates", [False, True])
@pytest.mark.parametrize("closes", ["2026-03-01T12:00:00-05:00", "2026-03-01T12:00:00"])
def test_reports_and_decisions_both_have_an_offset_or_neither_has(as_dates, closes):
    columns = {
        "made": [*ZONED[:4], "2026-03-01T07:30:00-05:00"],
        "closes": [closes] * 5,
    }
    frame = rows(**columns).to_pandas()
    if as_dates:
        frame = frame.assign(**{name: pd.to_datetime(frame[name]) for name in columns})
    keys = {"long": COLUMNS, "time": "made", "decision_time": "closes"}
    if closes.endswith("-05:00"):
        assert_array_equal(read_panel(frame, **keys).reports, [[0.9, 0.6], [0.2, 0.4]])
    else:
        fault = refusal(frame, **keys).faults[0]
        assert (fault.code, fault.fields["other"]) == ("time-zones-mixed", "made")


# Time-weighted updates

LONG = ("question", "forecaster", "probability")
WRITTEN = {"long": LONG, "time": "made", "decision_time": "closes"}


def forecasts(seed=0, questions=6, forecasters=4):
    """Random updates, some of them too late; not everybody forecasts everything."""
    rng = np.random.default_rng(seed)
    found = []
    for q in range(questions):
        closes = rng.integers(20, 40)
        for name in "abcdefgh"[:forecasters]:
            days = rng.choice(45, rng.integers(1 if name == "a" else 0, 5), False)
            if name == "a":
                days[0] = rng.integers(0, 19)
            found += [
                (f"q{q}", name, day, closes, rng.random(), q % 2)
                for day in np.unique(days)
            ]
    columns = ["question", "forecaster", "made", "closes", "probability", "y"]
    return pd.DataFrame(found, columns=columns).sample(frac=1, random_state=seed)


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
                assert_allclose(
                    np.average(losses[own, i][stood], weights=weights[stood]), mean
                )


@pytest.mark.parametrize("seed", range(2))
def test_over_all_questions_a_score_counts_each_by_the_time_covered(seed):
    table = forecasts(seed)
    panel = time_weighted(table)
    scores = [
        [integrate(table, q, name) for q in table.question.unique()]
        for name in panel.agents
    ]
    losses, covered = np.nan_to_num(scores).transpose(2, 0, 1)
    expected = np.average(losses, axis=1, weights=covered)
    assert_allclose(agent_losses(panel, Loss("brier")), expected)


def test_intervals_of_a_question_are_a_group_unless_another_is_named():
    panel = time_weighted(forecasts())
    assert_array_equal(panel.groups, panel.ids)
    for question in np.unique(panel.ids):
        assert len(np.unique(panel.times[panel.ids == question])) == 1
    topics = forecasts().assign(topic=lambda t: t.question.str[1].astype(int) // 2)
    assert set(time_weighted(topics, group="topic").groups) == {0, 1, 2}


def test_dates_and_text_are_as_good_as_numbers():
    table, names = forecasts(), ("made", "closes")
    numbers, day = time_weighted(table), pd.Timestamp("2026-01-01")
    dates = table.assign(**{n: day + pd.to_timedelta(table[n], "D") for n in names})
    texts = dates.assign(**{n: dates[n].dt.strftime("%Y-%m-%d") for n in names})
    for other in (dates, texts):
        assert_allclose(time_weighted(other).weights, numbers.weights)
        assert_array_equal(time_weighted(other).reports, numbers.reports)


def test_a_forecast_at_the_close_comes_too_late_also_where_it_is_the_only_one():
    table = pd.DataFrame({
        "question": ["q", "q", "r", "r"], "forecaster": ["a", "b", "a", "b"],
        "probability": [0.9, 0.8, 0.3, 0.2], "made": [1, 5, 5, 6],
        "closes": [5, 5, 6, 6], "y": [1, 1, 0, 0],
    })  # fmt: skip
    panel = time_weighted(table)
    assert (panel.ids.tolist(), panel.weights.tolist()) == (["q", "r"], [1.0, 1.0])
    assert_array_equal(panel.reports, [[0.9, np.nan], [0.3, np.nan]])
    with pytest.raises(TableFaults) as refused:
        time_weighted(table.assign(made=7))
    assert refused.value.codes == ("all-late",)


def test_the_last_forecast_is_the_rule_unless_another_is_asked_for():
    panel = tp.read_panel(forecasts(), **WRITTEN)
    assert (len(panel), panel.weights) == (6, None)
    assert_array_equal(
        panel.reports, tp.read_panel(forecasts(), **WRITTEN, updates="last").reports
    )


def test_what_was_split_late_and_left_out_is_stated():
    table = forecasts()
    table.loc[table.question == "q3", "made"] = 50
    panel = time_weighted(table)
    found = notes(table, **WRITTEN, updates="time-weighted")
    assert "q3" not in panel.ids
    assert found["intervals"] == {"cases": 6, "count": len(panel) + 1}
    assert found["late"]["count"] == int((table.made >= table.closes).sum())
    assert found["empty-cases"] == {"count": 1}
    assert "replaced" not in found
