"""Data sets scored part by part: one file out for each file in.

A part is written under a temporary name and renamed when it is complete. The manifest
of the folder lists all parts, and those in it that are done and whose input has not
changed are left as they are, so that an interrupted run goes on where it stopped.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from truepool.core.engine import (
    Engine,
    Processes,
    map_with_progress,
    one_blas_thread,
)
from truepool.core.errors import SourceError
from truepool.core.files import check_path
from truepool.scoring.scorer import Scorer, Tally
from truepool.tables import manifest
from truepool.tables.dataset import Dataset, Part
from truepool.tables.manifest import Manifest
from truepool.tables.read import Table, read_blocks
from truepool.tables.schema import Declared, Schema
from truepool.tables.source import ParquetFiles
from truepool.tables.write import RepeatedIds, open_writer


class PartTask(NamedTuple):
    """A part to score: its first row has the place ``start`` in the data set."""

    part: Part
    start: int
    target: Path


@dataclass(frozen=True, eq=False)
class PartScorer:
    """How every part of a data set is read, scored and written."""

    scorer: Scorer
    schema: Schema
    declared: Declared = field(default_factory=Declared)

    def write(self, task: PartTask, progress: Callable[[int], None]) -> Tally:
        """Score the part of a task, whatever an earlier attempt has left of it."""
        part, target = task.part, task.target
        _remove_leftovers(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not part.rows:
            return Tally()
        with one_blas_thread():  # the same bits anywhere
            return self.score(part, task.start, target, progress)

    def score(
        self,
        part: Part,
        start: int,
        target: Path,
        progress: Callable[[int], None] = lambda rows: None,
    ) -> Tally:
        """Score one part, whose first row has the place ``start`` in the data set."""
        tally, seen = Tally(), RepeatedIds()
        source = ParquetFiles(Dataset(str(part.path.parent), (part,)))
        table = Table(source, self.schema)
        with open_writer(target) as write:
            for block in read_blocks(table, declared=self.declared):
                columns, counts = self.scorer.score(block.shifted(start))
                write(columns)
                tally.add(counts)
                seen.add(block.ids)
                progress(len(block))
        tally.repeated, tally.not_compared = seen.count(), seen.left_out
        return tally


def score_parts(
    how: PartScorer,
    dataset: Dataset,
    folder: Path,
    made_by: Mapping[str, Any],
    progress: Callable[[int], None] = lambda rows: None,
    engine: Engine | None = None,
) -> tuple[Tally, int]:
    """Score a data set into a folder; also return how many parts were done before.

    ``made_by`` identifies the pool and the settings: a folder of other ones is refused.
    Parts are scored by the engine, by default one after another.
    """
    names = [name for name in how.schema.columns if name in dataset.columns]
    dataset.check_columns(names)
    record = _open(folder, dataset, made_by)
    total, todo, start = Tally(), list[PartTask](), 0
    for part in dataset.parts:
        entry, target = record.parts[part.name], folder / part.name
        if _is_done(entry, part, target):
            progress(part.rows)
            total.add(_tally(entry))
        else:
            record.parts[part.name] = _planned(part)
            todo.append(PartTask(part, start, target))
        start += part.rows
    tallies = map_with_progress(
        engine or Processes(), how.write, todo, lambda task: task.part.rows, progress
    )
    try:
        for task, tally in zip(todo, tallies, strict=True):
            entry = record.parts[task.part.name]
            if task.part.rows:
                entry |= _counts(tally)
                entry["bytes"] = _size(task.target)
            entry["done"] = True
            record.save(now=False)
            total.add(_tally(entry))
    finally:
        record.save()
    return total, len(dataset.parts) - len(todo)


def made_by(file: Path, how: PartScorer) -> dict[str, Any]:
    """Identify the pool of a file and how parts are scored, for the manifest."""
    scorer = how.scorer
    return {
        "pool": sha256(file.read_bytes()).hexdigest(),
        "table": how.schema.to_dict(),
        "id": scorer.id,
        "contributions": scorer.contributions,
        "explore": scorer.explore,
        "seed": scorer.seed,
    }


def check_folder(folder: Path, dataset: Dataset) -> None:
    """Refuse a folder that other files are in, or that the data set itself is in."""
    inside = [part.path for part in dataset.parts if folder in part.path.parents]
    real = folder.resolve()
    if inside or any(real in part.path.resolve().parents for part in dataset.parts):
        raise SourceError(
            f"a data set must be written to a folder of its own; {str(folder)!r} holds "
            "the one that is read. Name another folder."
        )
    if not folder.exists():
        check_path(folder)
        return
    check_path(folder / manifest.NAME)
    if manifest.load(folder) is None and any(folder.iterdir()):
        raise SourceError(
            "a data set must be written to a new or empty folder, or to one with its "
            f"manifest; {str(folder)!r} holds other files. Name another folder."
        )


def _open(folder: Path, dataset: Dataset, made_by: Mapping[str, Any]) -> Manifest:
    """Return the manifest of a folder, with an entry for every part."""
    check_folder(folder, dataset)
    folder.mkdir(exist_ok=True)
    record = manifest.load(folder) or Manifest(folder, made_by)
    if record.made_by != made_by:
        raise SourceError(
            "a data set is continued with the same pool and options; "
            f"{str(folder)!r} was written with others. Name another folder."
        )
    names = {part.name for part in dataset.parts}
    lost = [name for name in record.parts if name not in names]
    if lost:
        raise SourceError(
            f"every part of the manifest must be there; {dataset.source!r} lacks "
            f"{lost[0]!r}, which {str(folder / manifest.NAME)!r} lists. Restore it, or "
            "name another folder to write."
        )
    for part in dataset.parts:
        record.parts.setdefault(part.name, _planned(part))
    record.save()
    return record


def _planned(part: Part) -> dict[str, Any]:
    return {
        "rows": part.rows,
        "input_bytes": part.size,
        "input_modified": part.modified,
        "done": False,
    }


def _is_done(entry: Mapping[str, Any], part: Part, target: Path) -> bool:
    """Whether a part is written, and its input is the same as it was then."""
    planned = _planned(part)
    same = all(entry.get(name) == planned[name] for name in planned if name != "done")
    if not entry.get("done") or not same:
        return False
    return not part.rows or (
        target.is_file() and target.stat().st_size == entry.get("bytes")
    )


def _remove_leftovers(target: Path) -> None:
    """Remove what a run that was killed left under a temporary name."""
    with suppress(OSError):
        for path in target.parent.glob(f".{target.name[:20]}.*{target.suffix}"):
            path.unlink()


def _size(target: Path) -> int:
    try:
        return target.stat().st_size
    except OSError:
        raise SourceError(
            "every node must write to the folder of the command; "
            f"{str(target)!r} was written on a node and is not here. Name a folder in "
            "storage that all nodes share."
        ) from None


def _counts(tally: Tally) -> dict[str, Any]:
    missing = {agent: count for agent, count in tally.missing.items() if count}
    return {
        "empty": tally.empty,
        "positive": tally.positive,
        "missing": missing,
        "constant": tally.constant,
        "repeated": tally.repeated,
        "not_compared": tally.not_compared,
        "drawn": tally.drawn,
    }


def _tally(entry: Mapping[str, Any]) -> Tally:
    return Tally(
        int(entry.get("rows", 0)),
        int(entry.get("empty", 0)),
        int(entry.get("positive", 0)),
        Counter(entry.get("missing", {})),
        {
            agent: None if report is None else tuple(report)
            for agent, report in entry.get("constant", {}).items()
        },
        repeated=int(entry.get("repeated", 0)),
        not_compared=int(entry.get("not_compared", 0)),
        drawn=int(entry.get("drawn", 0)),
    )
