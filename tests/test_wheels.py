"""What is inside the two wheels: the library has nothing of the paper."""

import subprocess
import sys
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]


def wheel(source, out):
    """Build a wheel offline; its files by name."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    with ZipFile(built) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return wheel(ROOT, tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    return wheel(ROOT / "reproduction", tmp_path_factory.mktemp("paper"))


def folders(files):
    return {PurePosixPath(name).parts[0].partition("-")[0] for name in files}


def sources(folder, package):
    """Files of a package that git would keep, as a wheel names them."""
    root = folder / package
    return {
        path.relative_to(folder).as_posix()
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_a_wheel_of_the_library_holds_the_library_and_nothing_of_the_paper(library):
    assert folders(library) == {"truepool"}
    assert sources(ROOT / "src", "truepool") <= set(library)
    ours = {n: text for n, text in library.items() if n.startswith("truepool/")}
    assert not [name for name in ours if "paper" in name or "reproduc" in name]
    assert not [n for n, text in ours.items() if n.endswith(".py") and b"truepool_paper" in text]  # fmt: skip


def test_a_wheel_of_the_reproduction_brings_its_expected_values_and_its_verb(paper):
    assert folders(paper) == {"truepool_paper"}
    assert sources(ROOT / "reproduction/src", "truepool_paper") <= set(paper)
    assert "truepool_paper/expected/tables.json" in paper
    (entry_points,) = (t for n, t in paper.items() if n.endswith("entry_points.txt"))
    assert b"[truepool.verbs]\nreproduce = truepool_paper.cli:reproduce" in entry_points
