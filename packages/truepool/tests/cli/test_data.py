"""``truepool data``, as a user runs it."""

import gzip
import json
from functools import partial
from hashlib import sha256
from io import StringIO

import pytest
from http_publisher import publish
from rich.console import Console

from truepool import datasets
from truepool.datasets.files import File
from truepool.datasets.governors import Governors
from truepool.datasets.interface import Dataset
from truepool.datasets.location import folders
from truepool.pages import data_sources

CONTENT = b"2018,KS,2018-11-05,lite,D,Laura Kelly,0.46,1\n"


class Penguins(Dataset):
    """A data set whose file is on no machine."""

    name = "penguins"
    rows = 344
    columns = 4
    labels = ("Adelie", "Gentoo")
    source = "Palmer Station"
    licence = "CC0"
    cite = "Horst, Hill and Gorman, palmerpenguins, 2020"
    missing = 19
    files = (File("penguins.csv", "0" * 64, 15_241),)


@pytest.fixture
def truepool(truepool):
    return partial(truepool, "data")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Only a file of governors of one line, gzipped, then the published one."""
    path = tmp_path / "governors.csv.gz"
    path.write_bytes(gzip.compress(CONTENT))
    monkeypatch.setenv("TRUEPOOL_DATA", str(tmp_path))
    monkeypatch.setenv("TRUEPOOL_CACHE", str(tmp_path / "caches" / "truepool"))
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    files = (File("governors.csv", sha256(CONTENT).hexdigest(), len(CONTENT)),)
    monkeypatch.setattr(Governors, "files", files)
    every = dict(sorted({**datasets.every(), "penguins": Penguins}.items()))
    monkeypatch.setattr(datasets, "every", lambda: every)
    return tmp_path


def test_list_shows_every_data_set_and_where_it_is(truepool, folder):
    code, out, err = truepool("list")
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert lines["governors"][1:6] == ["6,583", "3", "2", "folder", "FiveThirtyEight"]
    assert lines["penguins"][4] == "-"
    assert lines["example"][4] == "bundled"
    assert lines["synthetic"][4] == "made"
    assert set(datasets.every()) <= set(lines)
    shown = "".join(out.split())
    assert f"folder:{folder}" in shown
    assert f"cache:{folder / 'caches' / 'truepool'}(doesnotexist)" in shown
    agents = [n for n, one in datasets.every().items() if one.column_kind == "agent"]
    assert {"example", "governors"} <= {*agents}
    assert f"or agents in panels: {', '.join(agents)}." in " ".join(out.split())


def test_list_fits_a_terminal_of_eighty_columns():
    shown = StringIO()
    data_sources.grid(datasets.every().values(), folders()).print(
        Console(file=shown, width=80)
    )
    table = shown.getvalue().split("\n\n")[0].splitlines()
    assert "licence" in table[1]
    assert len(table) == 3 + len(datasets.every())  # no line is broken in two
    assert max(map(len, table)) <= 80


def test_list_tells_machines_in_json(truepool):
    code, out, _ = truepool("list", "--json", "-")
    result = {row["name"]: row for row in json.loads(out)}
    assert (code, result["governors"]["found"]) == (0, "folder")
    penguins = result["penguins"]
    assert (penguins["found"], penguins["missing"]) == (None, 19)
    assert penguins["files"][0]["size"] == 15_241
    assert penguins["labels"][0] == "Adelie"


def test_path_prints_the_path_and_nothing_else(truepool, folder):
    found = truepool("path", "governors")
    assert found == (0, f"{folder / 'governors.csv.gz'}\n", "")


def test_path_downloads_what_is_not_on_this_machine(truepool, folder, monkeypatch):
    (folder / "governors.csv.gz").unlink()
    with publish({"x": CONTENT}) as address:
        file = File("governors.csv", sha256(CONTENT).hexdigest(), 1, f"{address}/x")
        monkeypatch.setattr(Governors, "files", (file,))
        code, out, err = truepool("path", "governors")
    there = folder / "caches" / "truepool" / "governors.csv"
    assert (code, out, err) == (0, f"{there}\n", "")
    assert there.read_bytes() == CONTENT
    assert datasets.find("governors").location() == "cache"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("path synthetic", "'synthetic'"),
        ("verify governors synthetic", "'synthetic'"),
        ("path governers", "did you mean 'governors'?"),
        ("verify governors penguins", "'penguins.csv'"),
    ],
)
def test_what_has_no_file_is_named(truepool, words, named):
    code, out, err = truepool(*words.split())
    assert (code, err.count("\n")) == (2, 1)
    assert named in err
    assert ("verified" in out) == ("penguins" in words)


def test_verify_is_content_with_what_is_as_published(truepool):
    code, out, err = truepool("verify")
    assert (code, err) == (0, "")
    assert out.count("verified") == 1
    files = [file for one in datasets.every().values() for file in one.files]
    assert out.count("not on this machine") == len(files) - 1 > 0


def test_verify_names_both_sums_and_leaves_the_file_alone(truepool, folder):
    wrong = gzip.compress(CONTENT + b"\n")
    (folder / "governors.csv.gz").write_bytes(wrong)
    code, out, err = truepool("verify", "--json", "-")
    assert code == 2
    verdicts = {row["verdict"] for row in json.loads(out)}
    assert verdicts == {"differs", "not on this machine"}
    assert sha256(CONTENT).hexdigest() in err
    assert sha256(CONTENT + b"\n").hexdigest() in err
    assert err.count("\n") == 1
    assert (folder / "governors.csv.gz").read_bytes() == wrong


def test_verify_tells_a_truncated_file(truepool, folder):
    (folder / "governors.csv.gz").write_bytes(gzip.compress(CONTENT)[:-6])
    code, out, err = truepool("verify", "governors")
    assert code == 2
    assert "damaged" in out
    assert "truncated" in err
