"""Downloads, from a publisher on loopback."""

import io
import os
import socket
import sys
import zipfile
from dataclasses import replace
from hashlib import sha256

import pytest
from http_publisher import publish
from rich.console import Console

from truepool.core.errors import ChecksumError, SourceError
from truepool.datasets.files import File
from truepool.datasets.location import fetch

CONTENT = b"a,b\n1,2\n" * 400_000  # more than two chunks
DATA = File("data.csv", sha256(CONTENT).hexdigest(), len(CONTENT))
pytestmark = pytest.mark.usefixtures("nowhere")


def zipped(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return packed.getvalue()


def test_a_file_is_downloaded_and_progress_is_reported(tmp_path):
    steps = []
    with publish({"data.csv": CONTENT}) as address:
        file = replace(DATA, address=f"{address}/data.csv")
        path = fetch(file, tmp_path / "cache", lambda *step: steps.append(step))
    assert path == tmp_path / "cache" / "data.csv"
    assert path.read_bytes() == CONTENT
    assert os.listdir(path.parent) == ["data.csv"]
    assert steps[-1] == ("data.csv", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in steps] == sorted({done for _, done, _ in steps})
    assert len(steps) > 2


def test_another_sum_is_named_beside_the_right_one_and_the_file_set_aside(tmp_path):
    with publish({"data.csv": CONTENT + b"!"}) as address:
        file = replace(DATA, address=f"{address}/data.csv")
        with pytest.raises(ChecksumError) as error:
            fetch(file, tmp_path)
    wrong = sha256(CONTENT + b"!").hexdigest()
    assert DATA.sha256 in str(error.value)
    assert wrong in str(error.value)
    assert os.listdir(tmp_path) == ["data.csv.mismatch"]
    assert (tmp_path / "data.csv.mismatch").read_bytes() == CONTENT + b"!"


def test_a_bad_download_does_not_replace_the_good_file(tmp_path):
    (tmp_path / "data.csv").write_bytes(CONTENT)
    with publish({"data.csv": b"?"}) as address, pytest.raises(ChecksumError):
        fetch(replace(DATA, address=f"{address}/data.csv"), tmp_path)
    assert (tmp_path / "data.csv").read_bytes() == CONTENT


def test_a_download_that_ends_early_leaves_nothing(tmp_path):
    with publish({"data.csv": CONTENT}, cut=10) as address:
        with pytest.raises(SourceError, match="must be complete|more expected"):
            fetch(replace(DATA, address=f"{address}/data.csv"), tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_file_is_extracted_from_its_archive(tmp_path):
    archive = zipped(data__csv=CONTENT, readme__txt=b"")
    with publish({"x.zip": archive}) as address:
        file = replace(DATA, address=f"{address}/x.zip", zipped=True)
        assert fetch(file, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("archive", "fault"),
    [
        (zipped(data__csv=CONTENT)[:-50], "complete zip archive.*not a zip file"),
        (
            zipped(data__csv=CONTENT).replace(b"\x00", b"\x01", 40),
            "complete zip archive|must contain one",
        ),
        (zipped(readme__txt=b""), r"must contain one \.csv file; got readme\.txt"),
        (zipped(), "got an empty archive"),
        (zipped(a__csv=b"", b__csv=b""), r"got a\.csv, b\.csv"),
    ],
    ids=["truncated", "damaged", "other", "empty", "two"],
)
def test_an_archive_without_the_file_is_refused(tmp_path, archive, fault):
    with publish({"x.zip": archive}) as address:
        file = replace(DATA, address=f"{address}/x.zip", zipped=True)
        with pytest.raises(SourceError, match=fault):
            fetch(file, tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_publisher_that_has_it_no_more_is_named(tmp_path):
    with publish({}) as address:
        file = replace(DATA, address=f"{address}/gone.csv")
        with pytest.raises(
            SourceError, match="the server answered 404 Not Found"
        ) as error:
            fetch(file, tmp_path)
    assert f"{address}/gone.csv" in str(error.value)


def test_a_publisher_out_of_reach_is_named(tmp_path):
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        file = replace(DATA, address=f"http://127.0.0.1:{taken.getsockname()[1]}/x")
        with pytest.raises(SourceError, match="cannot be downloaded from .* refused"):
            fetch(file, tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_file_without_a_publisher_must_be_brought(tmp_path):
    with pytest.raises(
        SourceError, match=r"'data\.csv' is not published as a single file"
    ):
        fetch(DATA, tmp_path)


def test_a_cache_that_cannot_be_written_into_is_named(tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    file = replace(DATA, address="http://127.0.0.1/x")
    with pytest.raises(SourceError, match="cannot be downloaded into .*: File exists"):
        fetch(file, tmp_path / "cache")


def test_a_bar_shows_on_a_terminal(tmp_path, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(Console, "is_terminal", property(lambda _: True))
    with publish({"data.csv": CONTENT}) as address:
        fetch(replace(DATA, address=f"{address}/data.csv"), tmp_path)
    assert "Downloading data.csv" in shown.getvalue()
    assert "3.2/3.2 MB" in shown.getvalue()


def test_no_progress_bar_without_a_terminal(tmp_path, capsys):
    with publish({"data.csv": CONTENT}) as address:
        fetch(replace(DATA, address=f"{address}/data.csv"), tmp_path)
    assert capsys.readouterr() == ("", "")


def test_an_archive_is_unpacked_no_further_than_the_stated_size(tmp_path):
    archive = zipped(data__csv=CONTENT + b"0" * 5_000_000)
    with publish({"x.zip": archive}) as address:
        file = replace(DATA, address=f"{address}/x.zip", zipped=True, size=len(CONTENT))
        with pytest.raises(SourceError, match="holds more, and was not unpacked"):
            fetch(file, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("zipped", [False, True])
def test_a_download_stops_soon_after_the_stated_size(tmp_path, zipped):
    steps = []
    with publish({"data.csv": bytes(40_000_000)}, length=None) as address:
        file = replace(DATA, address=f"{address}/data.csv", zipped=zipped)
        with pytest.raises(
            SourceError, match="must have 3,200,000 bytes; .*sends more"
        ):
            fetch(file, tmp_path, lambda *step: steps.append(step))
    assert steps[-1] == ("data.csv", 3_200_000 + 2**20 + 1, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", ["banana", "-1", "1e3"])
def test_a_length_that_is_no_number_is_not_used(tmp_path, length):
    with publish({"data.csv": CONTENT}, length=length) as address:
        file = replace(DATA, address=f"{address}/data.csv")
        assert fetch(file, tmp_path).read_bytes() == CONTENT


def test_a_length_that_is_too_large_is_an_incomplete_file(tmp_path):
    with publish({"data.csv": CONTENT}, length="9" * 15) as address:
        file = replace(DATA, address=f"{address}/data.csv")
        with pytest.raises(SourceError, match="complete|more expected"):
            fetch(file, tmp_path)
    assert list(tmp_path.iterdir()) == []
