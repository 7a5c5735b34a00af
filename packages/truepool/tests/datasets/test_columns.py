"""From CSV to columns."""

import gzip
import lzma

import numpy as np
import pytest

from truepool.core.errors import SourceError
from truepool.datasets.columns import number_columns, read_columns

pytestmark = pytest.mark.usefixtures("nowhere")
TEXT = b"a,b,c\n1,x,\n2.5,y,4\n"


@pytest.fixture(params=["", ".gz", ".xz"])
def path(request, tmp_path):
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[request.param]
    file = tmp_path / f"t.csv{request.param}"
    file.write_bytes(pack(TEXT))
    return file


def test_columns_are_read_by_name_compressed_or_not(path):
    table = read_columns(path, ["c", "b", "a"], ["b"])
    assert table.column_names == ["c", "b", "a"]
    np.testing.assert_array_equal(
        number_columns(table, ["a", "c"]), [[1, np.nan], [2.5, 4]]
    )
    assert table["b"].to_pylist() == ["x", "y"]


def test_a_missing_column_is_named_with_those_there_are(path):
    with pytest.raises(SourceError, match="must have a column 'd'; it has a, b, c"):
        read_columns(path, ["a", "d"])


def test_text_among_numbers_is_no_published_file(path):
    with pytest.raises(
        SourceError, match="must be the published file.*conversion error"
    ):
        read_columns(path, ["a", "b"])


def test_another_number_of_columns_is_no_published_file(path):
    with pytest.raises(SourceError, match="2 columns without a header.*Expected 2 col"):
        read_columns(path, ["p", "q"], ["p", "q"], header=False)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_truncated_archive_and_a_wrong_one_have_different_errors(tmp_path, pack):
    whole = pack(b"a,b\n" + np.random.default_rng(0).bytes(100_000).hex().encode())
    path = tmp_path / ("t.csv.gz" if pack is gzip.compress else "t.csv.xz")
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="complete file; it is truncated or damaged"):
        read_columns(path, ["a", "b"])


def test_an_empty_file_is_no_published_file(tmp_path):
    (tmp_path / "t.csv").touch()
    with pytest.raises(SourceError, match="Empty CSV file"):
        read_columns(tmp_path / "t.csv", ["a"])
