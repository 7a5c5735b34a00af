"""A look at an unknown table: what can be read off is decided, the rest is asked."""

import tomllib
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_tables import TABLES, write

from truepool.render.config import config_text
from truepool.tables import TableFormat, load_panel
from truepool.tables.profile import TableProfile, profile_table
from truepool.tables.profile_outcome import OUTCOMES
from truepool.tables.question import Question

T = 60
RNG = np.random.default_rng(0)
Y = np.arange(T) % 2
REPORTS = {f"m{i}": np.clip(0.2 + 0.6 * Y + RNG.normal(0, 0.1, T), 0, 1).round(3)
           for i in range(3)}  # fmt: skip


def look(folder, columns, **written):
    path = folder / "table.csv"
    pd.DataFrame(columns).to_csv(path, index=False, **written)
    return profile_table(path)


def questions(profile):
    return [question.option for question in profile.questions]


@pytest.mark.parametrize("kind", TABLES)
def test_a_messy_table_is_read_as_its_options_say(tmp_path, kind):
    path = write(tmp_path, kind)
    profile = profile_table(path)
    assert profile.problem is None
    words = dict(profile.options)
    for question in profile.questions:
        if not question.required:
            continue
        assert question.option == "positive"
        words["positive"] = next(v for v, _ in question.choices if v in ("ja", "yes"))
    found, _ = load_panel(
        path, TableFormat(**{k.replace("-", "_"): v for k, v in words.items()})
    )
    assert found.agents == TABLES[kind].agents
    assert len(found) == TABLES[kind].cases


def test_the_positive_label_is_never_guessed(tmp_path):
    labels = np.where(Y, "yes", "no")
    profile = look(tmp_path, REPORTS | {"y": labels})
    (question,) = profile.questions
    assert question.option == "positive"
    assert [value for value, _ in question.choices] == ["no", "yes"]
    low, high = (float(reason.split()[-1]) for _, reason in question.choices)
    values = np.stack(list(REPORTS.values()))
    assert low == pytest.approx(values[:, Y == 0].mean(), abs=1e-3)
    assert high == pytest.approx(values[:, Y == 1].mean(), abs=1e-3)
    for plain in (Y, Y.astype(bool), Y.astype(float)):
        assert look(tmp_path, REPORTS | {"y": plain}).questions == ()


def test_of_two_named_classes_the_rarer_is_positive(tmp_path):
    columns = {f"{name}:{label}": p if label == "bad" else 1 - p
               for name, p in REPORTS.items() for label in ("good", "bad")}  # fmt: skip
    profile = look(tmp_path, columns | {"kind": np.where(Y, "bad", "good")})
    assert profile.options["agents"] == ["m0", "m1", "m2"]
    assert profile.questions == ()
    assert profile.options["positive"] == "bad"
    assert profile.reasons["positive"].startswith("the second class;")
    few = np.where(Y & (np.arange(len(Y)) % 3 > 0), "bad", "good")
    for kind, rarer in ((few, "bad"), (np.where(few == "bad", "good", "bad"), "good")):
        found = look(tmp_path, columns | {"kind": kind})
        assert found.options["positive"] == rarer
        assert found.reasons["positive"].startswith("the rarer class;")
    assert profile.problem is None


def test_of_several_columns_with_two_values_a_usual_name_decides(tmp_path):
    profile = look(tmp_path, REPORTS | {"reviewed": Y, "is_fraud": 1 - Y})
    assert profile.options["outcome"] == "is_fraud"
    assert "'reviewed' could be one too" in profile.reasons["outcome"]
    profile = look(tmp_path, REPORTS | {"reviewed": Y, "flag": 1 - Y})
    (question,) = profile.questions
    assert (question.option, "outcome" in profile.options) == ("outcome", False)
    assert [value for value, _ in question.choices] == ["reviewed", "flag"]
    profile = look(tmp_path, REPORTS)
    assert "None has two different values" in profile.questions[0].sentence


