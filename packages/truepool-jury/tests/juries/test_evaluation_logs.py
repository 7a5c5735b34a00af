"""Logs of evaluation tools become verdicts; each shape is written here by hand."""

import json

import pytest

from truepool.core.errors import OutcomeError, SettingError, SourceError
from truepool.tables import ReportTable, TableFormat
from truepool_jury.juries import read_verdicts
from truepool_jury.juries.evaluation_logs import READERS, read_log


def lines(path, *objects):
    path.write_text("\n".join(json.dumps(each) for each in objects) + "\n")
    return path


def component(score, **assertion):
    return {"pass": score > 0.5, "score": score, "reason": "", "assertion": assertion}


def result(test, *components):
    grading = {"pass": True, "score": 1, "reason": "", "componentResults": components}
    return {"testIdx": test, "promptIdx": 0, "success": True, "gradingResult": grading}


PROMPTFOO = (
    result(0, component(0.9, type="llm-rubric", provider="openai:gpt-5"),
           component(0.7, type="llm-rubric", metric="tone"),
           component(1, type="human")),
    result(1, component(0.2, type="llm-rubric", provider={"id": "openai:gpt-5"}),
           component(0.4, type="llm-rubric", metric="tone"), component(0, type="human")),
    result(2, component(0.6, type="llm-rubric", provider="openai:gpt-5"),
           {**component(0, type="llm-rubric", metric="tone"),
            "metadata": {"graderError": True}}),
    {"testIdx": 3, "promptIdx": 0, "gradingResult": None},
)  # fmt: skip


def match(run, sample, picked, expected):
    data = {"correct": picked == expected, "picked": picked, "expected": expected}
    event = {"run_id": run, "event_id": 0, "sample_id": sample, "type": "match"}
    return {**event, "data": data, "created_by": "", "created_at": ""}


EVALS = (
    {"spec": {"run_id": "r1", "completion_fns": ["gpt-5"], "eval_name": "judge"}},
    {
        "run_id": "r1",
        "event_id": 0,
        "sample_id": "judge.0",
        "type": "sampling",
        "data": {},
    },
    match("r1", "judge.0", "Yes", "Yes"),
    match("r1", "judge.1", "Yes", "No"),
    {"final_report": {"accuracy": 0.5}},
    match("r2", "judge.0", "No", "Yes"),
    match("r2", "judge.1", None, "No"),
)

INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"model": "openai/gpt-5"},
    "samples": [
        {"id": 1, "epoch": epoch, "scores": {
            "strict": {"value": value}, "lenient": {"value": 1.0}, "other": {"value": None}}}
        for epoch, value in ((1, "C"), (2, "I"))
    ] + [{"id": 2, "epoch": 1, "scores": {"strict": {"value": "P"}, "lenient": {"value": "N"}}}],
}  # fmt: skip


def metric(name, score, model="gpt-5"):
    return {"name": name, "score": score, "success": True, "evaluationModel": model}


DEEPEVAL = {
    "testCases": [
        {"name": "a", "metricsData": [metric("Correctness", 0.8), metric("Tone", 0.3, None)]},
        {"name": "b", "metricsData": [metric("Correctness", None), metric("Tone", 0.6, None)]},
        {"name": "c", "metricsData": None},
    ]
}  # fmt: skip


def rows(path, tool, positive=None):
    return [tuple(row.values()) for row in read_log(path, tool, positive).to_pylist()]


def test_promptfoo_graders_are_judges_and_a_person_labels(tmp_path):
    found = rows(lines(tmp_path / "r.jsonl", *PROMPTFOO), "promptfoo")
    assert found == [
        ("0/0", "openai:gpt-5", 0.9, 1),
        ("0/0", "tone", 0.7, 1),
        ("1/0", "openai:gpt-5", 0.2, 0),
        ("1/0", "tone", 0.4, 0),
        ("2/0", "openai:gpt-5", 0.6, None),
        ("2/0", "tone", None, None),
    ]
    # The whole run as one object says the same.
    whole = tmp_path / "r.json"
    whole.write_text(json.dumps({"evalId": "e", "results": {"results": PROMPTFOO}}))
    assert rows(whole, "promptfoo") == found


