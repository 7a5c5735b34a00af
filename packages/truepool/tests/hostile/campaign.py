"""The fuzz campaign: one random step at a time, each found again by its seed."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from command import VERBS
from hostile import values
from hostile.commands import EXPENSIVE, contents, fault, hostile, prepare, sound
from hostile.tables import SOUND, TABLES
from hypothesis import HealthCheck, settings
from hypothesis import seed as with_seed
from hypothesis.stateful import run_state_machine_as_test

LIMIT = 120
"""Seconds after which a step counts as a hang."""


class Place:
    """A folder with sound inputs, and what it holds between two commands."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        prepare(folder)
        self.folder = folder
        self.before = contents(folder)
        self.commands = {verb: list(hostile(verb)) for verb in VERBS}


def step(rng: np.random.Generator, place: Place) -> Counter[str]:
    """Do one thing and count it; a fault is raised."""
    signal.signal(signal.SIGALRM, _hang)
    signal.alarm(LIMIT)
    try:
        kinds = (_command, _damaged, _fit, _replay, _credit, _audit, _stream, _kill)
        shares = (0.40, 0.16, 0.22, 0.08, 0.08, 0.04, 0.005, 0.015)
        kind = kinds[rng.choice(len(kinds), p=shares)]
        return Counter(kind(rng, place))
    finally:
        signal.alarm(0)


class Hang(BaseException):
    """A step that takes too long; hypothesis would shrink an ordinary exception."""


def _hang(*_: object) -> None:
    raise Hang(f"nothing for {LIMIT} seconds")


def _command(rng: np.random.Generator, place: Place) -> list[str]:
    """Run a verb with one to three hostile words."""
    verb = str(rng.choice([verb for verb in VERBS if verb not in EXPENSIVE]))
    every = place.commands[verb]
    first, *more = (every[i] for i in rng.integers(0, len(every), rng.integers(1, 4)))
    words = [*first.words]
    for each in more:
        words += each.option
    found = fault(words, place.folder, place.before)
    assert found is None, found
    return ["commands"]


def _damaged(rng: np.random.Generator, place: Place) -> list[str]:
    """Run a verb that reads a table on one with damaged bytes."""
    names = ("init", "fit", "compare", "audit", "replay", "game", "agent train")
    verb = str(rng.choice([name for name in names if name in VERBS]))
    content = bytearray(
        SOUND if rng.random() < 0.7 else TABLES[str(rng.choice(list(TABLES)))]
    )
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(0, len(content) + 1))
        noise = bytes(rng.choice(list(b'\x00\xff,;"\n.-eE019n =')) for _ in range(3))
        content[at : at + int(rng.integers(0, 4))] = noise[: int(rng.integers(0, 4))]
    path = place.folder / "table.csv"
    path.write_bytes(bytes(content))
    try:
        found = fault(sound(verb), place.folder, contents(place.folder))
    finally:
        path.write_bytes(SOUND)
    assert found is None, f"{found}\n{bytes(content)!r}"
    return ["commands", "tables"]


def _fit(rng: np.random.Generator, place: Place) -> list[str]:
    slow = rng.random() < 0.03
    names = [name for name in values.POOLS if (name in values.SLOW) == slow]
    return ["fits", "panels", f"fits {values.check_pool(str(rng.choice(names)), rng)}"]


def _replay(rng: np.random.Generator, place: Place) -> list[str]:
    values.check_learner(str(rng.choice(values.LEARNERS)), rng)
    return ["replays", "panels"]


def _credit(rng: np.random.Generator, place: Place) -> list[str]:
    values.check_credit(str(rng.choice(list(values.CREDITS))), rng)
    return ["credits", "panels"]


def _audit(rng: np.random.Generator, place: Place) -> list[str]:
    values.check_audit(rng)
    return ["audits", "panels"]


def _stream(rng: np.random.Generator, place: Place) -> list[str]:
    from hostile.test_stream import AutoMachine, StreamMachine

    few = settings(
        max_examples=10,
        stateful_step_count=40,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    kind = AutoMachine if rng.random() < 0.2 else StreamMachine
    machine = with_seed(int(rng.integers(2**32)))(kind)
    run_state_machine_as_test(machine, settings=few)
    return ["streams"] * 10


def _kill(rng: np.random.Generator, place: Place) -> list[str]:
    """End a command by a signal at any moment: old files are whole, no others exist."""
    verb = str(rng.choice(["fit", "pool", "compare", "audit", "replay", "agent train"]))
    number = rng.choice([signal.SIGTERM, signal.SIGINT])
    kill(sound(verb), int(number), float(rng.uniform(0.2, 4.0)), place)
    return ["kills"]


def kill(words: list[str], number: int, after: float, place: Place) -> None:
    """Start a command as a process and end it after some seconds."""
    before = contents(place.folder)
    process = subprocess.Popen(
        [sys.executable, "-c", "from truepool.cli import main; main()", *words],
        cwd=place.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    time.sleep(after)
    process.send_signal(number)
    process.wait(LIMIT)
    after_files = contents(place.folder)
    named = {word.partition("=")[2] for word in words}
    for name in after_files.keys() | before.keys():
        if name not in named:
            assert after_files.get(name) == before.get(name), name
        elif after_files[name] != before[name]:
            assert len(after_files[name]) > 100, f"{name} is cut"
            (place.folder / name).write_bytes(before[name])
