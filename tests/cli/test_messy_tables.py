"""Tables as people export them go through the verbs with options only."""

import json

import pandas as pd
import pytest
from messy_tables import TABLES, write

from truepool.cli import config
from truepool.data.tables import read_column_names

KINDS = pytest.mark.parametrize("kind", TABLES)


@KINDS
def test_every_messy_table_is_audited(tmp_path, truepool, kind):
    path, table = write(tmp_path, kind), TABLES[kind]
    code, out, err = truepool("audit", path, *table.options, "--json")
    assert code == 0, err
    assert f"Agents: {', '.join(table.agents)}." in err
    assert json.loads(out)["cases"] == table.cases


@KINDS
def test_every_messy_table_is_compared(tmp_path, truepool, kind):
    path, table = write(tmp_path, kind), TABLES[kind]
    code, out, err = truepool(
        "compare", path, *table.options, "--pool", "mean", "--pool", "vcg", "--json"
    )
    assert code == 0, err
    assert json.loads(out)["cases"] == table.cases


@KINDS
def test_every_messy_table_is_pooled(tmp_path, truepool, kind):
    path, table = write(tmp_path, kind), TABLES[kind]
    output = tmp_path / "pooled.csv"
    code, _, err = truepool(
        "pool", path, path, *table.options, "-o", output, "--pool", "mean"
    )
    assert code == 0, err
    assert "decision" in read_column_names(output)


def options_of_new(kind):
    """Options of the table that new cases need too: the pool knows the others."""
    words, kept = list(TABLES[kind].options), []
    while words:
        size = next((i for i, w in enumerate(words[1:]) if w.startswith("--")), None)
        option = words[: len(words) if size is None else size + 1]
        words = words[len(option) :]
        if option[0].removeprefix("--") in config.VERBS["score"]:
            kept += option
    return kept


@KINDS
def test_every_messy_table_is_fitted_and_scored_as_it_is_pooled(
    tmp_path, truepool, kind
):
    path, table = write(tmp_path, kind), TABLES[kind]
    pooled, scored = tmp_path / "pooled.csv", tmp_path / "scored.csv"
    rule = ("--pool", "vcg")
    assert truepool("pool", path, path, *table.options, *rule, "-o", pooled)[0] == 0
    saved = tmp_path / "a.pool"
    assert truepool("fit", path, *table.options, *rule, "-o", saved)[0] == 0
    code, _, err = truepool(
        "score", saved, path, *options_of_new(kind), "-o", scored, "--quiet"
    )
    assert code == 0, err
    found = pd.read_csv(scored, dtype=str)
    reported = found[found.decision.notna()].reset_index(drop=True)
    expected = pd.read_csv(pooled, dtype=str)
    assert list(found.columns) == list(expected.columns)
    pd.testing.assert_frame_equal(reported, expected)


@pytest.mark.parametrize(
    ("kind", "left_out", "sentence"),
    [
        ("semicolons and decimal commas, in percent", "--percent", "--percent"),
        ("semicolons and decimal commas, in percent", "--decimal", "--decimal"),
    ],
)
def test_new_cases_written_otherwise_are_refused_with_the_cure(
    tmp_path, truepool, kind, left_out, sentence
):
    path, table = write(tmp_path, kind), TABLES[kind]
    saved = tmp_path / "a.pool"
    truepool("fit", path, *table.options, "--pool", "mean", "-o", saved)
    options = options_of_new(kind)
    i = options.index(left_out)
    del options[i : i + (1 if left_out == "--percent" else 2)]
    code, out, err = truepool("score", saved, path, *options)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