def test_a_promptfoo_grader_without_a_name_is_known_by_its_place(tmp_path):
    log = lines(tmp_path / "r.jsonl", result(0, component(1, type="g-eval")))
    assert rows(log, "promptfoo")[0][1] == "g-eval 1"


def test_openai_evals_picks_are_verdicts_and_what_is_expected_labels(tmp_path):
    found = rows(lines(tmp_path / "r.jsonl", *EVALS), "openai-evals", "Yes")
    assert found == [
        ("judge.0", "gpt-5", 1.0, "Yes"),
        ("judge.1", "gpt-5", 1.0, "No"),
        ("judge.0", "r2", 0.0, "Yes"),
        ("judge.1", "r2", None, "No"),
    ]


def test_inspect_scorers_are_judges_and_epochs_are_items(tmp_path):
    log = tmp_path / "log.json"
    log.write_text(json.dumps(INSPECT))
    found = read_verdicts(log, TableFormat(), tool="inspect")
    assert found.repeated == []
    assert isinstance(found.verdicts, ReportTable)
    assert found.verdicts.ids.tolist() == ["1/1", "1/2", "2/1"]
    by_judge = dict(zip(found.verdicts.agents, found.verdicts.values.T, strict=True))
    assert by_judge["strict"].tolist() == [1.0, 0.0, 0.5]
    assert by_judge["lenient"].tolist() == [1.0, 1.0, 0.0]
    # A frame of samples_df, written as JSON lines.
    frame = lines(tmp_path / "f.jsonl", {"id": "1", "input": "?", "score_strict": "C"})
    assert rows(frame, "inspect") == [("1", "strict", 1.0, None)]


def test_deepeval_metrics_by_model_are_judges(tmp_path):
    log = tmp_path / "run.json"
    log.write_text(json.dumps(DEEPEVAL))
    assert rows(log, "deepeval") == [
        ("a", "Correctness (gpt-5)", 0.8, None),
        ("a", "Tone", 0.3, None),
        ("b", "Correctness (gpt-5)", None, None),
        ("b", "Tone", 0.6, None),
    ]


def test_a_log_takes_its_labels_from_another_file(tmp_path):
    log = tmp_path / "run.json"
    log.write_text(json.dumps(DEEPEVAL))
    labels = tmp_path / "labels.csv"
    labels.write_text("id,passed\na,yes\nb,no\n")
    written = TableFormat("passed", positive="yes")
    found = read_verdicts(log, written, tool="deepeval", labels=labels)
    assert found.verdicts.outcomes.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("tool", "text", "kind", "message"),
    [
        ("promptfo", "{}", SettingError, "did you mean 'promptfoo'"),
        ("deepeval", '{"testCases": [{"name": "a"', SourceError, "line 1 is cut off"),
        ("deepeval", "[1]", SourceError, "must hold JSON objects"),
        (
            "deepeval",
            '{"name": "a"}',
            SourceError,
            "not a log of deepeval.*metricsData",
        ),
        ("deepeval", '{"testCases": []}', SourceError, "at least one verdict"),
        ("openai-evals", '{"a": 1}', SettingError, "say which one is positive"),
        ("inspect", '{"id": 1, "score_x": "A"}', SourceError, "one of C, P, I, N.*'A'"),
        ("inspect", '{"id": 1}\n\n{"id"', SourceError, "line 3 is cut off"),
    ],
)
def test_what_is_no_log_is_refused_in_one_sentence(tmp_path, tool, text, kind, message):
    path = tmp_path / "log.jsonl"
    path.write_text(text)
    with pytest.raises(kind, match=message):
        read_log(path, tool)


def test_a_log_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SourceError, match="there is no file"):
        read_log(tmp_path / "none.json", "inspect")
    assert sorted(READERS) == ["deepeval", "inspect", "openai-evals", "promptfoo"]


# Labels of another file

VERDICTS = "id,gpt,claude,passed\na,0.9,0.8,\nb,0.2,0.3,no\nc,0.6,0.4,\n"


def join(tmp_path, labels, verdicts=VERDICTS, **written):
    (tmp_path / "v.csv").write_text(verdicts)
    (tmp_path / "l.csv").write_text(labels)
    told = TableFormat("passed", positive="yes", **written)
    return read_verdicts(tmp_path / "v.csv", told, labels=tmp_path / "l.csv")


