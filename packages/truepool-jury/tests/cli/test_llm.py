"""`truepool agent llm`, against the stand-in: no language model."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from stand_in import KEY, MODEL, OTHER, endpoint, says, stand_in, status

from truepool import read_panel
from truepool_jury import llm

__all__ = ["endpoint", "stand_in"]

PAGE = Path(__file__).parents[4] / "docs" / "llm.md"
COMMAND = "import sys; from truepool.cli import main; main()"
AGENT = f"direct ({MODEL})"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = np.array(["SF", "S0", "REJ"])[np.arange(40) % 3]
    cases = {
        "id": [f"case {t}" for t in range(40)],
        "time": np.arange(40),
        "size": np.arange(40) * 1.5,
        "flag": flags,
        "label": np.where(flags == "SF", "normal", "attack"),
    }
    csv.write_csv(pa.table(cases).slice(0, 30), tmp_path / "cases.csv")
    csv.write_csv(pa.table(cases).slice(30), tmp_path / "train.csv")
    return tmp_path


OPTIONS = {
    "--question": "Is it an attack?", "--model": MODEL, "--outcome": "label",
    "--positive": "attack", "-o": "reports.csv",
}  # fmt: skip


def words(options=None, **keys):
    """A run with the usual options, or others in their place, and with keys."""
    named = (OPTIONS | (options or {})).items()
    given = [word for pair in named if pair[1] is not None for word in pair]
    for name, value in keys.items():
        given += ["--set", f"{name.replace('_', '-')}={value}"]
    return ["agent", "llm", "cases.csv", *given]


WORDS = words()


def test_from_cases_to_a_table_that_is_read_as_a_panel(truepool, stand_in, folder):
    code, out, err = truepool(*WORDS, "--template", "paper", "--train", "train.csv")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "Outcome label: attack = positive (20 cases), normal = negative (10).",
        *(f"{name} ({MODEL}): 30 reports." for name in llm.PAPER),
        f"0 of 120 answers were stored before; this run made 120 calls, {spent(out)} tokens.",
        "Wrote reports.csv.",
    ]
    assert {"attack", "normal"} == set(csv.read_csv("reports.csv")["label"].to_pylist())
    panel = read_panel("reports.csv", outcome="label", positive="attack")
    assert panel.agents == tuple(f"{name} ({MODEL})" for name in llm.PAPER)
    assert panel.ids[3] == "case 3"
    assert panel.times.tolist() == list(range(30))
    assert panel.outcomes.sum() == 20


def agents(path):
    return json.loads(Path(path).read_text())["agents"]


def spent(out):
    return re.search(r"calls, ([\d,]+) tokens", out)[1]


def test_what_is_missing_is_said(truepool, stand_in, folder):
    stand_in.faults.extend([says("80 %"), says(None, refusal="No."), says("rund 0,8")])
    code, out, _ = truepool(*words({"--json": "found.json"}, concurrency=1))
    assert code == 0
    assert agents("found.json")[AGENT] == {
        "reports": 27, "missing": {"unreadable": 2, "refused": 1},
    }  # fmt: skip
    assert "3 missing (2 unreadable, 1 refused)" in out
    assert "'80 %'" in out
    assert csv.read_csv("reports.csv")[AGENT].null_count == 3


def test_a_call_that_failed_is_said_to_be_asked_again(truepool, stand_in, folder):
    stand_in.faults.extend([says('{"probability": 0.5}'), status(500)])
    once = {"concurrency": 1, "retries": 0}
    code, out, _ = truepool(*words({"--json": "found.json"}, **once))
    assert code == 0
    assert agents("found.json")[AGENT] == {"reports": 29, "missing": {"failed": 1}}
    assert "The same command asks again" in out


def test_outcomes_may_be_unknown(truepool, stand_in, folder):
    unnamed = {"--outcome": None, "--positive": None, "--ignore": "label"}
    code, out, err = truepool(*words(unnamed))
    assert (code, err) == (0, "")
    assert out.startswith(f"{AGENT}: 30 reports.")
    assert csv.read_csv("reports.csv").column_names == ["id", "time", AGENT]


def test_a_jury_of_two_models(truepool, stand_in, folder):
    code, out, _ = truepool(*WORDS, "--model", OTHER)
    assert code == 0
    assert f"{AGENT}: 30 reports.\ndirect ({OTHER}): 30 reports.\n" in out
    panel = read_panel("reports.csv", outcome="label", positive="attack")
    assert panel.agents == (AGENT, f"direct ({OTHER})")


def test_the_summary_as_json(truepool, stand_in, folder):
    prices = {"price_in": 1, "price_out": 2, "currency": "EUR"}
    code, out, err = truepool(*words({"--json": "-"}, **prices))
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["agents"] == {AGENT: {"reports": 30, "missing": {}}}
    assert found["answered_by"] == [MODEL]
    assert (found["calls"], found["stored"], found["currency"]) == (30, 0, "EUR")
    assert found["money"] == pytest.approx(
        (found["tokens_in"] + 2 * found["tokens_out"]) / 1e6
    )
    assert found["outcome_labels"]["positive"] == "attack"


def test_the_reports_on_standard_output(truepool, stand_in, folder):
    code, out, err = truepool(*words({"-o": "-"}))
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f'"id","time","{AGENT}","label"'
    assert len(out.splitlines()) == 31


def test_a_budget_stops_the_run_and_says_how_to_go_on(truepool, stand_in, folder):
    code, out, err = truepool(*words(budget_calls=20))
    assert (code, out) == (1, "")
    assert err == (
        "Stopped: the budget of 20 calls is used up. 20 of 30 answers are stored; this "
        f"run made 20 calls, {spent(err)} tokens. reports.csv was not written. The same "
        "command continues from there; stored answers cost nothing.\n"
    )
    assert not Path("reports.csv").exists()
    code, out, _ = truepool(*words(budget_calls=20))
    assert code == 0
    assert "20 of 30 answers were stored before; this run made 10 calls" in out


def start(*words):
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words], stderr=subprocess.PIPE, text=True
    )


def wait_for(condition, limit=60):
    end = monotonic() + limit
    while not condition():
        assert monotonic() < end
        sleep(0.01)


def test_a_run_that_was_killed_goes_on_where_it_was(truepool, stand_in, folder):
    stand_in.delay = 0.05
    process = start(*words(concurrency=2))
    wait_for(lambda: len(stand_in.requests) >= 10)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    process.stderr.close()
    sent = len(stand_in.requests)
    assert not Path("reports.csv").exists()
    stored = [
        p
        for p in Path(os.environ["TRUEPOOL_CACHE"], "llm").iterdir()
        if len(p.name) == 64
    ]
    assert sent - 2 <= len(stored) < 30
    stand_in.delay = 0
    code, out, _ = truepool(*WORDS)
    assert code == 0
    assert f"{len(stored)} of 30 answers were stored before" in out
    assert len(stand_in.requests) == sent + 30 - len(stored)
    assert f"{AGENT}: 30 reports." in out


def test_an_interrupt_says_that_the_answers_are_stored(truepool, folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(llm, "ask", interrupted)
    code, out, err = truepool(*WORDS)
    assert (code, out) == (130, "")
    assert err == (
        "Stopped. Answers so far are stored; the same command continues from there.\n"
    )


@pytest.mark.parametrize(
    ("options", "keys", "fault"),
    [
        ({}, {"request": "temperature"}, "as in temperature=0; got 'temperature'"),
        ({"--question": "@none.txt"}, {}, "no file 'none.txt'"),
        ({"--template": "direkt"}, {}, "(did you mean 'direct'?)"),
        ({"--positive": "fraud"}, {}, "fraud"),
        ({"--outcome": "labels"}, {}, "--outcome label"),
        ({"--train": "reports.csv"}, {}, "got 'reports.csv' twice"),
        ({"--budget-money": "1"}, {}, "give price-in and price-out"),
        ({"-o": "reports.doc"}, {}, "reports.doc"),
        ({"--base-url": "nowhere"}, {}, "starts with http://"),
        ({}, {"key_variable": "NOT_SET"}, "NOT_SET, which is not set"),
        ({"--template": "judge"}, {}, "needs a column 'input'"),
        ({"--model": None}, {}, "--model"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    truepool, stand_in, folder, options, keys, fault
):
    code, out, err = truepool(*words(options, **keys))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert fault in err
    assert KEY not in err
    assert {path.name for path in folder.iterdir()} == {"cases.csv", "train.csv"}


def test_a_model_is_named_once(truepool, stand_in, folder):
    code, _, err = truepool(*WORDS, "--model", MODEL)
    assert (code, f"got '{AGENT}' twice" in err) == (2, True)


def test_an_unknown_model_is_one_sentence(truepool, stand_in, folder):
    code, out, err = truepool(*words({"--model": "gpt-0"}))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"has no 'gpt-0'; it has {MODEL}, {OTHER}" in err


def test_a_question_may_be_in_a_file_and_a_request_may_have_more_fields(
    truepool, stand_in, folder
):
    Path("criteria.txt").write_text("Is it\nan attack?\n")
    more = ["--set", "request=temperature=0", "--set", "request=reasoning_effort=low"]
    assert truepool(*words({"--question": "@criteria.txt"}), *more)[0] == 0
    sent = stand_in.requests[0]
    assert "Question: Is it\nan attack?\n" in sent["messages"][1]["content"]
    assert (sent["temperature"], sent["reasoning_effort"]) == (0, "low")


def test_a_template_can_be_copied_edited_and_used(truepool, stand_in, folder):
    code, text, err = truepool("agent", "template", "direct")
    assert (code, err) == (0, "")
    Path("careful.txt").write_text(
        text.replace("You estimate", "Carefully, you estimate")
    )
    code, out, _ = truepool(*WORDS, "--template", "careful.txt")
    assert code == 0
    assert f"careful ({MODEL}): 30 reports." in out
    assert stand_in.requests[0]["messages"][0]["content"].startswith("Carefully, ")
    assert truepool("agent", "template", "none")[0] == 2


def commands():
    """The lines of the guide that a user types, with the stand-in as the model."""
    text = PAGE.read_text()
    blocks = re.findall(r"```bash\n(.*?)```", text, re.S)
    lines = [
        line for block in blocks for line in block.replace("\\\n", " ").splitlines()
    ]
    return [line for line in lines if line.startswith("truepool")]


def test_every_command_of_the_guide_runs(truepool, stand_in, folder):
    judged = {"input": ["1 + 1?", "2 + 2?"] * 6, "output": ["2", "5, bad"] * 6}
    judged |= {"passed": ["yes", "no"] * 6}
    csv.write_csv(pa.table(judged), "answers.csv")
    pairs = {"input": ["1 + 1?"], "output_a": ["2"], "output_b": ["3, bad"]}
    csv.write_csv(pa.table(pairs), "pairs.csv")
    Path("criteria.txt").write_text("The answer is correct.")
    assert len(commands()) >= 6
    for line in commands():
        command, _, target = line.partition(" > ")
        models = {"gpt-5-mini": MODEL, "gpt-5-nano": OTHER}
        words = [models.get(word, word) for word in shlex.split(command)[1:]]
        code, out, err = truepool(*words)
        assert code == 0, (line, err)
        if target:
            Path(target.strip()).write_text(out)
        if words[0] == "audit":
            assert MODEL in out
    assert MODEL in Path("audit.html").read_text()


def test_the_guide_needs_three_lines_with_a_key():
    key, _, ask = re.findall(r"```bash\n(.*?)```", PAGE.read_text(), re.S)[:3]
    assert key.splitlines()[1].startswith("export OPENAI_API_KEY=")
    assert [line.split()[1] for line in ask.splitlines()] == ["agent", "audit"]


def test_a_rate_limit_is_waited_for(truepool, stand_in, folder):
    stand_in.faults.append(status(429, retry_after_ms=1))
    code, out, _ = truepool(*words(retries=1))
    assert code == 0
    assert "this run made 31 calls" in out
