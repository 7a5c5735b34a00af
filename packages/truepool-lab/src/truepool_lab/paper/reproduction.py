"""Run experiments and compare their numbers with the printed ones."""

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from truepool.core.engine import (
    Batch,
    Engine,
    Progress,
    Row,
    RowFile,
    no_progress,
    run,
)
from truepool_lab.paper.answers import Answer, Reproduction, Run, answered
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments import every, find, obstacle, with_variants
from truepool_lab.paper.interface import (
    Experiment,
    Reading,
    Size,
    is_row,
    model_in_use,
)
from truepool_lab.paper.verdicts import summarise

PACKAGES = (
    "truepool", "truepool-lab", "numpy", "scipy", "scikit-learn", "numba",
    "lightgbm", "xgboost", "xgboost-cpu", "catboost", "torch", "pytorch-tabnet",
)  # fmt: skip
SEEDS = "first four bytes of the SHA-256 of 'axis:repeat', repeats from 0"


def reproduce(
    labels: Sequence[str] = (),
    *,
    size: Size = "quick",
    out: Path = Path("paper-run"),
    jobs: int = 1,
    engine: Engine | None = None,
    progress: Progress = no_progress,
) -> Reproduction:
    """Re-run tables and figures of the paper: all of them, or those named.

    Rows are written to ``out/rows`` as soon as they are measured, and are not measured
    again. Tables that cannot be run now are pending, with the reason. A table comes
    with all of its readings. Cells are measured in ``jobs`` processes, or by an engine;
    those that measure time, always here.
    """
    wanted = with_variants(list(dict.fromkeys(labels)) or list(paper_tables()))
    ready = [find(label) for label in wanted if obstacle(label) is None]
    names = sorted({kind.name for kind in ready if kind is not None})
    experiments = {name: every()[name]() for name in names}
    batches = {name: _batch(e, size, out) for name, e in experiments.items()}
    run(list(batches.values()), jobs=jobs, engine=engine, progress=progress)
    rows = {
        name: (*batch.rows, *experiments[name].derive(batch.rows))
        for name, batch in batches.items()
    }
    answers = tuple(_answer(label, size, experiments, rows) for label in wanted)
    where = f"--set jobs={jobs}" if engine is None else "--set engine=ray"
    command = " ".join(["truepool reproduce", *labels, f"--{size}", where])
    return Reproduction(size, answers, _environment(command))


def _batch(experiment: Experiment, size: Size, out: Path) -> Batch:
    row_file = RowFile(
        out / "rows" / f"{experiment.name}-{size}.jsonl", experiment.version, is_row
    )
    cells = experiment.cells(size)
    return Batch(
        experiment.measure, cells, row_file, experiment.effort, experiment.alone
    )


def _answer(
    label: str,
    size: Size,
    experiments: Mapping[str, Experiment],
    rows: Mapping[str, tuple[Row, ...]],
) -> Answer:
    name, _, variant = label.partition("@")
    table, reason, kind = paper_tables()[name], obstacle(label), find(label)
    if reason is not None or kind is None:
        missing = Reading("", reason or "")
        return Answer(table, missing, {}, "pending", variant=variant)
    reading, mine = kind.readings[label].for_size(size), rows[kind.name]
    return answered(
        table,
        reading,
        summarise(mine, label),
        experiments[kind.name],
        variant=variant,
        rows=mine,
        run=Run(kind.version, date.today().isoformat()),
    )


def _environment(command: str) -> dict[str, str]:
    found = {name: _version(name) for name in PACKAGES}
    model = model_in_use()
    return {
        "command": command,
        "seeds": SEEDS,
        "python": platform.python_version(),
        **{name: installed for name, installed in found.items() if installed},
        **({"language model": model} if model else {}),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