def test_the_usual_names_of_an_outcome_are_these():
    assert OUTCOMES == (
        "y", "outcome", "label", "target", "class", "truth", "resolved", "resolution",
        "result", "fraud", "attack", "default", "churn",
    )  # fmt: skip


def test_numbers_up_to_100_may_be_percentages_and_are_asked_about(tmp_path):
    profile = look(tmp_path, {n: 100 * p for n, p in REPORTS.items()} | {"y": Y})
    assert questions(profile) == ["agents", "percent"]
    choices = [name for name, _ in profile.questions[0].choices]
    assert choices == ["m0", "m1", "m2"]


@pytest.mark.parametrize("word", ["Total", "SUMME:"])
def test_a_row_of_totals_at_the_end_is_named_and_hides_nothing(tmp_path, word):
    label = [*np.where(Y, "yes", "no"), "30"]
    sums = {name: [*p, p.sum()] for name, p in REPORTS.items()}
    ward = [*np.resize(["a", "b"], T), word]
    profile = look(tmp_path, sums | {"ward": ward, "result": label})
    assert profile.rows == T
    assert profile.options["outcome"] == "result"
    assert profile.options["agents"] == [*REPORTS]
    (warning,) = profile.warnings
    assert warning == (
        f"The last row (line {T + 2} of the file) looks like totals: column 'ward' has "
        f"{word!r}. It is left out here; remove it, because the other commands read it "
        "as a case."
    )
    assert f"line {T + 2} of the file" in profile.problem


def test_a_segment_called_total_is_no_row_of_totals(tmp_path):
    ward = np.resize(["part", "total"], T)
    profile = look(tmp_path, REPORTS | {"ward": ward, "y": Y})
    assert (profile.rows, profile.warnings) == (T, ())


def test_a_table_without_agents_asks_which_columns_they_are(tmp_path):
    label = np.where(Y, "yes", "no")
    profile = look(tmp_path, {"a": np.arange(T) * 1000.5, "b": ["x"] * T, "y": label})
    assert questions(profile) == ["agents", "positive"]
    assert [name for name, _ in profile.questions[0].choices] == ["a", "b", "y"]
    assert profile.questions[1].choices == (("no", "30 rows"), ("yes", "30 rows"))