def test_labels_come_back_by_id_with_their_weights(tmp_path):
    labels = "id,passed,label_weight\nc,yes,2.5\nb,,\n"
    found = join(tmp_path, labels, weight="label_weight")
    assert found.verdicts.ids.tolist() == ["b", "c"]
    assert found.verdicts.outcomes.tolist() == [0, 1]
    assert found.label_weights.tolist()[1] == 2.5
    assert str(found.label_weights[0]) == "nan"


def test_labels_of_another_type_are_compared_as_text(tmp_path):
    verdicts = "id,gpt,claude,passed\na,0.9,0.8,1\nb,0.2,0.3,\n"
    (tmp_path / "v.csv").write_text(verdicts)
    (tmp_path / "l.jsonl").write_text('{"id": "b", "passed": "0"}\n')
    found = read_verdicts(
        tmp_path / "v.csv",
        TableFormat("passed", positive="1"),
        labels=tmp_path / "l.jsonl",
    )
    assert found.verdicts.outcomes.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("labels", "kind", "message"),
    [
        (
            "id,passed\nb,yes\n",
            OutcomeError,
            "item 'b' has 'no' and 'yes'. Correct one",
        ),
        ("id,passed\na,yes\na,no\n", OutcomeError, "item 'a' has 'yes' and 'no'"),
        ("id,passed\nz,yes\n", SourceError, "labels 'z', which the table of verdicts"),
        ("id,passd\na,yes\n", SourceError, "no column 'passed' .did you mean 'passd'"),
        ("item,passed\na,yes\n", SourceError, "no column 'id'; columns: item"),
        ("id,passed,w\nc,yes,many\n", SettingError, "a label weight must be a number"),
    ],
)
def test_labels_that_do_not_fit_are_refused(tmp_path, labels, kind, message):
    with pytest.raises(kind, match=message):
        join(tmp_path, labels, weight="w" if ",w" in labels else None)


def test_a_score_of_a_tool_that_is_no_probability_is_named(tmp_path):
    path = tmp_path / "results.jsonl"
    part = {"score": 1.5, "pass": True, "assertion": {"type": "llm-rubric"}}
    line = {"testIdx": 0, "promptIdx": 1, "gradingResult": {"componentResults": [part]}}
    path.write_text(json.dumps(line) + "\n")
    sentence = (
        r"a score of promptfoo must lie in \[0, 1\]; judge 'llm-rubric 1' gave 1.5 to "
        r"item '0/1'. If all judges give scores of one range, name it \(--scores 1-5\)"
    )
    with pytest.raises(SourceError, match=sentence):
        read_verdicts(path, TableFormat(), tool="promptfoo")


# Runs


def test_several_answers_in_a_long_table_are_runs_of_one_judge(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(
        "item,judge,verdict\nq1,gpt,0.9\nq1,gpt,0.4\nq1,llama,0.5\nq2,gpt,\nq2,gpt,0.2\n"
        "q2,llama,0.1\nq1,phi,0.5\nq1,phi,0.6\n"
    )
    long = ("item", "judge", "verdict")
    found = read_verdicts(path, TableFormat(long=long))
    assert found.repeated == [("gpt", "gpt (run 2)"), ("phi", "phi (run 2)")]
    named = read_verdicts(path, TableFormat(long=long, agents="gpt,llama"))
    assert named.repeated == [("gpt", "gpt (run 2)")]
    assert set(named.verdicts.agents) == {"gpt", "gpt (run 2)", "llama"}
    with pytest.raises(SourceError, match="no long column 'verdct'.*--long"):
        read_verdicts(path, TableFormat(long=("item", "judge", "verdct")))


def test_with_times_the_last_answer_counts(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(
        "item,judge,verdict,time\nq1,gpt,0.9,1\nq1,gpt,0.4,2\nq1,llama,0.5,1\n"
    )
    found = read_verdicts(path, TableFormat(long=("item", "judge", "verdict")))
    assert found.repeated == []
    assert found.verdicts.values.tolist() == [[0.4, 0.5]]
