"""Outcomes of mutants: one JSON object per line, and a table of them per package."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Literal, TypeAlias

from mutation.layout import MutationError

Outcome: TypeAlias = Literal["killed", "timed out", "survived", "not covered"]
Key: TypeAlias = tuple[str, int, int, str]


@dataclass(frozen=True)
class Result:
    """What became of a mutant.

    ``tests`` cover the line, ``tests_chosen`` of them fit into the time that one mutant
    may take. ``test`` is the test that killed it. ``map`` is the map that was used.
    """

    module: str
    package: str
    path: str
    line: int
    start: int
    end: int
    operator: str
    original: str
    mutated: str
    outcome: Outcome
    test: str
    tests: int
    tests_chosen: int
    seconds: float
    map: str

    @property
    def key(self) -> Key:
        """What tells the mutants of one tree apart."""
        return self.path, self.start, self.end, self.mutated

    @property
    def text(self) -> str:
        """The change in words."""
        before, after = (shortened(t) for t in (self.original, self.mutated))
        return f"{self.path}:{self.line}  {self.operator}: {before} -> {after}"


class ResultFile:
    """A file of results that grows line by line, and is continued when it exists."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: dict[Key, Result] = {}
        self.checked: set[str] = set()
        self.unreliable: set[str] = set()
        self._lock = Lock()
        if path.exists():
            for line in path.read_text().splitlines():
                self._take(json.loads(line))

    def _take(self, content: dict[str, object]) -> None:
        if "checked" in content:
            check = Check(**content)  # type: ignore[arg-type]
            self.checked |= {*check.checked}
            self.unreliable |= {*check.unreliable}
        else:
            result = Result(**content)  # type: ignore[arg-type]
            self.results[result.key] = result

    def add(self, entry: "Result | Check") -> None:
        """Append a result, or a check."""
        with self._lock:
            self._take(asdict(entry))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(json.dumps(asdict(entry)) + "\n")

    def belongs_to(self, digest: str) -> None:
        """Refuse to continue results of another tree."""
        if any(result.map != digest for result in self.results.values()):
            raise MutationError(
                f"the results in {self.path} are of another coverage map; "
                "give another file with -o"
            )


@dataclass(frozen=True)
class Check:
    """Tests that killed mutants, run again without a mutant: which of them fail then.

    What they killed is no evidence.
    """

    checked: list[str]
    unreliable: list[str]


def shortened(text: str, width: int = 50) -> str:
    """Return a piece of source in one line, in quotation marks.

    >>> shortened("x   < 3"), shortened("")
    ('`x < 3`', 'nothing')
    """
    line = " ".join(text.split())
    short = line if len(line) <= width else line[: width - 3] + "..."
    return f"`{short}`" if short else "nothing"


def render(file: ResultFile) -> str:
    """Return the table per package, and the mutants that survived."""
    sure = [r for r in file.results.values() if r.test not in file.unreliable]
    by_package: dict[str, list[Result]] = defaultdict(list)
    for result in sorted(sure, key=lambda r: (r.package, r.path, r.start)):
        by_package[result.package].append(result)
    rows = [_row(name, found) for name, found in by_package.items()]
    rows.append(_row("total", [r for found in by_package.values() for r in found]))
    lines = _aligned([HEADER, *rows])
    for outcome in ("survived", "not covered"):
        texts = [
            _line(r) for rs in by_package.values() for r in rs if r.outcome == outcome
        ]
        if texts:
            lines += ["", f"{outcome.capitalize()}:", *texts]
    left_out = len(file.results) - len(sure)
    if left_out:
        tests = ", ".join(sorted(file.unreliable))
        lines += ["", f"{left_out} left out, since these tests also fail without a "]
        lines[-1] += f"mutant: {tests}"
    return "\n".join(lines)


HEADER = (
    "package", "mutants", "killed", "timed out", "survived", "of these, not all tests",
    "not covered", "share killed", "95 % interval",
)  # fmt: skip


def _row(package: str, results: Sequence[Result]) -> tuple[str, ...]:
    counts = Counter(result.outcome for result in results)
    partly = sum(r.outcome == "survived" and r.tests_chosen < r.tests for r in results)
    killed = counts["killed"] + counts["timed out"]
    low, high = wilson_interval(killed, len(results))
    numbers = (
        len(results), counts["killed"], counts["timed out"], counts["survived"], partly,
        counts["not covered"],
    )  # fmt: skip
    share = f"{killed / len(results):.0%}" if results else "-"
    return package, *map(str, numbers), share, f"{low:.0%} to {high:.0%}"


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """95 % confidence interval of a share (Wilson 1927).

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    if not trials:
        return 0.0, 1.0
    z = 1.959964
    share, spread = successes / trials, z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    inner = share * (1 - share) / trials + spread / (4 * trials)
    width = z * math.sqrt(inner) / (1 + spread)
    return max(0.0, centre - width), min(1.0, centre + width)


def _line(result: Result) -> str:
    if result.tests_chosen == result.tests:
        return result.text
    return f"{result.text}  ({result.tests_chosen} of {result.tests} tests)"


def _aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    rows = [*rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