def test_one_column_of_reports_is_not_always_a_long_table(tmp_path):
    cases = np.repeat(np.arange(T // 4), 4)
    long = {"case": cases, "p": REPORTS["m0"], "y": cases % 2}
    agents = {"who": list("abcd") * (T // 4)}
    profile = look(tmp_path, long | agents)
    assert profile.options["long"] == ["case", "who", "p"]
    profile = look(tmp_path, long | agents | {"where": list("xyzx") * (T // 4)})
    assert "long" not in profile.options
    assert questions(profile)[0] == "agents"


def test_dates_that_can_be_read_two_ways_are_asked_about(tmp_path):
    days = [date(2026, 1, 1) + timedelta(days=31 * (t % 12)) for t in range(T)]
    clear = [f"{d:%d/%m/%Y}" for d in days]
    clear[0] = "31/01/2026"
    profile = look(tmp_path, REPORTS | {"y": Y, "day": clear})
    assert profile.options["time-format"] == "%d/%m/%Y"
    unclear = [f"{1 + t % 12:02}/{1 + t // 12:02}/2026" for t in range(T)]
    profile = look(tmp_path, REPORTS | {"y": Y, "day": unclear})
    (question,) = profile.questions
    assert question.option == "time-format"
    assert [value for value, _ in question.choices] == ["%d/%m/%Y", "%m/%d/%Y"]


def test_of_several_dates_none_is_taken_and_none_is_needed(tmp_path):
    days = pd.date_range("2026-01-01", periods=T).astype(str)
    profile = look(tmp_path, REPORTS | {"y": Y, "opened": days, "closed": days[::-1]})
    (question,) = profile.questions
    assert (question.option, question.required) == ("time", False)
    assert "time" not in profile.options
    assert profile.problem is None
    profile = look(tmp_path, REPORTS | {"y": Y, "opened": days, "time": np.arange(T)})
    assert (profile.options["time"], profile.questions) == ("time", ())


def test_what_each_other_column_holds_is_said(tmp_path):
    others = {
        "case": [f"c{t}" for t in range(T)],
        "key": [f"k{t}" for t in range(T)],
        "amount": RNG.lognormal(4, 1, T).round(2),
        "country": ["DE", "FR", "IT"] * (T // 3),
        "empty": [None] * T,
        "day": [None, *pd.date_range("2026-01-01", periods=T - 1).astype(str)],
        "debt": -np.arange(T) / 7,
    }
    profile = look(tmp_path, REPORTS | {"y": Y} | others)
    assert profile.options["id"] == "case"
    assert profile.amounts == ("amount",)
    assert profile.unused["key"] == "a different value in each row"
    kinds = next(q for q in profile.questions if q.option == "by")
    assert kinds.choices == (("country", "text, 3 different values"),)
    assert not kinds.required
    assert profile.unused["empty"] == "empty"
    assert profile.unused["amount"].startswith("numbers")
    assert "time" not in profile.options


def test_amounts_may_have_points_between_their_thousands(tmp_path):
    amounts = [f"{t % 9 + 1}.{500 + t % 400},{t % 90 + 10}" for t in range(T)]
    profile = look(tmp_path, REPORTS | {"y": Y, "amount": amounts})
    assert profile.amounts == ("amount",)


def test_amounts_may_have_a_currency(tmp_path):
    for unit in ("{:.2f} €", "${:,.2f}", "CHF {:.2f}"):
        fees = [unit.format(t * 1.5 + 0.25) for t in range(T)]
        profile = look(tmp_path, REPORTS | {"y": Y, "fee": fees})
        assert profile.amounts == ("fee",)
        assert questions(profile) == []
        assert "decimal" not in profile.options


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (np.linspace(0, 99, T)[np.random.default_rng(3).permutation(T)],
         "do not rise with the reports, so that it may be no agent, or one that "
         "reports noise"),
        (100 - 99 * REPORTS["m0"], "fall with the reports, so that it may be no agent, "
         "or one that reports the opposite"),
    ],
)  # fmt: skip
def test_percentages_without_a_relation_are_asked_about(tmp_path, column, said):
    cells = column.round(1).astype(str).astype(object)
    cells[[4, 9, 30]] = "n/d"
    table = REPORTS | {"y": Y, "VendorX": cells}
    profile = look(tmp_path, table)
    asked = {question.option: question for question in profile.questions}
    assert said in asked["percent"].reasons
    assert asked["percent"].if_so["percent"] == ["VendorX"]
    assert "3 cells of 'VendorX'" in asked["missing"].sentence
    written = TableFormat(**asked["percent"].if_so, missing="n/d")
    panel, _ = load_panel(tmp_path / "table.csv", written)
    assert "VendorX" in panel.agents
    assert look(tmp_path, REPORTS | {"y": Y, "age": column}).questions == ()
    assert look(tmp_path, REPORTS | {"y": Y, "x": 20 + column / 2}).questions == ()


def test_names_of_agents_that_are_spelled_alike_are_counted(tmp_path):
    cases = np.repeat(np.arange(T), 3)
    names = np.tile(np.array(["ann", "bob", "cy"], dtype=object), T)
    names[[0, 3, 6]], names[[1, 4]] = "Ann", "bob "
    reports = np.stack([*REPORTS.values()], axis=1).ravel()
    table = {"q": cases, "who": names, "p": reports, "y": np.repeat(Y, 3)}
    profile = look(tmp_path, table)
    (warning,) = profile.warnings
    assert warning.startswith("column 'who' has 1 name that is spelled in several")
    assert "'Ann' and 'ann'. Each spelling counts" in warning
    written = TableFormat(long=profile.options["long"])
    panel, found = load_panel(tmp_path / "table.csv", written)
    assert panel.agents == ("Ann", "ann", "bob", "cy")
    assert any("has 1 name that is spelled" in each for each in found.warnings())
    assert "Spaces around 1 name of column 'who' are left out." in found.notes()
    clean = look(tmp_path, table | {"who": np.tile(["ann", "bob", "cy"], T)})
    assert clean.warnings == ()


def test_what_is_asked_about_is_not_called_unused(tmp_path):
    table = {
        "vendor": 100 * REPORTS["m0"], "model": 100 * REPORTS["m1"], "y": Y,
        "customer": [f"k{t % 25}" for t in range(T)],
        "amount": RNG.lognormal(4, 1, T).round(2) + 100,
    }  # fmt: skip
    profile = look(tmp_path, table)
    asked = {q.option: [v for v, _ in q.choices] for q in profile.questions}
    assert asked["agents"] == ["vendor", "model"]
    assert asked["group"] == ["customer"]
    assert (set(profile.unused), profile.amounts) == ({"amount"}, ("amount",))


def test_columns_without_plain_values_are_left_aside(tmp_path):
    path = tmp_path / "t.parquet"
    nested = {"list": [[1, 2]] * T, "raw": [b"\xff"] * T}
    pd.DataFrame(REPORTS | {"y": Y} | nested).to_parquet(path)
    profile = profile_table(path)
    assert profile.options["agents"] == ["m0", "m1", "m2"]
    assert profile.unused == {}


def test_a_table_that_cannot_be_read_says_why(tmp_path):
    signs = ["%", ""] * (T // 2)
    cells = [f"{100 * p}{sign}" for p, sign in zip(REPORTS["m0"], signs, strict=True)]
    profile = look(tmp_path, REPORTS | {"m0": cells, "y": Y})
    assert "either all reports of one column carry a percent sign" in profile.problem


@given(
    st.lists(st.text(min_size=1, max_size=9), min_size=2, max_size=12, unique=True),
    st.text(max_size=9),
)
def test_any_names_and_labels_make_valid_toml(names, label):
    profile = TableProfile(
        9,
        {"agents": names, "id": label, "percent": names[1:]},
        dict.fromkeys(("agents", "id", "percent"), "because"),
        (
            Question("positive", "which?", ((label, repr(label)), ("b", "3 rows"))),
            Question("outcome", "which?", ()),
        ),
        {label: "numbers"},
        (),
    )
    text = config_text(profile, label)
    read = tomllib.loads(text)
    assert read == {
        "agents": [name.replace(",", "?") for name in names],
        "id": label,
        "percent": [name.replace(",", "?") for name in names[1:]],
    }
    answered = text.replace("# positive = ", "positive = ", 1)
    assert tomllib.loads(answered)["positive"] == label


@given(st.lists(st.text(min_size=1, max_size=30), min_size=2, max_size=20, unique=True))
def test_an_open_list_of_agents_stays_a_comment_until_it_is_answered(names):
    choices = tuple((name, "numbers") for name in names)
    question = Question("agents", "which columns?", choices)
    text = config_text(TableProfile(9, {}, {}, (question,), {}, ()), "t.csv")
    assert tomllib.loads(text) == {}
    start = text.index("# agents = ")
    end = text.index("\n\n", start)
    answered = "\n".join(line[2:] for line in text[start:end].split("\n"))
    found = tomllib.loads(answered)["agents"]
    assert found == [name.replace(",", "?") for name in names]


def test_a_column_that_is_called_an_id_may_repeat_some(tmp_path):
    ids = [f"c{t % (T - 5)}" for t in range(T)]
    profile = look(tmp_path, {"case_id": ids} | REPORTS | {"y": Y})
    assert profile.options["id"] == "case_id"
    assert profile.reasons["id"] == "5 rows with the id of an earlier one"
    few = [f"c{t % 10}" for t in range(T)]
    assert "id" not in look(tmp_path, {"case_id": few} | REPORTS | {"y": Y}).options


def test_a_text_that_hardly_repeats_names_the_cases(tmp_path):
    """Whatever it is called: one row in 100 was entered twice."""
    columns = {name: np.tile(p, 5) for name, p in REPORTS.items()} | {
        "y": np.tile(Y, 5)
    }
    numbers = [f"TX{max(t, 3)}" for t in range(5 * T)]
    profile = look(tmp_path, {"Vorgangs-Nr": numbers} | columns)
    assert profile.options["id"] == "Vorgangs-Nr"
    assert profile.reasons["id"] == "3 rows with the id of an earlier one"
    numbers = [f"TX{max(t, 4)}" for t in range(5 * T)]
    assert "id" not in look(tmp_path, {"Vorgangs-Nr": numbers} | columns).options


VENDOR = np.clip(20 + 60 * Y + RNG.normal(0, 10, T), 2, 98).round(2)


def answered(text):
    """Text of a config file in which the lines for a yes replace those above them."""
    comment = text.index("# If it is an agent, use these lines instead of")
    lines = text[comment:].partition("\n\n")[0].splitlines()[1:]
    keys = [line.split()[1] for line in lines if " = " in line]
    kept = [line for line in text[:comment].splitlines() if line.split()[:1] not in
            [[key] for key in keys]]  # fmt: skip
    return "\n".join([*kept, *(line[2:] for line in lines)])


@pytest.mark.parametrize("written", [{}, {"sep": ";", "decimal": ","}, {"sep": "\t"}])
def test_an_agent_in_percent_is_asked_about_and_the_lines_cure_it(tmp_path, written):
    age, ids = RNG.integers(18, 90, T), [f"0{t}" for t in range(T)]
    columns = REPORTS | {"vendor": VENDOR, "age": age, "case": ids, "y": Y}
    profile = look(tmp_path, columns, **written)
    assert profile.options["agents"] == ["m0", "m1", "m2"]
    (question,) = profile.questions
    assert question.sentence == "is 'vendor' an agent in percent?"
    assert f"from {VENDOR.min():g} to {VENDOR.max():g}" in question.reasons
    assert profile.amounts == ("age",)
    text = config_text(profile, "table.csv")
    assert "is 'vendor' an agent in percent?" in text
    assert "percent" not in tomllib.loads(text)
    options = tomllib.loads(answered(text))
    assert options["percent"] == ["vendor"]
    panel, _ = load_panel(tmp_path / "table.csv", TableFormat(**options))
    assert panel.agents == ("m0", "m1", "m2", "vendor")
    assert panel.reports[:, 3] == pytest.approx(VENDOR / 100)
    assert panel.reports[:, 0] == pytest.approx(REPORTS["m0"])
    assert panel.ids.tolist() == ids


def test_percent_signs_in_some_columns_say_which_agents_are_in_percent(tmp_path):
    signed = [f"{p:.3f} %" for p in 100 * REPORTS["m1"]]
    profile = look(tmp_path, REPORTS | {"m1": signed, "vendor": VENDOR, "y": Y})
    assert profile.options["percent"] == ["m1"]
    assert profile.reasons["percent"].startswith("percent signs, which the others")
    assert profile.problem is None
    (question,) = profile.questions
    assert question.if_so == {
        "agents": ["m0", "m1", "m2", "vendor"],
        "percent": ["m1", "vendor"],
    }
    text = config_text(profile, "table.csv")
    assert tomllib.loads(text)["percent"] == ["m1"]
    options = tomllib.loads(answered(text))
    panel, _ = load_panel(tmp_path / "table.csv", TableFormat(**options))
    assert panel.reports[:, 1] == pytest.approx(REPORTS["m1"], abs=1e-5)
    assert panel.reports[:, 3] == pytest.approx(VENDOR / 100)


def test_where_all_agents_carry_percent_signs_a_bare_one_joins_them(tmp_path):
    signed = {name: [f"{p:.3f}%" for p in 100 * v] for name, v in REPORTS.items()}
    profile = look(tmp_path, signed | {"vendor": VENDOR, "y": Y})
    assert profile.options["percent"] is True
    (question,) = profile.questions
    assert question.if_so["percent"] is True
    options = tomllib.loads(answered(config_text(profile, "table.csv")))
    panel, _ = load_panel(tmp_path / "table.csv", TableFormat(**options))
    assert panel.reports[:, 3] == pytest.approx(VENDOR / 100)


def test_the_mean_report_of_two_units_is_in_percent(tmp_path):
    signed = [f"{p:.3f}%" for p in 100 * REPORTS["m1"]]
    label = np.where(Y, "yes", "no")
    profile = look(tmp_path, REPORTS | {"m1": signed, "label": label})
    why = dict(profile.questions[0].choices)["yes"]
    mean = 100 * np.mean([values[Y == 1] for values in REPORTS.values()])
    assert why.endswith(f"the mean report there is {mean:.3g} %")


def test_agents_of_classes_with_percent_signs_are_named_once(tmp_path):
    columns = {f"{name}:{label}": p if label == "bad" else 1 - p
               for name, p in REPORTS.items() for label in ("good", "bad")}  # fmt: skip
    for label in ("good", "bad"):
        columns[f"m1:{label}"] = [f"{100 * p}%" for p in columns[f"m1:{label}"]]
    profile = look(tmp_path, columns | {"kind": np.where(Y, "bad", "good")})
    assert profile.options["percent"] == ["m1"]
    assert profile.problem is None


def test_one_fraction_beside_percentages_is_asked_about_as_such(tmp_path):
    columns = {"m0": REPORTS["m0"], "a": VENDOR, "b": VENDOR, "y": Y}
    profile = look(tmp_path, columns)
    (question,) = [q for q in profile.questions if q.option == "percent"]
    assert [value for value, _ in question.choices] == [["a", "b"]]
    assert '# percent = ["a", "b"]  # up to ' in config_text(profile, "table.csv")


def test_numbers_that_go_little_beyond_one_may_all_be_percentages(tmp_path):
    columns = {"m0": REPORTS["m0"], "a": 5 * REPORTS["m1"], "y": Y}
    profile = look(tmp_path, columns)
    (question,) = [q for q in profile.questions if q.option == "percent"]
    assert [value for value, _ in question.choices] == [True, ["a"]]
    assert '# percent = ["a"]  # if those' in config_text(profile, "table.csv")


def test_the_date_of_the_cases_of_a_long_table_is_found(tmp_path):
    cases = np.repeat(np.arange(20), 3)
    columns = {
        "question": [f"q{q}" for q in cases],
        "who": ["ann", "bob", "cyd"] * 20,
        "p": RNG.random(60).round(3),
        "day": [str(date(2026, 1, 1) + timedelta(days=int(q))) for q in cases],
        "y": cases % 2,
    }
    profile = look(tmp_path, columns)
    assert profile.options["long"] == ["question", "who", "p"]
    assert profile.options["time"] == "day"
    assert profile.problem is None


@pytest.mark.parametrize("names", [("low", "mid", "high"), ("1", "0", "2")])
def test_costs_of_many_classes_are_a_matrix_in_their_order(tmp_path, names):
    columns = {f"{who}:{name}": np.full(T, p) + RNG.uniform(0, 1e-4, T)
               for who in "ab" for name, p in zip(names, (0.2, 0.3, 0.5), strict=True)}  # fmt: skip
    labels = np.array(names)[np.arange(T) % 3]
    text = config_text(look(tmp_path, columns | {"label": labels}), "t.csv")
    order = ", ".join(names if names[0] == "low" else ("0", "1", "2"))
    assert f'# in the order {order}\n# cost-matrix = "0,1,1; 1,0,1; 1,1,0"' in text
    assert "cost-fn" not in text
    amounts = {"hours": np.arange(T) % 7 + 0.5}
    text = config_text(look(tmp_path, columns | amounts | {"label": labels}), "t.csv")
    # Which class is the negative one is not guessed, so no column is offered either.
    assert "cost-fn" not in text


def test_a_column_that_looks_like_reports_but_for_a_word_is_asked_about(tmp_path):
    cells = REPORTS["m2"].astype(str).astype(object)
    cells[::20], cells[1] = "n/d", "open"
    profile = look(tmp_path, {**REPORTS, "m2": cells, "y": Y})
    assert profile.options["agents"] == ["m0", "m1", "m2"]
    (asked,) = (q for q in profile.questions if q.option == "missing")
    assert asked.sentence == (
        "does 'n/d' mean no report (3 cells of 'm2') and does 'open' mean no report (1 cell "
        "of 'm2')? Then pass --missing n/d --missing open; else correct these cells."
    )
    assert [word for word, _ in asked.choices] == ["n/d", "open"]
    assert asked.required  # the table cannot be read without an answer
    text = config_text(profile, "table.csv")
    assert '# missing = ["n/d", "open"]' in text
    answered = tomllib.loads(text.replace("# missing", "missing"))
    assert answered["missing"] == ["n/d", "open"]
    assert "group" not in questions(profile)


def test_a_long_table_is_found_whose_times_have_am_and_pm(tmp_path):
    """Its two columns of times are written differently."""
    day = pd.date_range("2026-01-20 09:00", periods=T // 3, freq="31h")
    at = np.repeat(day, 3)
    profile = look(
        tmp_path,
        {
            "question": np.repeat([f"q{i}" for i in range(T // 3)], 3),
            "who": np.tile(["ana", "bo", "cy"], T // 3),
            "p": RNG.random(T).round(3),
            "at": (at + pd.to_timedelta(np.arange(T), "min")).strftime(
                "%m/%d/%Y %I:%M %p"
            ),
            "closes": (at + pd.Timedelta("9D")).strftime("%m/%d/%Y"),
            "y": np.repeat(np.arange(T // 3) % 2, 3),
        },
    )
    assert profile.options["long"] == ["question", "who", "p"]
    assert profile.options["time-format"] == "%m/%d/%Y %I:%M %p | %m/%d/%Y"
    assert profile.options["decision-time"] == "closes"
    assert profile.problem is None


def test_percentages_are_not_asked_about_where_all_numbers_lie_within_1(tmp_path):
    profile = look(tmp_path, {"m0": REPORTS["m0"], "y": Y})
    assert "percent" not in questions(profile)


def test_options_of_a_table_are_printed_as_a_shell_takes_them():
    written = TableFormat("label", ignore=("a b", "c"), missing=("n/d", "no answer"))
    assert " ".join(written.options()) == (
        "--outcome label --ignore 'a b' --ignore c --missing n/d --missing 'no answer'"
    )


@pytest.mark.parametrize(
    ("agents", "ignore", "shown"),
    [
        ("a,b,c", ("c", "notes"), "--agents a,b"),
        ("rf,b", ("rf:odd",), "--agents rf,b --ignore rf:odd"),
        ("*:yes", ("rf",), "--agents '*:yes' --ignore rf"),
        (None, ("c",), "--ignore c"),
    ],
)
def test_what_the_names_of_the_agents_leave_out_is_not_printed_again(
    agents, ignore, shown
):
    assert " ".join(TableFormat(agents=agents, ignore=ignore).options()) == shown


def test_a_tab_is_printed_by_its_name():
    written = TableFormat(sep="tab")
    assert written.options() == ["--sep tab"]
    assert TableFormat(sep=written.options()[0].split()[1]) == written


@pytest.mark.parametrize(("name", "offered"), [("Customer No", True), ("note", False)])
def test_customers_of_whom_few_repeat_are_offered_as_a_group(tmp_path, name, offered):
    values = [f"C{i:04d}" for i in range(len(Y))]
    values[-1] = values[0]
    columns = REPORTS | {"id": np.arange(len(Y)), name: values, "y": Y}
    assert ("group" in questions(look(tmp_path, columns))) is offered
    columns[name] = [*values[:-2], None, None]
    assert "group" not in questions(look(tmp_path, columns))
