"""Names come from users and vendors: they are shown, never obeyed."""

import csv
import io
import json
import tomllib
from xml.etree import ElementTree

import numpy as np
import pytest

NAMES = (
    "[/x]", "[red]a", "e\x1b[31msc", "n\x00ul", "f\ufffee", "o\x1b]0;t\x07sc",
    "$\\frac{$", "r\u202eev", "<script>",
)  # fmt: skip
OBEYED = "\x00\x07\x1b\u202e\ufffe"
SAFE = ("--set", "spreadsheet-safe=true")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 40)
    noise = rng.normal(0, 0.2, (40, len(NAMES)))
    reports = np.clip(0.5 + 0.3 * (2 * outcomes - 1)[:, None] + noise, 0.01, 0.99)
    lines = [",".join(["id", *NAMES, "y"])]
    for t, (row, y) in enumerate(zip(reports.round(3), outcomes, strict=True)):
        lines.append(",".join([f"={t}", *map(str, row), str(y)]))
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("audit", "{t}", "--html", "{f}/a.html", "--markdown", "{f}/a.md"),
        ("replay", "{t}", "--plot", "{f}/r.svg"),
        ("compare", "{t}", "--pool", "vcg"),
        ("fit", "{t}", "--pool", "vcg", "-o", "{f}/p.pool"),
        ("init", "{t}", "-o", "-"),
    ],
    ids=lambda words: words[0],
)
def test_names_are_shown_literally(truepool, table, tmp_path, words):
    code, out, err = truepool(*(w.format(t=table, f=tmp_path) for w in words))
    assert code == 0
    shown = {path.suffix: path.read_text() for path in tmp_path.glob("a.*")}
    if words[0] == "fit":
        shown["card"] = truepool("show", tmp_path / "p.pool")[1]
    for text in (out + err, *shown.values()):
        assert not set(OBEYED) & set(text)
        assert "[red]a" in text
    if words[0] == "init":
        assert set(tomllib.loads(out)["agents"]) == {*NAMES}
    if words[0] == "replay":
        figure = ElementTree.parse(tmp_path / "r.svg").getroot().itertext()
        assert not set(OBEYED) & set("".join(figure))


def test_an_error_is_one_line_whatever_a_file_is_called(truepool, tmp_path):
    code, out, err = truepool("audit", tmp_path / "\x1b[31m\nb\udcff.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert not set(OBEYED) & set(err)


def test_no_page_is_written_where_another_cannot_be_rendered(
    truepool, table, tmp_path, monkeypatch
):
    def fail(*_, **__):
        raise ValueError("no page")

    monkeypatch.setattr("truepool.pages.audit.page", fail)
    words = ("--html", tmp_path / "a.html", "--json", tmp_path / "a.json")
    with pytest.raises(ValueError, match="no page"):
        truepool("audit", table, *words, "--markdown", tmp_path / "a.md")
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_formulas_are_quoted_on_request(truepool, table, tmp_path):
    file = tmp_path / "p.pool"
    truepool("fit", table, "-o", file, "--pool", "mean")
    for verb in (("pool", table, table), ("score", file, table)):
        for more, first in ((SAFE, "'=0"), ((), "=0")):
            code, out, _ = truepool(*verb, "-o", "-", *more)
            rows = list(csv.DictReader(io.StringIO(out)))
            assert (code, rows[0]["id"]) == (0, first)
            assert float(rows[0]["pooled"]) > 0
    code, out, _ = truepool("score", file, table, "--json", "-", *SAFE)
    assert (code, json.loads(out.splitlines()[0])["id"]) == (0, "=0")  # only in CSV


def test_formulas_in_a_table_of_reports_are_quoted_on_request(truepool, tmp_path):
    table, agent = tmp_path / "cases.csv", tmp_path / "tree.joblib"
    rows = "".join(f"=1+{i},{i % 7},{i % 2}\n" for i in range(40))
    table.write_text("id,size,y\n" + rows)
    code, _, err = truepool("agent", "train", table, "--model", "tree", "-o", agent)
    assert code == 0, err
    for more, first in (((), "=1+0"), (SAFE, "'=1+0")):
        words = ("agent", "report", table, agent, "--trust", "-o", "-", *more)
        code, out, err = truepool(*words)
        assert code == 0, err
        assert next(csv.DictReader(io.StringIO(out)))["id"] == first
