"""Power cuts: the disk as it would be if the power had failed after any write.

A coordinator runs with a shim (`write_log.c`) that notes every write and sync. What was
synced is on the disk after the cut. Of what was not, each write may be there, be missing or
be torn, in any order.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from server.load import count_losses

from truepool.core.errors import LedgerError

SECTOR = 512
DRIVER = """
import json, os, sys, threading
import numpy as np
from server.service import Local
place, synchronous, cases = sys.argv[1], sys.argv[2], int(sys.argv[3])
acknowledged = os.open(place + ".answers", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
def tell(kind, key, value):
    os.write(acknowledged, (json.dumps([kind, key, value]) + "\\n").encode())
with Local(place) as local:
    driver = local.coordinator.ledger.connection
    driver.execute("PRAGMA wal_autocheckpoint = 20")  # small, so that there are many
    driver.execute(f"PRAGMA synchronous = {synchronous}")
    tell("start", "", 0)
    def work(first):
        rng = np.random.default_rng(first)
        for i in range(cases):
            case = f"{first}.{i}"
            for agent in ("ada", "bob", "cyd"):
                p = round(float(rng.random()), 6)
                local.report("fraud", [(case, agent, p)])
                tell("reports", [case, agent], p)
            tell("decisions", case, local.decide("fraud", case, None)["probability"])
            outcome = ["ok", "fraud"][int(rng.integers(2))]
            local.settle("fraud", [(case, outcome)])
            tell("outcomes", case, outcome)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    os._exit(0)  # nothing is closed: the power goes before that
"""


@dataclass(frozen=True)
class Event:
    """A write, a sync, a truncation or a removal of a file."""

    kind: str
    name: str
    offset: int
    data: bytes


@dataclass
class File:
    """What is on the disk for certain, and what may be."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Event] = field(default_factory=list)


def compile_shim(folder: Path) -> Path:
    """Compile the shim; it needs a C compiler."""
    shim = folder / "write_log.so"
    source = Path(__file__).with_name("write_log.c")
    words = [
        "-shared",
        "-fPIC",
        "-O1",
        "-o",
        str(shim),
        str(source),
        "-ldl",
        "-lpthread",
    ]
    subprocess.run(["cc", *words], check=True)
    return shim


def compiler() -> str | None:
    return shutil.which("cc")


def record(folder: Path, shim: Path, synchronous: str, cases: int) -> list[Event]:
    """Run a coordinator under load; return what it wrote, in order."""
    place, log = folder / "ledger.db", folder.with_name(f"{folder.name}.log")
    folder.mkdir()
    tests = str(Path(__file__).parents[1])
    env = os.environ | {
        "LD_PRELOAD": str(shim), "WRITE_LOG": str(log), "WRITE_LOG_FOLDER": f"{folder}/",
        "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")]),
    }  # fmt: skip
    words = [sys.executable, "-c", DRIVER, str(place), synchronous, str(cases)]
    subprocess.run(words, env=env, check=True, timeout=300)
    return read(log.read_bytes())


def read(log: bytes) -> list[Event]:
    """Events of a log."""
    found, at = [], 0
    while at < len(log):
        kind, name, offset, size = np.frombuffer(log, "<i8", 4, at).tolist()
        at += 32
        text = log[at : at + name].decode()
        found.append(Event(chr(kind), text, offset, log[at + name : at + name + size]))
        at += name + size
    return found


def apply(content: bytearray, event: Event, rng=None) -> None:
    """Do to a file what an event did; with a generator, only some sectors of a write."""
    if event.kind == "t":
        del content[event.offset :]
        content.extend(bytes(event.offset - len(content)))
        return
    content.extend(bytes(max(0, event.offset + len(event.data) - len(content))))
    for first in range(0, len(event.data), SECTOR):
        if rng is None or rng.random() < 0.5:
            part = event.data[first : first + SECTOR]
            start = event.offset + first
            content[start : start + len(part)] = part


class Disk:
    """Files after the first events, as they are for certain and as they may be."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.answers: dict[str, dict] = {"reports": {}, "decisions": {}, "outcomes": {}}
        self.started = False

    def add(self, event: Event) -> None:
        if event.name.endswith(".answers"):
            for line in event.data.decode().splitlines():
                kind, key, value = json.loads(line)
                if kind == "start":
                    self.started = True
                else:
                    key = tuple(key) if isinstance(key, list) else key
                    self.answers[kind][key] = value
            return
        file = self.files.setdefault(event.name, File())
        if event.kind == "s":
            for each in file.pending:
                apply(file.durable, each)
            file.pending.clear()
        elif event.kind == "u":
            del self.files[event.name]
        else:
            file.pending.append(event)

    def cut(self, folder: Path, rng) -> Path:
        """Write the files as a power cut may leave them; return the ledger."""
        for name, file in self.files.items():
            if name.endswith("-shm"):
                continue  # shared memory, which is made anew
            content = bytearray(file.durable)
            order = (
                rng.permutation(len(file.pending))
                if rng.random() < 0.5
                else range(len(file.pending))
            )
            for i in order:
                fate = rng.random()
                if fate < 0.4:
                    apply(content, file.pending[i])
                elif fate < 0.6:
                    apply(content, file.pending[i], rng)
            (folder / name).write_bytes(content)
        return folder / "ledger.db"


def cut_power(
    events: list[Event], folder: Path, cuts: int, seed: int
) -> dict[str, int]:
    """Cut the power after random events; count the answers that are lost."""
    rng = np.random.default_rng(seed)
    disk = Disk()
    first = next(i for i, event in enumerate(events) if event.name.endswith(".answers"))
    moments = np.sort(rng.integers(first + 1, len(events) + 1, cuts))
    counts = {
        "cuts": cuts,
        "answers": 0,
        "lost": 0,
        "changed": 0,
        "cuts with losses": 0,
        "corrupt": 0,
    }
    done = 0
    for number, moment in enumerate(moments):
        while done < moment:
            disk.add(events[done])
            done += 1
        place = folder / str(number)
        place.mkdir(parents=True)
        ledger = disk.cut(place, rng)
        counts["answers"] += sum(map(len, disk.answers.values()))
        try:
            found = count_losses(ledger, **disk.answers)
            counts["lost"] += found["lost"]
            counts["changed"] += int(found["changed"])
            counts["cuts with losses"] += found["lost"] > 0
        except LedgerError:
            counts["corrupt"] += 1
        shutil.rmtree(place)
    return counts
