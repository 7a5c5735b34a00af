"""Verdicts from tables: labels of another table, runs, words, scores, layouts."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from truepool.tables import Declared, Place, ReportTable, TableFaults
from truepool_jury.juries import read_verdicts
from truepool_jury.juries.verdict_table import JURY


def read(tmp_path, text, labels=None, answer=lambda questions: {}, **keys):
    path, other = tmp_path / "v.csv", None
    path.write_text(text)
    if labels is not None:
        other = tmp_path / "labels.csv"
        other.write_text(labels)
    return read_verdicts(path, Declared.of(keys), labels=other, answer=answer)


def refusal(tmp_path, text, labels=None, **keys):
    with pytest.raises(TableFaults) as error:
        read(tmp_path, text, labels, **keys)
    assert all(error.value.lines(JURY))
    return error.value


# Labels of another table

VERDICTS = "id,gpt,claude,passed\na,0.9,0.8,\nb,0.2,0.3,no\nc,0.6,0.4,\n"
PASSED = {"outcome": "passed", "positive": "yes"}


def test_labels_come_back_by_id_with_their_weights(tmp_path):
    labels = "id,passed,label_weight\nc,yes,2.5\nb,,\nnew,,1.5\n"
    found = read(tmp_path, VERDICTS, labels, weight="label_weight", **PASSED)
    assert found.verdicts.ids.tolist() == ["b", "c"]
    assert found.verdicts.outcomes.tolist() == [0, 1]
    assert_array_equal(found.label_weights, [np.nan, 2.5])


def test_labels_of_another_type_are_compared_as_text(tmp_path):
    table = "item,gpt,claude,passed\n007,0.9,0.8,\n7,0.2,0.3,1\n"
    labels = "item,passed\n007,0\n"
    found = read(tmp_path, table, labels, id="item", outcome="passed")
    assert found.verdicts.outcomes.tolist() == [0, 1]
    frame = pd.DataFrame({"id": ["a", "b"], "x": [0.9, 0.2], "y": [0.8, 0.3]})
    labels = pd.DataFrame({"id": ["b", "a"], "passed": [0.0, None]})
    found = read_verdicts(frame.rename(columns={"y": "z"}).assign(passed=["1", None]),
                          Declared("passed"), labels=labels)  # fmt: skip
    assert found.verdicts.outcomes.tolist() == [1, 0]


def test_a_column_of_labels_is_taken_by_its_usual_name_and_asked_for_otherwise(
    tmp_path,
):
    table = "id,gpt,claude\na,0.9,0.8\nb,0.2,0.3\n"
    found = read(tmp_path, table, "id,decision,label\na,0,1\nb,1,0\n")
    assert found.verdicts.outcomes.tolist() == [1, 0]
    # The decisions of the jury are no labels.
    error = refusal(tmp_path, table, "id,decision,human\na,0,1\nb,1,0\n")
    assert error.codes == ("no-outcome",)


@pytest.mark.parametrize(
    ("labels", "code", "found"),
    [
        ("id,passed\nb,yes\n", "values-differ", "yes"),
        ("id,passed\na,yes\na,no\n", "values-differ", "no"),
        ("id,passed\nz,yes\n", "label-without-item", "z"),
        ("id,passd\na,yes\n", "no-column", None),
        ("item,passed\na,yes\n", "no-column", None),
        ("id,passed,w\nc,yes,many\n", "amount-odd", "many"),
        ("id,passed,label_weight\nc,yes,2\n", "weights-not-named", None),
    ],
)
def test_labels_that_do_not_fit_are_refused(tmp_path, labels, code, found):
    keys = PASSED | ({"weight": "w"} if ",w" in labels else {})
    (fault,) = refusal(tmp_path, VERDICTS, labels, **keys).faults
    assert (fault.code, fault.found) == (code, found)


def test_weights_that_are_not_there_are_refused(tmp_path):
    assert refusal(tmp_path, VERDICTS, weight="w", **PASSED).codes == ("no-column",)


def test_one_label_is_no_sample(tmp_path):
    keys = {"outcome": "passed", "positive": "1"}
    table = "id,a,b,passed\n1,0.5,0.5,1\n2,0.5,0.4,\n"
    assert refusal(tmp_path, table, **keys).codes == ("single-label",)


# No labels


def test_items_without_labels_are_reports_and_empty_ones_are_counted(tmp_path):
    table = "id,a,b,passed\n1,0.5,0.4,\n2,,,\n3,0.2,0.3,\n"
    for keys in ({"outcome": "passed"}, {"ignore": "passed"}):
        found = read(tmp_path, table, **keys)
        assert isinstance(found.verdicts, ReportTable)
        assert found.verdicts.values.tolist() == [[0.5, 0.4], [0.2, 0.3]]
        assert found.verdicts.ids.tolist() == ["1", "3"]
        assert (found.id, found.empty_items) == ("id", 1)
    assert refusal(tmp_path, table, outcome="passd").codes == ("no-column",)


def test_a_judge_that_votes_is_not_taken_for_the_labels(tmp_path):
    found = read(tmp_path, "id,a,b,regex\n1,0.5,0.4,1\n2,0.2,0.3,0\n")
    assert found.verdicts.agents == ("a", "b", "regex")


def test_one_column_in_words_beside_numbers_has_the_labels(tmp_path):
    table = "id,a,b,human\n1,0.5,0.4,good\n2,0.2,0.3,\n3,0.1,0.3,bad\n"
    found = read(tmp_path, table, positive="good")
    assert found.verdicts.agents == ("a", "b")
    assert found.table.schema.outcome == "human"
    joined = read(tmp_path, table, "id,human\n2,bad\n", positive="good")
    assert joined.verdicts.outcomes.tolist() == [1, 0, 0]
    one = "id,a,human\n1,0.5,good\n2,0.2,\n3,0.1,bad\n"
    assert read(tmp_path, one, positive="good").verdicts.agents == ("a", "human")
    named = read(tmp_path, table, agents=["a", "human"], positive="good")
    assert named.verdicts.agents == ("a", "human")


LABELLED = (
    "item,judge,verdict,gold,lang\nq1,gpt,pass,,en\nq1,phi,fail,pass,en\n"
    "q2,gpt,fail,fail,de\nq2,phi,fail,fail,de\n"
)


def test_in_a_long_table_labels_are_verdicts_of_which_an_item_has_one(tmp_path):
    found = read(tmp_path, LABELLED, positive="pass")
    assert (found.table.schema.outcome, found.table.schema.unused) == (
        "gold",
        ("lang",),
    )
    assert found.verdicts.outcomes.tolist() == [1, 0]
    two = LABELLED.replace("q1,gpt,pass,,en", "q1,gpt,pass,fail,en")
    assert isinstance(read(tmp_path, two, positive="pass").verdicts, ReportTable)
    error = refusal(tmp_path, LABELLED, outcome="verdict")
    assert error.codes == ("two-roles",)


def test_all_that_is_wrong_or_not_known_is_said_at_once(tmp_path):
    table = "id,a,b,human\n1,4,5,good\n2,2,3,\n3,1,3,bad\n"
    assert {*refusal(tmp_path, table).codes} == {"unit", "which-positive"}
    table = "id,a,b,c\n1,pass,fail,0.5\n2,fail,fail,1.5\n3,pass,dunno,0.1\n"
    error = refusal(tmp_path, table)
    assert {*error.codes} == {"word-unknown", "report-outside", "which-positive"}
    assert all("judge" in each or "verdict" in each for each in error.lines()[:2])


# Runs

RUNS = (
    "item,judge,verdict\nq1,gpt,0.9\nq1,gpt,0.4\nq1,llama,0.5\nq2,gpt,\nq2,gpt,0.2\n"
    "q2,llama,0.1\nq1,phi,0.5\nq1,phi,0.6\n"
)
LONG = ("item", "judge", "verdict")


def test_several_answers_in_a_long_table_are_runs_of_one_judge(tmp_path):
    found = read(tmp_path, RUNS, long=LONG)
    assert found.repeated == [("gpt", "gpt (run 2)"), ("phi", "phi (run 2)")]
    assert found.id == "item"
    assert found.verdicts.values[1].tolist()[0] == 0.2
    for keys in ({"agents": ["gpt", "llama"]}, {"ignore": ["phi"]}):
        named = read(tmp_path, RUNS, long=LONG, **keys)
        assert named.repeated == [("gpt", "gpt (run 2)")]
        assert set(named.verdicts.agents) == {"gpt", "gpt (run 2)", "llama"}
    for place in range(3):
        names = [name + "s" * (i == place) for i, name in enumerate(LONG)]
        assert refusal(tmp_path, RUNS, long=names).codes == ("no-column",)


def test_with_times_the_last_answer_counts(tmp_path):
    table = "item,judge,verdict,time\nq1,gpt,0.9,1\nq1,gpt,0.4,2\nq1,llama,0.5,1\n"
    found = read(tmp_path, table, long=LONG)
    assert found.repeated == []
    assert found.verdicts.values.tolist() == [[0.4, 0.5]]
    found = read(tmp_path, RUNS, updates="last-row")
    assert found.repeated == []
    assert found.verdicts.values[0].tolist() == [0.4, 0.5, 0.6]


def test_the_runs_of_a_judge_have_its_unit(tmp_path):
    table = (
        "item,judge,verdict\nq1,gpt,{}\nq1,gpt,{}\nq1,phi,0.5\nq2,gpt,{}\nq2,phi,0.1\n"
    )
    for values, keys in (
        ((90, 40, 7), {"percent": "gpt"}),
        ((1.4, 3.4, 4.72), {"scores": {"gpt": "5-1"}}),
    ):
        found = read(tmp_path, table.format(*values), **keys)
        expected = [[0.9, 0.4, 0.5], [0.07, np.nan, 0.1]]
        assert_allclose(found.verdicts.values, expected)
        assert found.scores is None


# Units and layout


def test_a_range_that_all_judges_share_is_asked_for_once(tmp_path):
    table = "item,judge,verdict\nq1,a,1\nq1,b,5\nq2,a,3\nq2,b,4\n"
    (question,) = refusal(tmp_path, table).questions
    assert (question.key, "1-5" in question.choices) == ("scores", True)
    found = read(tmp_path, table, answer=lambda questions: {"scores": "1-5"})
    assert found.verdicts.values.tolist() == [[0, 1], [0.5, 0.75]]
    assert found.scores == (1, 5)


def test_a_long_table_is_known_by_the_names_of_its_columns(tmp_path):
    table = "model,id,question,score\ngpt,1,q1,0.2\nphi,2,q1,0.3\ngpt,3,q2,0.4\n"
    found = read(tmp_path, table)
    assert found.table.schema.long == ("question", "model", "score")
    # Each row has an item of its own, so that this one is wide.
    wide = "id,model,score,other\n1,gpt,0.2,0.3\n2,gpt,0.3,0.4\n"
    assert read(tmp_path, wide).verdicts.agents == ("score", "other")
    # A column of numbers names no judges.
    wide = "question,model,score\nq1,0.2,0.3\nq1,0.2,0.4\n"
    assert read(tmp_path, wide).verdicts.agents == ("model", "score")


def test_both_orders_that_a_template_was_asked_in_are_one_judge(tmp_path):
    table = "pairwise (m),pairwise swapped (m),judge (m)\n0.5,0.4,0.2\n0.1,0.2,0.9\n"
    found = read(tmp_path, table)
    assert found.swapped == [("pairwise (m)", "pairwise swapped (m)")]


# Words


def long_words(tmp_path, words, labels, answer=lambda questions: {}, **keys):
    path = tmp_path / "words.jsonl"
    rows = [
        json.dumps({"item": item, "judge": judge, "verdict": word, "passed": label})
        for item, (row, label) in enumerate(zip(words, labels, strict=True))
        for judge, word in zip("ab", row, strict=True)
    ]
    path.write_text("\n".join(rows) + "\n")
    declared = Declared.of({"outcome": "passed", **keys})
    return read_verdicts(path, declared, answer=answer)


def word_refusal(tmp_path, words, labels, **keys):
    with pytest.raises(TableFaults) as error:
        long_words(tmp_path, words, labels, **keys)
    assert all(error.value.lines(JURY))
    return error.value


@pytest.mark.parametrize(("good", "bad"), [("yes", "no"), ("ja", "nein")])
def test_verdicts_in_words_are_votes_for_the_labels(tmp_path, good, bad):
    words = [(good, bad), (good.title(), f" {good} "), (bad, None), (bad, bad)]
    labels = [good, good, bad, None]
    found = long_words(tmp_path, words, labels, positive=good).verdicts
    assert_array_equal(found.reports, [[1, 0], [1, 1], [0, np.nan]])
    assert found.outcomes.tolist() == [1, 1, 0]
    assert found.pending.reports.tolist() == [[0, 0]]
    turned = long_words(tmp_path, words, labels, positive=bad).verdicts
    assert_array_equal(turned.reports, 1 - found.reports)
    assert turned.labels.positive == bad
    asked = long_words(tmp_path, words, labels, lambda questions: {"positive": good})
    assert_array_equal(asked.verdicts.reports, found.reports)
    assert word_refusal(tmp_path, words, labels).codes == ("which-positive",)


def test_words_stand_beside_numbers_and_without_labels(tmp_path):
    words = [("pass", "fail"), ("fail", "0.5")]
    found = long_words(tmp_path, words, [None, None], positive="pass").verdicts
    assert found.values.tolist() == [[1, 0], [0, 0.5]]
    found = long_words(tmp_path, words, [1, 0], positive="pass").verdicts
    assert (found.reports.tolist(), found.outcomes.tolist()) == (
        [[1, 0], [0, 0.5]],
        [1, 0],
    )
    assert word_refusal(tmp_path, words, [1, 0]).codes == ("which-positive",)


def test_other_words_are_named_with_the_cure(tmp_path):
    words, labels = [("yes", "no"), ("no", "perhaps")], ["yes", "no"]
    for known in (labels, [None, None]):
        (fault,) = word_refusal(tmp_path, words, known, positive="yes").faults
        assert (fault.code, fault.found) == ("word-unknown", "perhaps")
        assert fault.place == Place("line", 4)
        assert ("missing", ["perhaps"]) in [(c.key, c.value) for c in fault.cures]
    found = long_words(tmp_path, words, labels, positive="yes", missing="perhaps")
    assert_array_equal(found.verdicts.reports, [[1, 0], [0, np.nan]])
    other = [("good", "bad"), ("bad", "bad")]
    for keys in ({}, {"positive": "yes"}):
        assert word_refusal(tmp_path, other, labels, **keys).codes == ("words-differ",)
    three = [("ja", "nein"), ("nein", "jein")]
    assert word_refusal(tmp_path, three, [None, None]).codes == ("many-words",)
    error = word_refusal(tmp_path, [("1", "jein"), ("jein", "0")], [None] * 2)
    assert (error.codes, error.faults[0].found) == (("many-words",), ["jein"])
    three = ["yes", "no", "open"]
    error = word_refusal(tmp_path, [("yes", "no")] * 3, three, positive="yes")
    assert error.codes == ("which-labels",)


def test_true_and_false_are_numbers(tmp_path):
    words = [("true", "False"), ("FALSE", "true")]
    found = long_words(tmp_path, words, [1, 0]).verdicts
    assert found.reports.tolist() == [[1, 0], [0, 1]]


def test_a_word_among_numbers_is_no_verdict(tmp_path):
    error = word_refusal(tmp_path, [(1, "n/a?"), (0.4, 0.2)], [None, None])
    assert error.codes == ("report-not-number",)


def test_columns_of_verdicts_in_words_are_told_from_other_text(tmp_path):
    table = "id,a,b,c,prompt,passed\n1,yes,no,0.3,why,yes\n2,no,no,0.2,no,no\n3,no,yes,,how,\n"
    found = read(tmp_path, table, **PASSED)
    assert found.verdicts.agents == ("a", "b", "c")
    assert_array_equal(found.verdicts.reports, [[1, 0, 0.3], [0, 0, 0.2]])
    bare = "id,a,b,c,prompt\n1,ja,nein,0.3,why\n2,nein,nein,0.2,how\n3,ja,,,ja\n"
    assert read(tmp_path, bare, positive="ja").verdicts.agents == ("a", "b", "c")
    assert read(tmp_path, bare, agents=["a", "c"], positive="ja").verdicts.agents == (
        "a",
        "c",
    )
    bare = bare.replace("ja", "yes").replace("nein", "no")
    assert refusal(tmp_path, bare).codes == ("which-positive",)
