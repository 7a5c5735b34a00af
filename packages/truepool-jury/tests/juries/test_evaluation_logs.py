"""Logs of evaluation tools become verdicts; each shape is written here by hand."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from truepool.core.errors import UnknownNameError
from truepool.tables import Declared, Place, ReportTable, TableFaults
from truepool_jury.juries import read_verdicts
from truepool_jury.juries.evaluation_logs import READERS, read_log
from truepool_jury.juries.verdict_table import JURY


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


def rows(path, tool):
    return [tuple(row.values()) for row in read_log(path, tool).table().to_pylist()]


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
    log = lines(tmp_path / "r.jsonl", *EVALS)
    assert rows(log, "openai-evals") == [
        ("judge.0", "gpt-5", "Yes", "Yes"),
        ("judge.1", "gpt-5", "Yes", "No"),
        ("judge.0", "r2", "No", "Yes"),
        ("judge.1", "r2", None, "No"),
    ]
    found = read_verdicts(log, Declared(positive="Yes"), tool="openai-evals")
    assert_array_equal(found.verdicts.reports, [[1, 0], [1, np.nan]])
    assert found.verdicts.outcomes.tolist() == [1, 0]
    assert found.id == "id"
    with pytest.raises(TableFaults) as error:
        read_verdicts(log, tool="openai-evals")
    assert error.value.codes == ("which-positive",)


def test_inspect_scorers_are_judges_and_epochs_are_items(tmp_path):
    log = tmp_path / "log.json"
    log.write_text(json.dumps(INSPECT))
    found = read_verdicts(log, tool="inspect")
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
    declared = Declared("passed", positive="yes")
    found = read_verdicts(log, declared, tool="deepeval", labels=labels)
    assert found.verdicts.outcomes.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("tool", "text", "code"),
    [
        ("deepeval", '{"testCases": [{"name": "a"', "not-an-object"),
        ("deepeval", "[1]", "not-an-object"),
        ("deepeval", '{"name": "a"}', "not-a-log"),
        ("deepeval", '{"testCases": []}', "no-verdicts"),
        ("inspect", '{"id": 1, "score_x": "A"}', "grade-unknown"),
        ("inspect", '{"id": 1}\n\n{"id"', "not-an-object"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path, tool, text, code):
    path = tmp_path / "log.jsonl"
    path.write_text(text)
    with pytest.raises(TableFaults) as error:
        read_log(path, tool)
    assert error.value.codes == (code,)
    assert error.value.lines(JURY)


def test_a_line_that_is_cut_off_is_named(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"id": 1}\n\n{"id"')
    with pytest.raises(TableFaults) as error:
        read_log(path, "inspect")
    (fault,) = error.value.faults
    assert (fault.place, fault.found) == (Place("line", 3), '{"id"')


def test_a_log_that_is_read_as_a_table_is_known(tmp_path):
    logs = {"promptfoo.jsonl": PROMPTFOO, "openai-evals.jsonl": EVALS,
            "inspect.json": [INSPECT], "deepeval.json": [DEEPEVAL]}  # fmt: skip
    for name, objects in logs.items():
        with pytest.raises(TableFaults) as error:
            read_verdicts(lines(tmp_path / name, *objects))
        (fault,) = error.value.faults
        tool = name.partition(".")[0]
        cures = [(cure.key, cure.value) for cure in fault.cures]
        assert (fault.code, cures) == ("a-log", [("tool", tool)])


def test_a_tool_or_a_log_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(TableFaults) as error:
        read_log(tmp_path / "none.json", "inspect")
    assert error.value.codes == ("no-file",)
    with pytest.raises(UnknownNameError, match="did you mean 'promptfoo'"):
        read_log(tmp_path / "none.json", "promptfo")
    assert sorted(READERS) == ["deepeval", "inspect", "openai-evals", "promptfoo"]


def test_a_score_of_a_tool_that_is_no_probability_is_named_by_its_item(tmp_path):
    def run(*scores):
        parts = [component(s, type="llm-rubric", metric=f"m{i}")
                 for i, s in enumerate(scores)]  # fmt: skip
        return {**result(len(scores), *parts)}

    log = lines(
        tmp_path / "r.jsonl", *[run(0.5, 0.5)] * 3, run(0.5, 0.4, 0.3), run(0.2, 1.5)
    )
    with pytest.raises(TableFaults) as error:
        read_verdicts(log, Declared(updates="last-row"), tool="promptfoo")
    (fault,) = error.value.faults
    assert (fault.code, fault.agent, fault.found) == ("report-outside", "m1", 1.5)
    assert fault.place == Place("case", "2/0")
