"""Peer libraries: an environment for each, and a process that runs their methods there."""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.data.panel import Panel

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
    """A process that answers for one library, as long as the race lasts."""

    def __init__(self, library: Library, python: Path) -> None:
        self.library = library
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [python, PEERS / "driver.py", library.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()
        self._folder.cleanup()

    def ask(self, learning: Panel, new: FloatArray) -> dict[str, Answer]:
        """Return the answer of every method of the library, by name."""
        source, target = (Path(self._folder.name) / n for n in ("in.npz", "out.npz"))
        np.savez(
            source,
            reports=by_class(learning.reports),
            outcomes=learning.outcomes,
            new=by_class(new),
        )
        pipes = self._process.stdin, self._process.stdout
        if pipes[0] is None or pipes[1] is None or self._process.poll() is not None:
            return {self.library.name: Answer(None, error="its process has ended")}
        print(source, target, sep="\t", file=pipes[0], flush=True)
        if pipes[1].readline() != "done\n":
            return {self.library.name: Answer(None, error="its process has ended")}
        with np.load(target) as file:
            found = {key: file[key] for key in file}
        names = dict.fromkeys(key.partition(" ")[2] for key in found)
        return {f"{self.library.name} {name}": _answer(found, name) for name in names}


def by_class(reports: FloatArray) -> FloatArray:
    """Reports (T, N, K) of each class, from (T, N) or (T, N, K)."""
    return reports if reports.ndim == 3 else np.stack([1 - reports, reports], axis=-1)


def _answer(found: dict[str, FloatArray], name: str) -> Answer:
    if f"error {name}" in found:
        return Answer(None, error=str(found[f"error {name}"]))
    return Answer(found[f"pooled {name}"], *map(float, found[f"seconds {name}"]))
