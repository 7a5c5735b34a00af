"""``truepool demo``, as a user runs it."""

import json

import pytest

from truepool import Costs, audit, read_panel
from truepool.cli import demo as verb
from truepool.comparison import compare


@pytest.fixture
def quick(monkeypatch):
    """Fewer pools: what every pool does is tested elsewhere."""

    def few(panel, **settings):
        return compare(panel, pools=["vcg", "platt"], **settings)

    monkeypatch.setattr("truepool.comparison.compare", few)


def test_the_demo_tells_its_story_and_writes_three_files(truepool, quick, tmp_path):
    out = tmp_path / "demo"
    code, told, err = truepool("demo", "--output", out)
    assert (code, err) == (0, "")
    steps = [
        "1. Five models learn",
        "2. Every way to pool",
        "3. Things go wrong",
        "4. The audit",
    ]
    assert [told.index(step) for step in steps] == sorted(
        told.index(step) for step in steps
    )
    assert (
        "forest outputs noise from case 228 on, and neighbours says the opposite from case 399 on"
        in told
    )
    assert f"truepool audit {out}/panel.csv --outcome malignant --cost-fn 10" in told
    assert sorted(path.name for path in out.iterdir()) == [
        "audit.json",
        "panel.csv",
        "report.html",
    ]
    written = json.loads((out / "audit.json").read_text())
    assert [set(finding["who"]) for finding in written["findings"][:2]] == [
        {"forest"},
        {"neighbours"},
    ]
    assert {f["code"] for f in written["findings"][:2]} == {"changed-feed"}
    since = [finding["since"] for finding in written["findings"][:2]]
    # Where a correlation was lost is known to about 2 % of the 569 cases.
    assert max(abs(since[0] - 228), abs(since[1] - 399)) <= 12
    fall = next(f for f in written["findings"] if f["code"] == "drifted-pool")
    assert fall["sentence"].endswith(
        "may explain it: forest lost touch with the other agents."
    )
    errors = [f["who"] for f in written["findings"] if f["severity"] == "error"]
    assert errors == [["forest"], ["neighbours"]]
    said = written["recommendation"]
    plain = " ".join(told.split())
    assert f"{said['verdict']} ERROR The feed of forest changed" in plain
    assert f"Advice. {said['advice']}" in plain
    assert said["verdict"].startswith(
        "Do not trust this pool until forest and neighbours are fixed or left out"
    )
    assert "<!doctype html>" in (out / "report.html").read_text()


def test_the_table_it_writes_gives_the_same_audit(truepool, quick, tmp_path):
    truepool("demo", "--output", tmp_path)
    again = audit(
        read_panel(tmp_path / "panel.csv", "malignant"), costs=Costs(fn=verb.COST_FN)
    )
    assert json.loads(json.dumps(again.to_dict())) == json.loads(
        (tmp_path / "audit.json").read_text()
    )


def test_a_folder_that_cannot_be_is_refused_before_anything_is_done(truepool, tmp_path):
    (tmp_path / "file").write_text("")
    code, told, err = truepool("demo", "--output", tmp_path / "file")
    assert (code, told) == (2, "")
    assert err == f"error: '{tmp_path}/file' is a file; name a folder to write into\n"
    code, told, err = truepool("demo", "--output", tmp_path / "no" / "demo")
    assert (code, told) == (2, "")
    assert "there is no folder" in err
