"""Tables with scores of vendors and bureaus, by the command line."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from scored_table import FRACTIONS, SCORED, SCORES, Y

OPTIONS = [word for text in SCORES for word in ("--set", f"scores.{text}")]


@pytest.fixture
def pools(tmp_path, monkeypatch, truepool):
    """A pool of the scores, and one of the fractions that they count as."""
    monkeypatch.chdir(tmp_path)
    learn = ("--pool", "stacked-lr", "--quiet", "-o")
    for name, table in (("s", SCORED), ("f", FRACTIONS)):
        table.assign(y=Y).to_csv(f"{name}.csv", index=False)
        words = OPTIONS if name == "s" else ()
        assert truepool("fit", f"{name}.csv", *learn, f"{name}.pool", *words)[0] == 0
    return tmp_path


def test_a_pool_keeps_the_ranges_and_scores_new_cases_alike(pools, truepool):
    found = {}
    for name in "sf":
        code, out, err = truepool("score", f"{name}.pool", f"{name}.csv", "-o", "-")
        assert code == 0, err
        found[name] = pd.read_csv(io.StringIO(out)).pooled
    np.testing.assert_allclose(found["s"], found["f"], atol=1e-9)
    (pools / "new.jsonl").write_text(
        SCORED.head(5).to_json(orient="records", lines=True)
    )
    code, out, err = truepool("score", "s.pool", "new.jsonl", "--quiet")
    assert code == 0, err
    pooled = [json.loads(line)["pooled"] for line in out.splitlines()]
    np.testing.assert_allclose(pooled, found["s"][:5], atol=1e-12)
    card = json.loads(truepool("show", "s.pool", "--json", "-")[1])
    assert card["table"]["units"] == {"vendor": [0, 999], "bureau": [850, 300]}


@pytest.mark.parametrize("late", [0, 300])
def test_a_score_outside_its_range_is_refused_in_new_cases(pools, truepool, late):
    table = SCORED.copy()
    table.loc[late, "vendor"] = 1200
    table.to_csv("new.csv", index=False)
    code, out, err = truepool("score", "s.pool", "new.csv", "-o", "out.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"1200 in line {late + 2}" in err
    assert not (pools / "out.csv").exists()
    words = ("--set", "scores.vendor=0-1200", "-o", "out.csv")
    assert truepool("score", "s.pool", "new.csv", *words)[0] == 0


def test_commands_say_how_scores_are_counted(pools, truepool):
    (pools / "pool.toml").write_text(
        'scores = {vendor = "0-999", bureau = "850-300"}\n'
    )
    code, _, err = truepool("fit", "s.csv", "--pool", "mean", "-o", "a.pool")
    assert code == 0
    assert "vendor (0-999), bureau (850-300)" in err
    assert "no probability" in err


def test_an_exported_graph_says_which_numbers_it_takes(pools, truepool):
    onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
    SCORED.assign(y=Y, rf=100 * SCORED.rf).to_csv("t.csv", index=False)
    options = ["--set", "percent=rf", *OPTIONS, "--pool", "mean"]
    assert truepool("fit", "t.csv", "-o", "a.pool", *options)[0] == 0
    code, out, err = truepool("export", "a.pool", "--onnx", "a.onnx")
    assert code == 0, err
    assert all(name in out for name in ("rf", "vendor", "bureau"))
    ends = json.loads(onnx.load("a.onnx").metadata_props[0].value)["ends"]
    assert ends == {"rf": [0, 100], "vendor": [0, 999], "bureau": [850, 300]}
