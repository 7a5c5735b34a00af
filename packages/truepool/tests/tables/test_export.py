"""An export says how it is read, and what its decisions cost."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from truepool.panel.costs import Costs
from truepool.panel.labels import Labels
from truepool.tables.export import KEY, describe, read_options, with_options

FRAUD = Labels.of_two("ok", "fraud", "fraud")


@pytest.mark.parametrize(
    ("labels", "costs", "threshold", "options"),
    [
        (FRAUD, Costs(10, 1), None, {"positive": "fraud", "cost_fn": "10", "cost_fp": "1"}),
        (Labels((0, 1)), Costs("amount", 0.1, tn=-0.5), 0.3, {"cost_fn": "amount", "cost_fp": "0.1", "cost_tn": "-0.5", "threshold": 0.3}),
        (Labels(("a", "b", "c")), Costs(matrix=[[0, 1, 2], [3, 0, 4], [5, 6, 0]], currency="EUR"), None,
         {"cost_matrix": "0,1,2;3,0,4;5,6,0", "currency": "EUR"}),
    ],
)  # fmt: skip
def test_options_come_back_from_the_file(tmp_path, labels, costs, threshold, options):
    found = describe("y", labels, costs, threshold)
    table = with_options(pa.table({"y": [0, 1]}), found)
    parquet.write_table(table, tmp_path / "t.parquet")
    assert read_options(tmp_path / "t.parquet") == {"outcome": "y"} | options


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"[" * 100_000, b"\xff"])
def test_metadata_that_is_none_is_no_options(tmp_path, content):
    table = pa.table({"y": [0]}).replace_schema_metadata({KEY: content})
    parquet.write_table(table, tmp_path / "t.parquet")
    assert read_options(tmp_path / "t.parquet") == {}


def test_options_that_are_unknown_or_of_another_type_are_left_out(tmp_path):
    odd = {"output": "/etc/passwd", "cost_fn": 3, "threshold": "x", "outcome": "y"}
    table = with_options(pa.table({"y": [0]}), odd)
    parquet.write_table(table, tmp_path / "t.parquet")
    assert read_options(tmp_path / "t.parquet") == {"outcome": "y"}


def test_a_file_without_metadata_or_without_content_has_no_options(tmp_path):
    parquet.write_table(pa.table({"y": [0]}), tmp_path / "t.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"hello")
    for name in ("t", "bad", "none"):
        assert read_options(tmp_path / f"{name}.parquet") == {}
