"""Where a pass over a data set stopped: the sums of its first parts."""

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.files import write_text
from truepool.tables.dataset import Part

PERIOD = 1.0
"""Seconds between two writes: what is lost to a crash is read again."""
SUFFIX = ".unfinished"
"""What the name of the output gets while it is not finished."""


@dataclass(eq=False)
class PassTotals:
    """What a pass over some cases has counted."""

    counts: IntArray
    reported: IntArray
    mass: FloatArray
    """Weight of the cases of each class."""
    silent: int = 0
    empty: int = 0
    pending: int = 0

    def add(self, other: "PassTotals") -> None:
        """Add the counts of other cases."""
        self.counts += other.counts
        self.reported += other.reported
        self.mass += other.mass
        self.silent += other.silent
        self.empty += other.empty
        self.pending += other.pending

    @property
    def cases(self) -> int:
        """Cases with an outcome and a report."""
        return int(self.counts.sum())


@dataclass(eq=False)
class Checkpoint:
    """A file beside an output, which is there until the output is whole.

    Parts are added up in their order, so that the sum of the first ones is all there is
    to keep: the bits are those of a pass that was never interrupted. ``resumed`` is
    the number of parts that were not read again.
    """

    output: Path
    resumed: int = 0
    _saved: float = float("-inf")

    @property
    def path(self) -> Path:
        """The file."""
        return self.output.with_name(self.output.name + SUFFIX)

    def load(
        self, parts: Sequence[Part], made_by: str, nothing: PassTotals
    ) -> tuple[int, FloatArray, PassTotals]:
        """Number of parts that were summed up before, their sums and their counts.

        None were if the file is about another pass, or one of the parts has changed.
        """
        with suppress(OSError, ValueError, KeyError, TypeError):
            content = json.loads(self.path.read_text(encoding="utf-8"))
            done = int(content["done"])
            if content["key"] == _key(parts[:done], made_by) and done <= len(parts):
                sums = np.frombuffer(b64decode(content["sums"]), np.float64)
                sums = sums.reshape(content["shape"]).copy()
                totals = _totals(content["totals"], nothing)
                self.resumed = done
                return done, sums, totals
        return 0, np.zeros(0), nothing

    def save(
        self,
        parts: Sequence[Part],
        made_by: str,
        sums: FloatArray,
        totals: PassTotals,
        *,
        now: bool = False,
    ) -> None:
        """Keep the sums of these parts; unless ``now``, not if that was just done."""
        if not now and monotonic() - self._saved < PERIOD:
            return
        content = {
            "key": _key(parts, made_by),
            "done": len(parts),
            "shape": sums.shape,
            "sums": b64encode(np.ascontiguousarray(sums).tobytes()).decode(),
            "totals": {
                name: value.tolist() if isinstance(value, np.ndarray) else value
                for name, value in asdict(totals).items()
            },
        }
        write_text(self.path, json.dumps(content))
        self._saved = monotonic()

    def remove(self) -> None:
        """Remove the file: the output is whole."""
        self.path.unlink(missing_ok=True)


def _key(parts: Sequence[Part], made_by: str) -> str:
    """Identify what is summed up, of which parts, and by which version."""
    same = [(part.name, part.size, part.modified) for part in parts]
    return sha256(repr((version("truepool"), made_by, same)).encode()).hexdigest()


def _totals(content: dict[str, Any], nothing: PassTotals) -> PassTotals:
    """Counts as they were, of the types that ``nothing`` has."""
    known: dict[str, Any] = {
        name: np.array(content[name], dtype=value.dtype)
        if isinstance(value, np.ndarray)
        else int(content[name])
        for name, value in vars(nothing).items()
    }
    return PassTotals(**known)
