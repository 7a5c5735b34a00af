"""Tables with scores of vendors and bureaus, by the command line."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from scored_table import FRACTIONS, SCORED, SCORES, Y

from truepool.pools import persistence


def test_a_pool_keeps_the_ranges_and_scores_new_cases_alike(
    tmp_path, monkeypatch, truepool
):
    monkeypatch.chdir(tmp_path)
    options = [word for text in SCORES for word in ("--scores", text)]
    learn = ("--pool", "stacked-lr", "--quiet", "-o")
    for name, table in (("s", SCORED), ("f", FRACTIONS)):
        table.assign(y=Y).to_csv(f"{name}.csv", index=False)
        words = options if name == "s" else ()
        assert truepool("fit", f"{name}.csv", *learn, f"{name}.pool", *words)[0] == 0
    assert persistence.table_format("s.pool").scores == SCORES
    code, card, _ = truepool("show", "s.pool")
    assert code == 0
    assert "--scores vendor=0-999 --scores bureau=850-300" in " ".join(card.split())
    found = {}
    for name in "sf":
        code, out, err = truepool("score", f"{name}.pool", f"{name}.csv", "-o", "-")
        assert code == 0, err
        found[name] = pd.read_csv(io.StringIO(out)).pooled
    np.testing.assert_allclose(found["s"], found["f"], atol=1e-9)
    lines = SCORED.head(5).to_json(orient="records", lines=True)
    (tmp_path / "new.jsonl").write_text(lines)
    code, out, err = truepool("score", "s.pool", "new.jsonl", "--quiet")
    assert code == 0, err
    pooled = [json.loads(line)["pooled"] for line in out.splitlines()]
    np.testing.assert_allclose(pooled, found["s"][:5], atol=1e-12)


def test_an_exported_graph_says_which_numbers_it_takes(tmp_path, monkeypatch, truepool):
    onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
    monkeypatch.chdir(tmp_path)
    SCORED.assign(y=Y, rf=100 * SCORED.rf).to_csv("t.csv", index=False)
    options = [
        "--percent=rf",
        *(word for text in SCORES for word in ("--scores", text)),
    ]
    fitted = truepool("fit", "t.csv", "--pool", "mean", "-o", "a.pool", *options)
    assert fitted[0] == 0, fitted[2]
    code, out, err = truepool("export", "a.pool", "--onnx", "a.onnx")
    assert code == 0, err
    assert "count a number s as s / 100 for rf, as s / 999 for vendor, as (850 - s) / 550" in " ".join(out.split())  # fmt: skip
    properties = onnx.load("a.onnx").metadata_props
    ends = json.loads(properties[0].value)["ends"]
    assert ends == {"rf": [0, 100], "vendor": [0, 999], "bureau": [850, 300]}


def test_commands_say_how_scores_are_counted(tmp_path, monkeypatch, truepool):
    monkeypatch.chdir(tmp_path)
    SCORED.assign(y=Y).to_csv("t.csv", index=False)
    (tmp_path / "c.toml").write_text('scores = ["vendor=0-999", "bureau=850-300"]\n')
    words = ("fit", "t.csv", "--pool", "mean", "-o", "a.pool", "--config", "c.toml")
    code, _, err = truepool(*words)
    assert code == 0
    assert "A score s of vendor counts as s / 999. That is no probability" in err
    assert "A score s of bureau counts as (850 - s) / 550." in err
