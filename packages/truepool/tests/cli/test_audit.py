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
def reports(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return table(tmp_path / "reports.csv", copied(cases=300))


WITHOUT_TIME = ("audit", "reports.csv", "--outcome", "happened", "--ignore", "day")
WITH_TIME = ("--outcome", "happened", "--time", "day")


def test_the_bundled_example_is_audited_without_a_table(truepool):
    code, out, err = truepool("audit", "--cost-fn", 10)
    assert (code, err) == (0, EXAMPLE_NOTE)
    assert len(out.splitlines()) <= 40
    assert [line.split()[0] for line in out.splitlines() if "-confident" in line][:1]
    assert "forest" in out


def test_a_table_is_audited_and_files_are_written(truepool, reports, tmp_path):
    words = ("audit", reports, *WITH_TIME, "--pool", "vcg")
    code, out, err = truepool(*words, "--json", "a.json", "--markdown", "a.md")
    assert code == 0, err
    assert ["agent3", "copy"] in [line.split()[:2] for line in out.splitlines()]
    assert "Wrote a.json" in out
    result = json.loads((tmp_path / "a.json").read_text())
    assert result["schema"] == 6
    codes = {one["who"]: one["code"] for one in result["agents"]}
    assert codes["agent3"] == "copy"
    assert result["drift"] is not None
    assert (tmp_path / "a.md").read_text().startswith("# Do not trust this pool")
    assert {p.name for p in tmp_path.iterdir()} == {"reports.csv", "a.json", "a.md"}


def test_json_goes_to_the_screen_alone(truepool, reports):
    code, out, _ = truepool(*WITHOUT_TIME, "--json", "-")
    assert code == 0
    names = [one["who"] for one in json.loads(out)["agents"]]
    assert names == [f"agent{i}" for i in range(5)]


def test_quiet_says_nothing_and_fail_on_decides_the_exit_code(
    truepool, reports, tmp_path
):
    assert truepool(*WITHOUT_TIME, "--quiet") == (0, "", "")
    for panel, level, code in (
        (copied(cases=300), "error", 1),
        (copied(cases=300), "warning", 1),
        (sound(cases=600), "error", 0),
        (sound(cases=600), "warning", 1),
        (random_panel(1, cases=10), "warning", 0),
    ):
        table(reports, panel)
        found = truepool(*WITHOUT_TIME, "--quiet", "--fail-on", level)
        assert found == (code, "", "")


def test_a_page_is_asked_of_the_audit(truepool, reports, tmp_path, monkeypatch):
    from truepool.pages import audit

    monkeypatch.setattr(audit, "html", lambda result, say: "page")
    code, out, _ = truepool(*WITHOUT_TIME, "--html", "audit.html")
    assert (code, "Wrote audit.html" in out) == (0, True)
    assert (tmp_path / "audit.html").read_text() == "page"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--json", "nowhere/told.json"], "nowhere'"),
        (["--markdown", "."], "is a folder"),
        (["--json", "same", "--markdown", "same"], "'same' twice"),
        (["--pool", "vgc"], "did you mean 'vcg'"),
        (["--pool", "f.pool"], "f.pool"),
        (["--set", "threshold=12"], "0.12"),
        (["--set", "threshold=-2"], "-2"),
        (["--set", "level=1"], "between 0 and 1"),
        (["--cost-fn", "-1"], "-1"),
        (["--outcome", "z"], "outcome"),
        (["--since", "lastt.json"], "(did you mean 'last.json'?)"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    refused, words, named, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "last.json").touch()
    assert named in refused("audit", *words)


def test_the_table_itself_is_never_written_over(refused, reports):
    assert "twice" in refused("audit", reports, "--json", reports)


def test_an_earlier_audit_says_what_changed(truepool, reports):
    assert truepool("audit", "--json", "last.json", "--quiet")[0] == 0
    _, out, _ = truepool("audit", "--since", "last.json", "--json", "-")
    changes = json.loads(out)["changes"]
    assert changes["changes"] == changes["settings"] == []


@pytest.mark.parametrize("text", ["", "[]", "{}", "rf,gbm,y\\n0.5,0.6,1\\n"])
def test_what_is_no_earlier_audit_is_refused(refused, tmp_path, text):
    last = tmp_path / "last.json"
    last.write_text(text)
    said = refused("audit", "--since", last)
    assert "JSON" in said
    assert "Expecting" not in said


@pytest.fixture
def saved(truepool, reports):
    """A pool that was fitted on the first 199 cases."""
    lines = reports.read_text().splitlines(keepends=True)
    reports.with_name("old.csv").write_text("".join(lines[:200]))
    reports.with_name("new.csv").write_text("".join([lines[0], *lines[200:]]))
    fit = ("fit", "old.csv", *WITH_TIME, "--cost-fn", 12, "--pool", "vcg")
    assert truepool(*fit, "-o", "f.pool")[0] == 0


def test_a_saved_pool_is_judged_as_it_is_on_cases_that_it_did_not_learn_from(
    truepool, saved
):
    """It knows the outcome, the time and the costs, as far as nobody says other ones."""
    words = ("--pool", "f.pool", "--cost-fp", 3, "--json", "-")
    code, out, err = truepool("audit", "new.csv", *words)
    assert code == 0, err
    found = json.loads(out)
    assert found["pool"]["who"] == "vcg as saved"
    assert found["cases"] == 101
    tested = {one["cases"] for one in found["operations"]}
    assert tested == {found["plan"]["tested"]}
    assert (found["costs"]["fn"], found["costs"]["fp"]) == (12, 3)
    assert truepool("audit", "old.csv", *words)[0] == 2


def test_what_a_report_costs_is_a_key(truepool, reports, refused):
    words = (*WITHOUT_TIME, "--set", "price.agent1=0.02", "--json", "-")
    code, out, err = truepool(*words)
    assert code == 0, err
    prices = {one["agent"]: one["price"] for one in json.loads(out)["summaries"]}
    assert prices["agent1"] == 0.02
    assert "a number for each agent" in refused(*WITHOUT_TIME, "--set", "price=3")
    assert "nobody" in refused(*WITHOUT_TIME, "--set", "price.nobody=3")


def test_verbose_prints_the_evidence_too(truepool):
    brief, whole = (truepool("audit", *words)[1] for words in ((), ("--verbose",)))
    assert len(whole.splitlines()) > 2 * len(brief.splitlines())


def test_a_table_is_no_saved_pool(refused, reports):
    assert "saved pool" in refused(*WITHOUT_TIME, "--pool", reports)
