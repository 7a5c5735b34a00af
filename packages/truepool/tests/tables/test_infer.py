"""What the columns of a table are: what the rows show is taken, the rest is asked."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from corpus import PERCENT, SOUND, A, P, Y, read_table, refusal
from faults import drifted, flipped, sound
from messy_tables import TABLES, write
from panels import random_panel, stationary

from truepool import read_panel
from truepool.datasets import example
from truepool.tables import TableFaults, TableWarning
from truepool.tables.outcome import OUTCOMES

T = 60
LABELS = np.where(Y, "yes", "no")


def table(**columns):
    return pa.table({n: np.asarray(v) if not isinstance(v, list) else v
                     for n, v in (SOUND | {"y": Y} | columns).items()
                     if v is not None})  # fmt: skip


def schema_of(source, **keys):
    return read_table(source, **keys)[1].schema


def notes_of(source, **keys):
    return {note.code: note for note in read_table(source, **keys)[1].notes}


# Messy tables need the answer to one question, or none


ANSWERS = {
    "bank.csv": {"positive": "ja"},
    "soc.tsv": {"positive": "yes"},
    "forecasts.csv": {"decision_time": "closes"},
    "export.csv": {"outcome": "fraud", "agents": "score_*"},
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_messy_table_is_read_with_nothing_but_the_answers_to_its_questions(
    tmp_path, kind
):
    path = write(tmp_path, kind)
    keys = ANSWERS.get(path.name, {})
    if "positive" in keys:
        refused = refusal(path)
        (question,) = refused.questions
        assert (refused.codes, question.key) == (("which-positive",), "positive")
        assert keys["positive"] in question.choices
    if path.name == "export.csv":  # a flag and the outcome have two values each
        assert refusal(path).questions[0].choices == ("reviewed", "fraud")
    panel, _ = read_table(path, **keys)
    assert panel.agents == TABLES[kind].agents
    assert len(panel) == TABLES[kind].cases


def test_a_bank_export_says_itself_what_it_is(tmp_path):
    path = write(tmp_path, "semicolons and decimal commas, in percent")
    schema = schema_of(path, positive="ja")
    assert (schema.outcome, schema.labels) == ("betrug", ("nein", "ja"))
    assert (schema.id, schema.time) == ("konto", "datum")
    assert schema.formats == {"datum": "%d.%m.%Y"}
    assert (schema.decimal, schema.signed) == (",", ("rf", "gbm", "vendor"))


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("frame", ["pandas", "pyarrow"])
def test_a_schema_reads_its_own_table_again(tmp_path, kind, frame):
    panel, found = read_table(
        write(tmp_path, kind), **ANSWERS.get(TABLES[kind].name, {})
    )
    rows = found.source.table()
    source = rows.to_pandas() if frame == "pandas" else rows
    again, _ = read_table(source, **vars(found.schema.declared()))
    np.testing.assert_array_equal(again.reports, panel.reports)
    assert again.labels == panel.labels


# Outcomes


def test_the_outcome_is_the_only_column_it_can_be():
    assert schema_of(table(y=None, state=LABELS), positive="yes").outcome == "state"
    assert schema_of(table(y=None, fraud=Y)).outcome == "fraud"


@pytest.mark.parametrize("name", ["outcome", "LABEL", "target"])
def test_of_several_columns_a_usual_name_decides(name):
    assert name.lower() in OUTCOMES
    flags = {"reviewed": Y[::-1], name: Y}
    assert schema_of(table(y=None, **flags), agents=list(SOUND)).outcome == name
    (question,) = refusal(table(y=None, reviewed=Y[::-1], flag=Y)).questions
    assert (question.code, question.choices) == ("which-outcome", ("reviewed", "flag"))


@pytest.mark.parametrize("word", ["indeterminate", "split", None])
def test_an_outcome_with_a_third_label_is_not_passed_over(word):
    """With another column of two values, that one was taken."""
    final = LABELS.astype(object)
    final[::9] = word
    columns = {"trainee": (P > 0.5).astype(int), "result": final.tolist()}
    asked = refusal(table(y=None, **columns)).questions[0]
    if word is None:
        assert asked.code == "which-positive"
    else:
        keys = {"outcome": "result", "positive": "yes", "missing": [word]}
        assert asked.code == "which-outcome"
        assert "trainee" in asked.choices
        assert keys in asked.choices  # one answer says it all
        panel = read_panel(table(y=None, **columns), **keys)
        assert (len(panel), len(panel.pending)) == (53, 7)


@pytest.mark.parametrize(
    "labels", [LABELS, Y + 1, 2 * Y - 1, np.where(Y, "1", "2"), np.where(Y, 0.5, 0.25)]
)
def test_the_positive_label_is_never_guessed(labels):
    found = refusal(table(y=labels), outcome="y")
    (question,) = found.questions
    assert (question.code, len(question.choices)) == ("which-positive", 2)
    for choice in question.choices:
        panel = read_panel(table(y=labels), outcome="y", positive=choice)
        assert panel.labels.positive == choice
    counts = [int(why.partition(" of ")[0].replace(",", "")) for why in question.about]
    assert sorted(counts) == sorted([int(Y.sum()), int(60 - Y.sum())])


@pytest.mark.parametrize("plain", [Y, Y.astype(bool), Y.astype(float), Y.astype(str)])
def test_0_and_1_say_themselves_which_is_positive(plain):
    assert read_panel(table(y=plain)).labels.positive in (1, True)
    assert (
        read_panel(
            table(y=plain),
            positive=np.unique(plain)[0].item() if plain.dtype != float else 0,
        ).outcomes.tolist()
        == (1 - Y).tolist()
    )


@pytest.mark.parametrize(
    ("labels", "keys", "code", "found"),
    [
        (np.resize([*"abcdef"], T), {}, "three-labels", None),
        (["yes"] * T, {}, "one-label", "yes"),
        (["Fraud", "fraud"] * 30, {}, "one-label", "Fraud"),
        (LABELS, {"positive": "maybe"}, "no-label", "maybe"),
        ([None] * T, {"outcome": "y"}, "no-outcomes", None),
    ],
)
def test_labels_that_are_no_outcome_are_refused(labels, keys, code, found):
    (fault,) = refusal(table(y=labels), **keys).faults
    assert (fault.code, fault.found) == (code, found)


def test_one_question_settles_an_outcome_in_many_spellings():
    """It took three refusals: one for y beside Y, one for ?, one for the positive."""
    labels = LABELS.astype(object)
    labels[[2, 7]] = "Yes", "?"
    rows = table(y=None, fraud=labels.tolist())
    (asked,) = refusal(rows).questions
    assert (asked.code, asked.column) == ("which-labels", "fraud")
    assert {*map(str, asked.choices)} == {
        str({"positive": label, "missing": ["?"]}) for label in ("yes", "no")
    }
    panel, found = read_table(rows, **asked.choices[0])
    assert (len(panel), len(panel.pending)) == (59, 1)
    note = {note.code: note.fields for note in found.notes}["spellings"]
    assert (note["names"], note["label"]) == (["'Yes'"], "yes")
    assert asked.choices[0] in refusal(rows, outcome="fraud").questions[0].choices


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (["yes", "no", "open"], 6),  # any of the three may mean no outcome
        (["yes", "no", "--", "?"], 2),  # no word at all
        (["yes", "no"] * 30 + ["late", "lost"], 2),  # two stand in nearly all rows
        (["1", "0", "?"], 1),  # these say which is positive
    ],
)
def test_words_that_may_mean_no_outcome_are_offered_as_such(words, choices):
    (asked,) = refusal(table(y=np.resize(words, T))).questions
    assert len(asked.choices) == choices
    for keys, _ in asked.answers():
        panel = read_panel(table(y=np.resize(words, T)), **keys)
        pending = 0 if panel.pending is None else len(panel.pending)
        assert len(panel) + pending == len(np.resize(words, T))


def test_a_column_of_ids_is_no_outcome_and_is_read_in_linear_time():
    names = pa.table(
        {
            "a": np.tile(P, 50),
            "b": np.tile(A, 50),
            "y": [f"T{i:05d}" for i in range(3000)],
        }
    )
    assert refusal(names, outcome="y").codes == ("many-labels",)


def test_a_word_for_missing_is_no_outcome_yet():
    labels = LABELS.astype(object)
    labels[[3, 9]] = "open", " open "
    labels[[4, 5]] = "NA", ""
    panel = read_panel(table(y=labels.tolist()), positive="yes", missing="open")
    assert (len(panel), len(panel.pending)) == (56, 4)
    assert panel.pending.position.tolist() == [3, 3, 3, 6]


# Ids, times and other columns


def test_ids_and_times_are_found_where_only_one_column_can_be_each():
    days = [date(2026, 1, 1) + timedelta(days=int(t)) for t in range(T)]
    columns = {"case": [f"c{t}" for t in range(T)], "day": [str(day) for day in days]}
    schema = schema_of(table(**columns))
    assert (schema.id, schema.time) == ("case", "day")
    schema = schema_of(
        table(**columns, other=[f"d{t}" for t in range(T)], closed=columns["day"][::-1])
    )
    assert (schema.id, schema.time) == (None, None)
    assert schema.unused == ("case", "day", "other", "closed")
    usual = {"id": columns["case"], "time": list(range(T))}
    schema = schema_of(table(**columns, **usual))
    assert (schema.id, schema.time) == ("id", "time")


@pytest.mark.parametrize(
    ("column", "role"),
    [
        (np.arange(T), "id"), (np.arange(T) + 1000, "id"), (np.repeat(np.arange(30), 2) + 200, "unused"),
        ([f"k{t // 2}" for t in range(T)], "unused"), ([None] * T, "unused"),
        (["DE", "FR", "IT"] * 20, "unused"), (-np.arange(T) / 7, "unused"),
        (100 + PERCENT[::-1], "unused"), ([[1, 2]] * T, "agent"), ([b"\xff"] * T, "unused"),
    ],
)  # fmt: skip
def test_a_column_that_is_no_agent_is_named_as_not_used(column, role):
    if role == "agent":
        assert refusal(table(extra=column)).codes == ("one-or-classes",)
        return
    schema = schema_of(table(extra=column))
    assert schema.agents == ("rf", "gbm", "mlp")
    assert (schema.id, schema.unused) == (
        ("extra", ()) if role == "id" else (None, ("extra",))
    )


def test_a_column_of_dates_with_an_impossible_one_is_refused_by_its_row():
    days = [f"{15 + t % 9}.03.2026" for t in range(T)]
    (fault,) = refusal(table(day=["31.02.2026", *days[1:]])).faults
    assert (fault.code, fault.column, fault.row) == ("time-odd", "day", 0)
    assert ("ignore", ["day"]) in [(cure.key, cure.value) for cure in fault.cures]
    assert schema_of(table(day=["31.02.2026", *days[1:]]), ignore="day").time is None
    other = {"seen": ["2026-03-01"] * T}  # which holds the times without any doubt
    assert schema_of(table(day=["31.02.2026", *days[1:]], **other)).time == "seen"
    for others in (["soon"] * 4 + days[4:], ["soon", None, *days[2:]]):
        assert schema_of(table(day=others)).unused == ("day",)


def test_repeated_ids_are_told_from_rows_that_were_entered_twice():
    ids = [f"c{t}" for t in range(T)]
    again = table(id=ids[:-1] + ids[:1])
    with pytest.warns(TableWarning):
        read_panel(again)
    assert notes_of(again)["ids-repeated"].fields == {"count": 1}
    whole = table(id=ids)
    twice = pa.concat_tables([whole, whole.slice(0, 2)])
    assert notes_of(twice)["rows-repeated"].fields == {"count": 2}
    both = pa.concat_tables([twice, again.slice(T - 1)])
    found = notes_of(both)
    assert (found["rows-repeated"].fields, found["ids-repeated"].fields) == (
        {"count": 2},
        {"count": 1},
    )


def test_cases_without_a_report_are_left_out_and_counted():
    rows = pa.table(
        {
            "a": [0.9, None, 0.5, 0.1, None],
            "b": [None, None, 0.1, 0.3, None],
            "y": [1, 0, 0, None, None],
        }
    )
    panel, found = read_table(rows)
    assert (len(panel), len(panel.pending)) == (2, 1)
    assert panel.pending.position.tolist() == [2]
    assert {n.code: n.fields for n in found.notes}["empty-cases"] == {"count": 2}
    kept = read_panel(rows, allow_empty_cases=True)
    assert (len(kept), len(kept.pending)) == (3, 2)


def test_amounts_are_said_to_be_read_as_such():
    note = notes_of(table(fee=["1.250,00 €"] * T), columns="fee")["amounts"]
    assert note.fields["column"] == "fee"


# Agents


@pytest.mark.parametrize(
    ("agents", "found"),
    [
        ("m_*", ("m_a", "m_b")), (("m_a", "z"), ("m_a", "z")), (("z", "m_b"), ("m_b", "z")),
        ("llama, 70b", None), ((), ("m_a", "m_b", "z", "llama, 70b")), ("*a*", ("m_a", "llama, 70b")),
    ],
)  # fmt: skip
def test_agents_are_chosen_by_name_or_pattern(agents, found):
    columns = {name: [0.4, 0.6] for name in ("m_a", "m_b", "z", "llama, 70b")}
    rows = pa.table({**columns, "y": [1, 0]})
    if found is None:  # one text is one name
        assert refusal(rows, agents=agents).faults[0].found == ["llama, 70b"]
    else:
        assert read_panel(rows, agents=agents).agents == found


@pytest.mark.parametrize(
    ("keys", "code", "key", "cure"),
    [
        ({"agents": "rff"}, "no-column", "agents", ["rf"]),
        ({"agents": ["rf", "gbm", "betta"]}, "no-column", "agents", None),
        ({"ignore": "gbmm"}, "no-column", "ignore", ["gbm"]),
        ({"outcome": "yy"}, "no-column", "outcome", "y"),
        ({"id": "yy"}, "no-column", "id", "y"),
        ({"time": "yy"}, "no-column", "time", "y"),
        ({"weight": "yy"}, "no-column", "weight", "y"),
        ({"group": "yy"}, "no-column", "group", "y"),
        ({"propensity": "yy"}, "no-column", "propensity", "y"),
        ({"columns": "yy"}, "no-column", "columns", "y"),
        ({"long": ("yy", "rf", "gbm")}, "no-column", "long", "y"),
    ],
)
def test_a_column_that_is_not_there_is_named_with_the_one_that_was_meant(
    keys, code, key, cure
):
    (fault,) = refusal(table(), **keys).faults
    assert (fault.code, fault.fields["key"]) == (code, key)
    assert [each.value for each in fault.cures] == ([] if cure is None else [cure])


@pytest.mark.parametrize(
    "keys",
    [
        {"id": "rf"},
        {"time": "rf"},
        {"columns": "rf"},
        {"propensity": "rf"},
        {"outcome": "rf"},
    ],
)
def test_a_column_has_one_role(keys):
    found = refusal(table(), agents=["rf", "gbm"], **keys).faults[0]
    assert (found.code, found.column, found.fields["keys"]) == (
        "two-roles",
        "rf",
        ["agents", *keys],
    )


def test_a_column_is_not_named_for_two_things():
    (fault,) = refusal(table(w=P + 1), weight="w", group="w").faults
    assert (fault.code, fault.fields["keys"]) == ("two-roles", ["weight", "group"])


def test_a_named_agent_is_not_taken_for_the_outcome():
    """It was, without a word, and so left out of the agents."""
    assert refusal(table(), agents=[*SOUND, "y"]).codes == ("no-outcome",)


@pytest.mark.parametrize(
    "columns",
    [{"a": P}, {}, {"a": LABELS, "b": LABELS[::-1]}, {"a": np.linspace(-3, 3, T), "b": 1000 * P},
     {"question": [f"w{t % 5}" for t in range(T)], "who": ["x", "z"] * 30, "p": P}],
)  # fmt: skip
def test_a_table_without_two_agents_says_which_columns_it_has(columns):
    (fault,) = refusal(pa.table(columns | {"y": Y})).faults
    assert fault.code == "few-agents"
    assert len(fault.fields["columns"]) == len(columns) - len(fault.found)


def test_columns_of_text_are_no_agents():
    columns = {
        "Site": ["St. Anna", "St. Bruno"] * 30,
        "Ward": [f"w{t % 5}" for t in range(T)],
    }
    schema = schema_of(table(**columns))
    assert (schema.agents, schema.unused) == (("rf", "gbm", "mlp"), ("Site", "Ward"))
    found = refusal(table(**columns), agents=["rf", "gbm", "Site"]).faults
    assert [(fault.code, fault.agent, fault.count) for fault in found] == [
        ("report-not-number", "Site", 60)
    ]


def test_votes_beside_probabilities_are_agents_or_the_outcome_is_asked_for():
    votes = {f"coder {n}": (p > 0.5).astype(int) for n, p in SOUND.items()}
    assert len(read_panel(table(**votes)).agents) == 6
    (question,) = refusal(table(y=None, final=Y, **votes)).questions
    assert (question.code, {*question.choices}) == ("which-outcome", {*votes, "final"})
    assert read_panel(pa.table({**votes, "y": Y})).agents == tuple(votes)


# Columns between 0 and 1 that may be no agents


def test_few_values_without_a_relation_to_the_outcome_are_noted():
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.3).astype(int)
    agents = {
        f"v{i}": 1 / (1 + np.exp(-(1.5 * (y - 0.5) + rng.normal(size=2000))))
        for i in range(3)
    }
    discount = rng.choice([0.0, 0.05, 0.1], 2000)
    rows = pa.table(agents | {"discount": discount, "y": y})
    note = notes_of(rows)["few-values"]
    assert (note.fields["column"], note.warning) == ("discount", True)
    assert {note.fields["key"]: note.fields["value"]} == {"ignore": ["discount"]}
    assert "few-values" not in notes_of(rows, ignore="discount")
    related = pa.table(
        agents | {"v3": np.where(y, 0.5, rng.choice([0.0, 0.5], 2000)), "y": y}
    )
    assert "few-values" not in notes_of(related)
    noise = pa.table(agents | {"v3": rng.random(2000), "y": y})
    assert "few-values" not in notes_of(noise)  # left to the audit


@pytest.mark.parametrize(
    "panel",
    [example(), sound(), flipped(), drifted(), stationary(2000), random_panel(),
     random_panel(cases=2000), random_panel(cases=2000, silent=0.5)],
    ids=lambda panel: f"{len(panel)}x{len(panel.agents)}",
)  # fmt: skip
def test_the_agents_of_these_panels_are_not_doubted(panel):
    columns = dict(zip(panel.agents, panel.reports.T, strict=True))
    rows = pd.DataFrame(columns).assign(y=panel.outcomes)
    assert "few-values" not in notes_of(rows)


# All at once


def test_all_faults_and_all_questions_come_together():
    columns = {"rf": [*map(str, P[:-1]), "huh"], "gbm": np.where(np.arange(T) == 3, 1.2, A), "mlp": PERCENT,
               "y": LABELS, "w": [*(P[:-1] + 1), -1.0], "day": ["03/04/2026", "05/06/2026"] * 30}  # fmt: skip
    found = refusal(table(**columns), weight="w")
    assert {fault.code for fault in found.faults} == {
        "report-not-number",
        "report-outside",
        "weight-range",
    }
    assert {question.code for question in found.questions} == {
        "unit",
        "which-format",
        "which-positive",
    }


def test_every_agent_has_its_own_fault_and_one_of_a_kind_is_counted():
    columns = {f"a{i}": np.where(np.arange(T) < i, 1.2, P) for i in range(30)}
    error = refusal(pa.table(columns | {"y": Y}))
    assert [(fault.agent, fault.count) for fault in error.faults] == [
        (f"a{i}", i) for i in range(1, 30)
    ]
    assert len(error.lines()) == 21  # twenty, and how many more there are


def test_answers_are_taken_from_whoever_gives_them():
    from truepool.tables import Declared, load_panel

    asked = []

    def answer(questions):
        asked.extend(question.code for question in questions)
        return {k: v for each in questions for k, v in each.answers()[0][0].items()}

    panel, _ = load_panel(table(y=LABELS, mlp=PERCENT), Declared(), answer=answer)
    assert sorted(asked) == ["unit", "which-positive"]
    assert panel.reports[0, 2] == PERCENT[0] / 100
    with pytest.raises(TableFaults):
        load_panel(table(y=LABELS), Declared(), answer=lambda questions: {})
