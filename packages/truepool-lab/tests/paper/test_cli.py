import json
import subprocess
import sys

import pytest

import truepool_lab.paper
from truepool_lab.paper.expected import paper_tables

CHEAP = ["tab:hyperparams"]


def test_it_prints_verdicts_and_writes_rows_pages_and_figures(truepool, tmp_path):
    labels = [*CHEAP, "tab:drift_regret", "fig:drift_regret"]
    code, out, err = truepool("reproduce", *labels, "--output", tmp_path / "run")
    assert (code, err) == (0, "")
    # tab:drift_regret is shown by an inferred reading too.
    assert "3 tables and figures of the paper, quick size, and 1 other reading" in out
    words = " ".join(out.split())
    assert "Pending: 0." in words
    for column in ("Conclusions", "Ratio", "Within error"):
        assert f" {column}: " in words
    # What has no room is not explained.
    assert ("Reading: " in words) == (
        "Left out for lack of width: 'reading'" not in words
    )
    there = {str(p.relative_to(tmp_path / "run")) for p in tmp_path.rglob("*.*")}
    assert there == {
        "rows/hyperparams-quick.jsonl", "rows/drift-regret-quick.jsonl",
        "rows/noisy-agents-quick.jsonl", "verdicts.json",
        "reproduction.md", "reproduction.html", "figures/fig_drift_regret.svg",
        ".truepool.json",
    }  # fmt: skip


def test_a_page_of_the_users_own_is_refused_before_anything_runs(truepool, tmp_path):
    (tmp_path / "reproduction.md").write_text("mine")
    words = ["reproduce", "tab:hyperparams", "--output", tmp_path]
    code, out, err = truepool(*words)
    assert (code, out) == (2, "")
    assert "a file that truepool did not write is not replaced" in err
    assert [path.name for path in tmp_path.iterdir()] == ["reproduction.md"]
    assert truepool(*words, "--force")[0] == truepool(*words)[0] == 0


@pytest.mark.parametrize("field", ["table", "key", "column", "value"])
def test_a_row_of_another_type_is_one_sentence(truepool, tmp_path, field):
    words = ["reproduce", "tab:hyperparams", "--output", tmp_path]
    assert truepool(*words)[0] == 0
    rows = tmp_path / "rows" / "hyperparams-quick.jsonl"
    first, *others = rows.read_text().splitlines()
    damaged = json.loads(first)
    damaged["rows"][0][field] = {"a": 1}
    rows.write_text("\n".join([json.dumps(damaged), *others]) + "\n")
    code, out, err = truepool(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "line 1 of" in err
    assert "remove the file to measure them again" in err


def test_json_is_what_is_written(truepool, tmp_path):
    code, out, _ = truepool(
        "reproduce", *CHEAP, "--json", "-", "--full", "--output", tmp_path
    )
    assert code == 0
    result = json.loads(out)
    assert result == json.loads((tmp_path / "verdicts.json").read_text())
    assert result["size"] == "full"
    assert result["tables"]["tab:hyperparams"]["status"] == "compared"


def test_an_unknown_label_is_one_sentence_and_nothing_is_written(truepool, tmp_path):
    code, out, err = truepool("reproduce", "tab:regrett", "--output", tmp_path / "run")
    assert (code, out) == (2, "")
    assert err.startswith(
        "error: no table or figure is called 'tab:regrett' (did you mean 'tab:regret"
    )
    assert all(label in err for label in paper_tables())
    assert not (tmp_path / "run").exists()


def test_a_file_is_no_folder(truepool, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = truepool("reproduce", *CHEAP, "--output", tmp_path / "file")
    assert code == 2
    assert "is a file: name another" in err


def test_a_folder_that_cannot_be_made_is_one_sentence(truepool, tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = truepool(
        "reproduce", *CHEAP, "--output", tmp_path / "file" / "run"
    )
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "cannot be written" in err


def test_when_stopped_it_names_the_finished_work_and_how_to_resume(
    truepool, tmp_path, monkeypatch
):
    def stopped(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("truepool_lab.paper.reproduce", stopped)
    code, out, err = truepool("reproduce", *CHEAP, "--output", tmp_path)
    assert (code, out) == (130, "")
    assert (
        f"finished work is in {tmp_path / 'rows'}, and the same command resumes" in err
    )


def test_rows_that_are_no_rows_are_one_sentence(truepool, tmp_path):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "hyperparams-quick.jsonl").write_bytes(b"\xff\n")
    code, out, err = truepool("reproduce", *CHEAP, "--output", tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "hyperparams-quick.jsonl cannot be read as rows" in err


def test_listing_the_verbs_imports_no_experiment():
    code = "import sys, truepool_lab.paper.cli; print('\\n'.join(sys.modules))"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {
        "numpy",
        "scipy",
        "sklearn",
        "matplotlib",
        "truepool_lab.paper.experiments",
    }
    assert not heavy & set(answer.stdout.split())


def test_public_names_are_imported_when_they_are_first_used():
    assert {
        name: getattr(truepool_lab.paper, name) for name in truepool_lab.paper.__all__
    }
    with pytest.raises(AttributeError, match="nothing"):
        truepool_lab.paper.nothing  # noqa: B018
