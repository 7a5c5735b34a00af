"""What is inside the wheels: each distribution has its own and nothing of the others."""

import subprocess
import sys
import tomllib
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest

PACKAGES = Path(__file__).parents[1] / "packages"
NAMES = sorted(path.name for path in PACKAGES.iterdir())
LARGEST = 950_000
"""Bytes of the wheel of the library; the one package of before had 1,169,923."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Every wheel, built offline: its size, and its files by name."""
    found = {}
    for name in NAMES:
        out = tmp_path_factory.mktemp(name)
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out]
        subprocess.run(command, cwd=PACKAGES / name, check=True, capture_output=True)
        (built,) = out.glob("*.whl")
        with ZipFile(built) as archive:
            files = {each: archive.read(each) for each in archive.namelist()}
        found[name] = built.stat().st_size, files
    return found


def folders(files):
    return {PurePosixPath(name).parts[0].partition("-")[0] for name in files}


def sources(folder):
    """Files that git would keep, as a wheel names them."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_holds_its_own_package_and_nothing_else(wheels, name):
    _, files = wheels[name]
    assert folders(files) == {name.replace("-", "_")}
    assert sources(PACKAGES / name / "src") <= set(files)


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_brings_its_entry_points(wheels, name):
    _, files = wheels[name]
    (text,) = (t.decode() for n, t in files.items() if n.endswith("entry_points.txt"))
    project = tomllib.loads((PACKAGES / name / "pyproject.toml").read_text())["project"]
    for group, entries in project.get("entry-points", {}).items():
        assert f"[{group}]" in text
        for key, value in entries.items():
            assert f"{key} = {value}" in text


def test_the_library_knows_no_other_distribution_by_import(wheels):
    _, files = wheels["truepool"]
    others = [name.replace("-", "_").encode() for name in NAMES if name != "truepool"]
    for name, text in files.items():
        if name.endswith(".py"):
            assert not [other for other in others if b"import " + other in text], name
            assert not [other for other in others if b"from " + other in text], name


def test_the_library_is_smaller_than_when_everything_was_in_it(wheels):
    assert wheels["truepool"][0] < LARGEST


def test_the_lab_brings_the_values_that_the_paper_prints(wheels):
    assert "truepool_lab/paper/expected/tables.json" in wheels["truepool-lab"][1]
