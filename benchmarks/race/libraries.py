"""Peer libraries: an environment for each, and a process that runs their methods there."""

import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.panel.panel import Panel

PEERS = Path(__file__).parent / "peers"


@dataclass(frozen=True)
class Library:
    """A peer library: the packages of its environment, and the module of its methods."""

    name: str
    module: str
    packages: tuple[str, ...]


LIBRARIES = (
    Library("scikit-learn", "scikit_learn", ("scikit-learn",)),
    Library("AutoGluon", "autogluon_selection", ("autogluon.core",)),
    # The version of torch that the project pins: an open range brings gigabytes along.
    Library("metaforecast", "metaforecast_experts", ("metaforecast", "torch==2.13.0")),
    Library("river", "river_online", ("river",)),
    # Its classes lack what scikit-learn asks for since 1.6.
    Library("crowd-kit", "crowd_kit", ("crowd-kit", "scikit-learn<1.6")),
)


@dataclass(frozen=True, eq=False)
class Answer:
    """What one method predicted, (T, K), and its seconds; or why it could not."""

    pooled: FloatArray | None
    fit: float = float("nan")
    predict: float = float("nan")
    one: float = float("nan")
    error: str = ""


def prepare(library: Library, folder: Path) -> Path | str:
    """Make the environment of a library; return its Python, or why there is none."""
    home = folder / library.name
    python = home / "bin" / "python"
    stamp = home / ".packages"
    wanted = "\n".join(library.packages)
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    words = [sys.executable, "-m", "uv"]
    pip = [*words, "pip", "install", "-q", "--python", str(python), *library.packages]
    for command in ([*words, "venv", "-q", "--clear", str(home)], pip):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            reason = done.stderr.strip().splitlines() or ["no reason was given"]
            return f"could not be installed: {reason[0]}"
    stamp.write_text(wanted)
    return python


class Peer:
    """The methods of one library, run in a process that lasts as long as the race.

    Answers stay in a folder: the same question to the same code is asked once, unless
    it is asked ``anew``, for its time.
    """

    def __init__(self, library: Library, python: Path, folder: Path) -> None:
        self.library, self.python, self.folder = library, python, folder
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.communicate()

    def ask(
        self, learning: Panel, new: FloatArray, *, anew: bool = False
    ) -> dict[str, Answer]:
        """Return the answer of every method of the library, by name."""
        question = [by_class(learning.reports), learning.outcomes, by_class(new)]
        digest = sha256(self._code)
        for array in question:
            digest.update(np.ascontiguousarray(array).tobytes())
        target = self.folder / f"{self.library.name}-{digest.hexdigest()[:16]}.npz"
        if anew or not target.is_file():
            names = ("reports", "outcomes", "new")
            failure = self._run(dict(zip(names, question, strict=True)), target)
            if failure:
                return {self.library.name: Answer(None, error=failure)}
        with np.load(target) as file:
            found = {key: file[key] for key in file}
        names = dict.fromkeys(key.partition(" ")[2] for key in found)
        return {f"{self.library.name} {name}": _answer(found, name) for name in names}

    @cached_property
    def _code(self) -> bytes:
        files = (f"{self.library.module}.py", "features.py", "driver.py")
        return b"".join((PEERS / name).read_bytes() for name in files)

    def _run(self, question: dict[str, FloatArray], target: Path) -> str:
        """Let the process answer into a file; return why it could not."""
        self.folder.mkdir(parents=True, exist_ok=True)
        source = self.folder / f"{self.library.name}-question.npz"
        np.savez(source, **question)
        asked, replies = self._pipes()
        try:
            print(source, target, sep="\t", file=asked, flush=True)
            ended = replies.readline() != "done\n"
        except BrokenPipeError:
            ended = True
        return "its process has ended" if ended else ""

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        if self._process is None:
            self._process = subprocess.Popen(
                [self.python, PEERS / "driver.py", self.library.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        asked, replies = self._process.stdin, self._process.stdout
        if asked is None or replies is None:
            raise AssertionError("both are pipes")
        return asked, replies


def by_class(reports: FloatArray) -> FloatArray:
    """Reports (T, N, K) of each class, from (T, N) or (T, N, K)."""
    return reports if reports.ndim == 3 else np.stack([1 - reports, reports], axis=-1)


def _answer(found: dict[str, FloatArray], name: str) -> Answer:
    if f"error {name}" in found:
        return Answer(None, error=str(found[f"error {name}"]))
    return Answer(found[f"pooled {name}"], *map(float, found[f"seconds {name}"]))
