"""Where files are looked for, and in what order."""

from hashlib import sha256

from http_publisher import publish

from truepool.datasets.files import File
from truepool.datasets.location import find_local, folders, locate

FILE = File("some.csv", sha256(b"right").hexdigest(), 5)


def test_the_named_folder_comes_before_the_cache(nowhere, tmp_path, monkeypatch):
    nowhere.mkdir(parents=True)
    (nowhere / "some.csv").write_bytes(b"cached")
    assert find_local(FILE) == ("cache", nowhere / "some.csv")
    (tmp_path / "some.csv.gz").touch()
    monkeypatch.setenv("TRUEPOOL_DATA", str(tmp_path))
    assert list(folders().values()) == [tmp_path, nowhere]
    assert find_local(FILE) == ("folder", tmp_path / "some.csv.gz")
    assert locate(FILE) == tmp_path / "some.csv.gz"


def test_files_missing_from_the_named_folder_are_found_in_the_cache(
    nowhere, monkeypatch
):
    nowhere.mkdir(parents=True)
    (nowhere / "some.csv").touch()
    monkeypatch.setenv("TRUEPOOL_DATA", str(nowhere / "gone"))
    assert find_local(FILE) == ("cache", nowhere / "some.csv")


def test_a_missing_file_is_fetched_into_the_cache_once(nowhere):
    assert find_local(FILE) is None
    with publish({"x": b"right"}) as address:
        file = File(FILE.name, FILE.sha256, 5, f"{address}/x")
        assert locate(file) == nowhere / "some.csv"
    assert locate(file) == nowhere / "some.csv"  # the publisher has closed by now
