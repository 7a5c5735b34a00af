"""A disk that is full: one sentence, the old files, and nothing else."""

import resource
import sys
from contextlib import chdir

import pytest
from hostile.commands import OLD, contents, prepare, run

LIMIT = 600
"""Bytes that fit on the disk."""
COMMANDS = {
    "csv": ["pool", "table.csv", "table.csv", "--pool", "mean", "-o"],
    "parquet": ["pool", "table.csv", "table.csv", "--pool", "mean", "-o"],
    "pool": ["fit", "table.csv", "--pool", "mean", "-o"],
    "pdf": ["replay", "table.csv", "--learner", "static", "--plot"],
    "png": ["replay", "table.csv", "--learner", "static", "--plot"],
    "svg": ["replay", "table.csv", "--learner", "static", "--plot"],
    "html": ["audit", "table.csv", "--html"],
    "md": ["audit", "table.csv", "--markdown"],
    "onnx": ["export", "sound.pool", "--onnx"],
    "joblib": ["agent", "train", "table.csv", "--model", "logistic", "-o"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("full")
    prepare(place)
    with chdir(place):  # compiled code is stored before the disk is full
        assert run(["replay", "table.csv", "--learner", "static"]).code == 0
    return place


@pytest.mark.parametrize("place", ["disk", "device"])
@pytest.mark.parametrize("kind", COMMANDS)
def test_a_full_disk_is_one_sentence_and_leaves_the_old_file(
    kind, place, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    name = f"{place}.{kind}"
    if place == "disk":
        (folder / name).write_bytes(OLD)
    else:
        (folder / name).symlink_to("/dev/full")
    before = contents(folder)
    # Python would store bytecode cut off at the limit, and fail at the next import.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if place == "disk":
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    try:
        answer = run([*COMMANDS[kind], name])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert answer.code == 2, answer.err
    assert (answer.out, answer.err.count("\n")) == ("", 1)
    reason = "File too large" if place == "disk" else "No space left on device"
    assert f"'{name}' cannot be written: {reason}" in answer.err
    assert contents(folder) == before
