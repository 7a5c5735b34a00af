"""Files, packed or not, and their sums."""

import gzip
import lzma
from hashlib import sha256

import pytest

from truepool.core.errors import ChecksumError, SourceError
from truepool.datasets.files import File, check_sum, content_sum, open_content

CONTENT = bytes(range(256)) * 20_000
SUM = sha256(CONTENT).hexdigest()
FILE = File("data.csv", SUM, len(CONTENT))
PACK = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", PACK)
def test_the_sum_is_that_of_the_content_however_it_is_packed(tmp_path, suffix):
    path = tmp_path / f"data.csv{suffix}"
    path.write_bytes(PACK[suffix](CONTENT))
    assert content_sum(path) == SUM
    check_sum(FILE, path)


def test_a_file_with_another_sum_is_refused_with_both_sums(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(CONTENT[1:])
    with pytest.raises(ChecksumError, match=f"{SUM}; it has") as error:
        check_sum(FILE, path)
    assert sha256(CONTENT[1:]).hexdigest() in str(error.value)
    assert path.read_bytes() == CONTENT[1:]


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
@pytest.mark.parametrize("part", [0.5, 0.0], ids=["half", "head"])
def test_a_file_cut_short_is_refused(tmp_path, suffix, part):
    packed = PACK[suffix](CONTENT)
    path = tmp_path / f"data.csv{suffix}"
    path.write_bytes(packed[: int(part * len(packed))] or b"\x00\x01")
    with pytest.raises(SourceError, match="whole file; it is cut short or damaged: ."):
        content_sum(path)


def test_a_file_that_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(SourceError, match="Is a directory"), open_content(tmp_path):
        raise AssertionError("nothing opens")
