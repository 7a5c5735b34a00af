"""Files, packed or not, and their sums."""

import gzip
import lzma
from hashlib import sha256

import pytest

from truepool.core.errors import ChecksumError, SourceError
from truepool.datasets.files import File, checksum, open_content, verify_checksum

CONTENT = bytes(range(256)) * 20_000
CHECKSUM = sha256(CONTENT).hexdigest()
FILE = File("data.csv", CHECKSUM, len(CONTENT))
COMPRESS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", COMPRESS)
def test_the_checksum_is_that_of_the_uncompressed_content(tmp_path, suffix):
    path = tmp_path / f"data.csv{suffix}"
    path.write_bytes(COMPRESS[suffix](CONTENT))
    assert checksum(path) == CHECKSUM
    verify_checksum(FILE, path)


def test_a_wrong_checksum_is_refused_with_both_checksums(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(CONTENT[1:])
    with pytest.raises(ChecksumError, match=f"{CHECKSUM}; got") as error:
        verify_checksum(FILE, path)
    assert sha256(CONTENT[1:]).hexdigest() in str(error.value)
    assert path.read_bytes() == CONTENT[1:]


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
@pytest.mark.parametrize("part", [0.5, 0.0], ids=["half", "head"])
def test_a_file_cut_short_is_refused(tmp_path, suffix, part):
    packed = COMPRESS[suffix](CONTENT)
    path = tmp_path / f"data.csv{suffix}"
    path.write_bytes(packed[: int(part * len(packed))] or b"\x00\x01")
    with pytest.raises(
        SourceError, match="complete file; it is truncated or damaged: ."
    ):
        checksum(path)


def test_a_file_that_cannot_be_opened_is_refused(tmp_path):
    with pytest.raises(SourceError, match="Is a directory"), open_content(tmp_path):
        raise AssertionError("nothing opens")
