"""A file of keys that is found beside a table may come from whoever sent the table."""

from pathlib import Path

import pytest

TABLE = "a,b,y\n" + "".join(f"0.{k},0.{k + 1},{k // 4}\n" for k in range(1, 8))


@pytest.fixture
def sent(tmp_path, monkeypatch):
    (tmp_path / "sent").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "sent" / "table.csv").write_text(TABLE)
    Path("mine.json").write_text("precious")
    return Path("../sent")


@pytest.mark.parametrize(
    "line",
    ['json = "mine.json"', 'json = "../sent/../here/mine.json"', 'address = "h:1"'],
)
def test_it_neither_replaces_files_elsewhere_nor_reaches_other_machines(
    truepool, sent, line
):
    (sent / "pool.toml").write_text(line)
    words = "compare", sent / "table.csv", "--pool", "mean"
    code, _, err = truepool(*words)
    assert code == 2
    assert "was found and not named" in err
    assert Path("mine.json").read_text() == "precious"


def test_it_runs_no_code(truepool, sent):
    (sent / "pool.toml").write_text("[agent.report]\ntrust = true\n")
    (sent / "evil.joblib").write_text("")
    words = "agent", "report", sent / "table.csv", sent / "evil.joblib", "-o", "r.csv"
    code, _, err = truepool(*words)
    assert (code, "was found and not named" in err) == (2, True)


def test_it_may_write_into_its_own_folder_and_elsewhere_if_it_is_named(truepool, sent):
    words = "compare", sent / "table.csv", "--pool", "mean"
    (sent / "pool.toml").write_text('json = "../sent/found.json"')
    assert truepool(*words)[0] == 0
    assert (sent / "found.json").exists()
    (sent / "pool.toml").write_text('json = "mine.json"')
    assert truepool(*words, "--config", sent / "pool.toml")[0] == 0
    assert Path("mine.json").read_text() != "precious"
