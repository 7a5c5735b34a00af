"""Run experiments and set their numbers beside the printed ones."""

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from truepool.lab import Kept, Row, run
from truepool.paper.expected import Printed, printed
from truepool.paper.experiments import PENDING, every, of
from truepool.paper.interface import Experiment, Reading, Size
from truepool.paper.verdicts import Judged, Place, Verdict, judged, overall, summed_up

MADE_WITH = ("truepool", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, eq=False)
class Answer:
    """One table or figure: what is printed, what we measured, and how it was read."""

    table: Printed
    reading: Reading
    cells: Mapping[Place, Judged]
    verdict: Verdict
    rows: tuple[Row, ...]
    experiment: str | None


@dataclass(frozen=True, eq=False)
class Reproduction:
    """All answers asked for, and what they were measured with."""

    size: Size
    answers: tuple[Answer, ...]
    environment: Mapping[str, str]

    def __getitem__(self, label: str) -> Answer:
        return next(a for a in self.answers if a.table.label == label)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdicts and numbers as plain values."""
        return {
            "size": self.size,
            "environment": dict(self.environment),
            "tables": {answer.table.label: _told(answer) for answer in self.answers},
        }


def reproduce(
    labels: Sequence[str] = (),
    *,
    size: Size = "quick",
    out: Path = Path("reproduction"),
    jobs: int = 1,
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> Reproduction:
    """Re-run tables and figures of the paper: all of them, or those named.

    Rows go to ``out/rows`` as soon as they are measured; what is there already is not
    measured again.
    """
    wanted = list(labels) or list(printed())
    names = dict.fromkeys(of(label).name for label in wanted if label not in PENDING)
    rows = {name: _rows(every()[name](), size, out, jobs, progress) for name in names}
    answers = tuple(_answer(label, rows) for label in wanted)
    return Reproduction(size, answers, _environment())


def _rows(
    experiment: Experiment,
    size: Size,
    out: Path,
    jobs: int,
    progress: Callable[[str, int, int], None],
) -> list[Row]:
    kept = Kept(out / "rows" / f"{experiment.name}-{size}.jsonl", experiment.version)
    work = experiment.cells(size)
    rows = run(experiment.measure, work, kept, jobs=jobs, progress=progress)
    return [*rows, *experiment.derived(rows)]


def _answer(label: str, rows: Mapping[str, Sequence[Row]]) -> Answer:
    table = printed()[label]
    if label in PENDING:
        return Answer(table, Reading("", PENDING[label]), {}, "pending", (), None)
    experiment = of(label)
    reading = experiment.readings[label]
    mine = tuple(row for row in rows[experiment.name] if row["table"] == label)
    cells = judged(table, summed_up(mine, label), reading.methods)
    return Answer(table, reading, cells, overall(cells), mine, experiment.name)


def _told(answer: Answer) -> dict[str, Any]:
    return {
        "verdict": answer.verdict,
        "reading": answer.reading.reading,
        "cause": answer.reading.cause,
        "cells": [
            {
                "key": list(key),
                "column": column,
                "printed": cell.printed and cell.printed.said,
                "measured": cell.measured and cell.measured.value,
                "error": cell.measured and cell.measured.error,
                "repeats": cell.measured and cell.measured.repeats,
                "verdict": cell.verdict,
            }
            for (key, column), cell in answer.cells.items()
        ],
    }


def _environment() -> dict[str, str]:
    found = {name: version(name) for name in MADE_WITH}
    cores = str(os.cpu_count())
    return {"python": platform.python_version(), "cores": cores, **found}
