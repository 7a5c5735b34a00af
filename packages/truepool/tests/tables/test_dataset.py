"""Data sets of parts: what they consist of, and what is wrong with them."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from truepool.tables import TableFaults
from truepool.tables import dataset as module
from truepool.tables.dataset import is_dataset, open_dataset, read_part


def write(path, rows=4, *, first=0, groups=2, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    own = {"ada": np.arange(first, first + rows) / 100, "y": np.arange(rows) % 2}
    table = pa.table(own | columns)
    parquet.write_table(table, path, row_group_size=max(1, rows // groups))
    return path


def column(dataset, name):
    batches = dataset.read([name])
    return [value for batch in batches for value in batch.rows.column(0).to_pylist()]


@pytest.fixture
def folder(tmp_path):
    for n, place in enumerate(("b/2.parquet", "a.parquet", "b/1.pq")):
        write(tmp_path / "set" / place, first=10 * n)
    (tmp_path / "set" / "notes.txt").write_text("not a part")
    write(tmp_path / "set" / "_temporary" / "3.parquet")
    write(tmp_path / "set" / ".hidden.parquet")
    return tmp_path / "set"


def test_the_parts_of_a_folder_are_its_parquet_files_in_the_order_of_their_names(
    folder,
):
    found = open_dataset(folder)
    assert [part.name for part in found.parts] == ["a.parquet", "b/1.pq", "b/2.parquet"]
    assert found.rows == 12
    assert column(found, "ada")[:5] == [0.1, 0.11, 0.12, 0.13, 0.2]


def test_a_pattern_chooses_parts_and_names_them_below_its_first_wildcard(folder):
    found = open_dataset(folder / "*" / "*.p*")
    assert is_dataset(folder / "*" / "*.p*")
    names = [part.name for part in found.parts if not part.name.startswith("_")]
    assert names == ["b/1.pq", "b/2.parquet"]


def test_a_file_is_a_data_set_of_one_part(folder):
    found = open_dataset(folder / "a.parquet")
    assert [part.name for part in found.parts] == ["a.parquet"]
    assert not is_dataset(folder / "a.parquet")


def test_a_key_of_hive_partitions_is_a_column_of_numbers_where_all_values_are(tmp_path):
    for year, region in ((2025, "eu"), (2026, "us"), (2026, module.NO_VALUE)):
        write(tmp_path / f"year={year}" / f"region={region}" / "p.parquet", rows=2)
    found = open_dataset(tmp_path)
    assert found.columns == ["ada", "y", "year", "region"]
    assert column(found, "year") == [2025] * 2 + [2026] * 4
    assert column(found, "region") == ["eu"] * 2 + [None] * 2 + ["us"] * 2


def test_a_column_of_the_file_wins_over_a_key_of_the_same_name(tmp_path):
    write(tmp_path / "y=7" / "p.parquet", rows=2)
    assert column(open_dataset(tmp_path), "y") == [0, 1]


def test_batches_say_where_their_rows_are(folder, monkeypatch):
    monkeypatch.setattr(module, "BATCH_NUMBERS", 1)
    batches = list(open_dataset(folder).read(["y"]))
    assert [batch.start for batch in batches] == list(range(12))
    assert batches[6].place == f"row group 1 of {folder / 'b/1.pq'}"


def refusal(source, columns=None):
    with pytest.raises(TableFaults) as caught:
        open_dataset(source).check_columns(columns)
    (fault,) = caught.value.faults
    return fault


def test_parts_with_other_columns_are_named(folder):
    write(folder / "c.parquet", extra=np.zeros(4))
    fault = refusal(folder)
    assert (fault.code, fault.fields["lost"], fault.fields["more"]) == (
        "parts-differ",
        [],
        ["extra"],
    )
    assert fault.place.number == str(folder / "c.parquet")
    open_dataset(folder).check_columns(["ada", "y"])  # nobody asked for it


def test_a_part_without_the_outcome_is_named(folder):
    parquet.write_table(pa.table({"ada": [0.5]}), folder / "c.parquet")
    fault = refusal(folder)
    assert (fault.code, fault.fields["lost"]) == ("parts-differ", ["y"])


def test_a_column_that_changes_its_type_is_named_with_both_types(folder):
    write(folder / "c.parquet", ada=["0.1", "0.2", "0.3", "x"])
    fault = refusal(folder)
    assert (fault.code, fault.fields["name"]) == ("part-types-differ", "ada")
    assert (fault.fields["kind"], fault.fields["usual"]) == ("string", "double")


def test_a_part_in_which_an_agent_never_reports_fits_every_type(folder):
    write(folder / "0.parquet", ada=pa.nulls(4))
    write(folder / "c.parquet", ada=pa.nulls(4))
    open_dataset(folder).check_columns()


def test_a_corrupt_row_group_is_named_and_the_ones_before_it_are_read(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "p.parquet"
    table = pa.table({"ada": rng.random(4000)})
    parquet.write_table(table, path, row_group_size=1000, compression="snappy")
    group = parquet.ParquetFile(path).metadata.row_group(2).column(0)
    with path.open("r+b") as file:
        file.seek(group.dictionary_page_offset or group.data_page_offset)
        file.write(b"\xff" * 200)
    (part,) = open_dataset(path).parts
    read = []
    with pytest.raises(TableFaults) as refused:
        read.extend(batch.group for batch in read_part(part, ["ada"]))
    assert refused.value.codes == ("unreadable",)
    assert refused.value.faults[0].fields["why"].startswith("row group 2: ")
    assert read == [0, 1]


def test_a_part_that_has_changed_since_it_was_found_is_named(folder):
    found = open_dataset(folder)
    write(folder / "a.parquet", rows=8)
    with pytest.raises(TableFaults) as refused:
        column(found, "ada")
    assert refused.value.codes == ("part-changed",)


@pytest.mark.parametrize("name", ["", "*.parquet"])
def test_a_folder_without_parquet_is_refused(tmp_path, name):
    assert refusal(tmp_path / name).code == "no-parts"


def test_parts_without_rows_are_no_table(tmp_path):
    write(tmp_path / "p.parquet", rows=0)
    assert refusal(tmp_path).code == "no-rows"


@pytest.mark.parametrize(
    ("content", "code"), [(b"", "no-rows"), (b"PAR1 and so on", "unreadable")]
)
def test_a_part_that_is_no_parquet_is_named(folder, content, code):
    (folder / "c.parquet").write_bytes(content)
    fault = refusal(folder)
    assert (fault.code, fault.place.number) == (code, str(folder / "c.parquet"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert refusal(tmp_path / "p.parquet").code == "no-file"


def manifest(folder, **parts):
    content = {"truepool": 1, "made_by": {}, "parts": parts}
    (folder / "_manifest.json").write_text(json.dumps(content))


def test_a_part_that_the_manifest_lists_must_be_there(folder):
    there = {key: {"rows": 4, "done": True} for key in ["a.parquet", "b/1.pq"]}
    manifest(folder, **there, **{"c.parquet": {"rows": 4, "done": True}})
    fault = refusal(folder)
    assert (fault.code, fault.found, fault.count) == ("parts-lost", "c.parquet", 1)
    manifest(folder, **there, **{"c.parquet": {"rows": 0, "done": True}})
    assert open_dataset(folder).rows == 12  # a part without rows has no file


def test_a_data_set_that_is_not_finished_is_refused(folder):
    manifest(folder, **{"a.parquet": {"rows": 4, "done": False}})
    fault = refusal(folder)
    assert (fault.code, fault.found, fault.count, fault.total) == (
        "parts-unfinished",
        "a.parquet",
        1,
        1,
    )


@pytest.mark.parametrize("content", ["{", "[]", '{"truepool": 9}', '{"parts": 3}'])
def test_a_manifest_that_cannot_be_read_is_named(folder, content):
    (folder / "_manifest.json").write_text(content)
    assert refusal(folder).code == "manifest-damaged"
