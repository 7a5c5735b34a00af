"""Whether files are as published."""

import gzip
from hashlib import sha256

import pytest

from truepool.datasets.files import File
from truepool.datasets.governors import Governors
from truepool.datasets.verification import verify

FILE = File("some.csv", sha256(b"right").hexdigest(), 5)


@pytest.mark.parametrize(
    ("content", "verdict", "fault"),
    [
        (gzip.compress(b"right"), "verified", None),
        (gzip.compress(b"wrong"), "differs", FILE.sha256),
        (gzip.compress(b"right")[:-4], "damaged", "truncated"),
        (None, "not on this machine", "truepool data path governors"),
    ],
    ids=["right", "wrong", "cut", "none"],  # packed bytes tell the time of packing
)
def test_every_file_gets_a_verdict(nowhere, content, verdict, fault):
    nowhere.mkdir(parents=True)
    if content is not None:
        (nowhere / "some.csv.gz").write_bytes(content)
    row = verify(Governors, FILE)
    assert (row.dataset, row.file, row.verdict) == ("governors", "some.csv", verdict)
    assert (row.fault is None) == (fault is None)
    assert fault is None or fault in row.fault
    assert row.to_dict()["path"] == row.path
