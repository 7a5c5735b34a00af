"""``truepool audit``, as a user runs it."""

import json

import numpy as np
import pytest
from command import EXAMPLE_NOTE
from faults import copied, sound
from panels import random_panel

from truepool.tables import write_table


def table(path, panel):
    columns = {a: panel.reports[:, i] for i, a in enumerate(panel.agents)}
    extra = {"id": np.arange(len(panel)), "day": np.arange(len(panel))}
    write_table(path, {**extra, **columns, "happened": panel.outcomes})
    return path


@pytest.fixture
def reports(tmp_path):
    return table(tmp_path / "reports.csv", copied(cases=300))


def test_the_bundled_example_is_audited_without_a_table(truepool):
    code, out, err = truepool("audit", "--cost-fn", 10)
    assert (code, err) == (0, EXAMPLE_NOTE)
    assert "1 warning in 569 cases with a known outcome from 5 agents" in out
    assert "a missed case costs 10" in out


def test_a_table_is_audited_and_files_are_written(truepool, reports, tmp_path):
    files = tmp_path / "told.json", tmp_path / "told.md"
    code, out, _ = truepool(
        "audit", reports, "--outcome", "happened", "--time", "day", "--pool",
        "vcg", f"--json={files[0]}", "--markdown", files[1],
    )  # fmt: skip
    assert code == 0
    assert "ERROR agent3 repeats agent0" in out
    assert f"Wrote {files[0]}." in out.replace("\n", "")
    result = json.loads(files[0].read_text())
    assert result["schema"] == 5
    assert result["findings"][0]["code"] == "copy"
    assert result["drift"] is not None
    assert files[1].read_text().startswith("# Do not trust this pool")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "reports.csv",
        "told.json",
        "told.md",
    ]


def test_json_goes_to_the_screen_alone(truepool, reports):
    words = [
        "audit",
        reports,
        "--outcome",
        "happened",
        "--ignore",
        "day",
        "--json",
    ]
    code, out, _ = truepool(*words)
    assert code == 0
    assert json.loads(out)["agents"] == [f"agent{i}" for i in range(5)]


def test_quiet_says_nothing_and_fail_on_decides_the_exit_code(
    truepool, reports, tmp_path
):
    words = ["audit", reports, "--outcome", "happened", "--ignore", "day", "--quiet"]
    assert truepool(*words) == (0, "", "")
    assert truepool(*words, "--fail-on", "error") == (1, "", "")
    assert truepool(*words, "--fail-on", "warning") == (1, "", "")
    clean = table(tmp_path / "clean.csv", sound(cases=600))
    words[1] = clean
    assert truepool(*words, "--fail-on", "error") == (0, "", "")
    assert truepool(*words, "--fail-on", "warning") == (1, "", "")
    few = table(tmp_path / "few.csv", random_panel(1, cases=10))
    words[1] = few
    assert truepool(*words, "--fail-on", "warning") == (0, "", "")


def test_a_page_is_asked_of_the_audit(truepool, reports, tmp_path, monkeypatch):
    from truepool.render.html import audit

    monkeypatch.setattr(audit, "html", lambda result: "page")
    page = tmp_path / "audit.html"
    code, out, _ = truepool(
        "audit", reports, "--outcome", "happened", "--ignore", "day", "--html", page
    )
    assert (code, f"Wrote {page}." in out.replace("\n", "")) == (0, True)
    assert page.read_text() == "page"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--json=nowhere/told.json"], "nowhere' to write into. Create it first."),
        (["--markdown", "."], "is a folder; name a file in it"),
        (["--json=same", "--markdown", "same"], "got 'same' twice"),
        (["--pool", "vgc"], "did you mean 'vcg'"),
        (
            ["--threshold", "12"],
            "a threshold must lie in [0, 1]; got 12. If it is a percentage, pass 0.12, "
            "or leave it out to decide by the costs.",
        ),
        (["--threshold", "-2"], "got -2. Pass a probability, or leave it out to decid"),
        (["--level", "1"], "between 0 and 1"),
        (["--cost-fn", "-1"], "a cost must be a positive number"),
        (["--outcome", "z"], "options that describe a table need one"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    truepool, words, sentence, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    code, out, err = truepool("audit", *words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_table_itself_is_never_written_over(truepool, reports):
    before = reports.read_bytes()
    code, _, err = truepool("audit", reports, f"--json={reports}")
    assert (code, "twice. Name another file" in err) == (2, True)
    assert reports.read_bytes() == before


def test_an_earlier_audit_says_what_changed(truepool, tmp_path):
    last = tmp_path / "last.json"
    truepool("audit", f"--json={last}", "--quiet")
    status, out, _ = truepool("audit", "--since", str(last))
    assert status == 0
    assert "No errors or warnings were added or resolved." in out


def test_an_earlier_audit_that_is_not_there_is_named(truepool, tmp_path):
    (tmp_path / "last.json").touch()
    _, _, error = truepool("audit", "--since", tmp_path / "lastt.json")
    assert (
        "--since must name the JSON file of an earlier audit; there is no file" in error
    )
    assert f"(did you mean '{tmp_path}/last.json'?)" in error


@pytest.mark.parametrize("text", ["", "[]", "{}", "rf,gbm,y\\n0.5,0.6,1\\n"])
def test_what_is_no_earlier_audit_is_refused(truepool, tmp_path, text):
    last = tmp_path / "last.json"
    last.write_text(text)
    status, out, error = truepool("audit", "--since", str(last))
    assert (status, out) == (2, "")
    assert "--json=FILE" in error
    assert "Expecting" not in error


def test_a_saved_pool_is_judged_as_it_is_on_cases_that_it_did_not_learn_from(
    truepool, reports, tmp_path
):
    words = ("--outcome", "happened", "--time", "day", "--cost-fn", 10)
    lines = reports.read_text().splitlines(keepends=True)
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("".join(lines[:200]))
    new.write_text("".join([lines[0], *lines[200:]]))
    file = tmp_path / "f.pool"
    assert truepool("fit", old, *words, "--pool", "vcg", "-o", file)[0] == 0
    code, out, _ = truepool("audit", new, *words, "--pool", file, "--json=-")
    found = json.loads(out)
    assert (code, found["pool"]) == (0, "vcg as saved")
    assert found["operations"][0]["cases"] == len(lines) - 200
    assert truepool("audit", old, *words, "--pool", file)[0] == 2


def test_costs_that_are_not_said_are_those_of_the_saved_pool(
    truepool, reports, tmp_path
):
    words = ("--outcome", "happened", "--time", "day")
    lines = reports.read_text().splitlines(keepends=True)
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("".join(lines[:200]))
    new.write_text("".join([lines[0], *lines[200:]]))
    file, cost = tmp_path / "f.pool", ("--cost-fn", 12)
    assert truepool("fit", old, *words, *cost, "--pool", "vcg", "-o", file)[0] == 0
    _, out, _ = truepool(
        "audit", new, *words, "--pool", file, "--cost-fp", 3, "--json=-"
    )
    costs = json.loads(out)["costs"]
    assert (costs["fn"], costs["fp"]) == (12, 3)


def test_a_table_is_no_saved_pool(truepool, reports):
    code, _, err = truepool(
        "audit", reports, "--outcome", "happened", "--pool", reports
    )
    assert code == 2
    assert "saved pool" in err


def test_a_pool_file_that_is_not_there_is_named(truepool):
    code, _, err = truepool("audit", "--pool", "f.pool")
    assert code == 2
    assert "f.pool" in err
