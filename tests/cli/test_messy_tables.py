"""Tables as people export them go through the verbs with options only."""

import json

import pytest
from messy_tables import TABLES, write

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
