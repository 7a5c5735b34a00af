"""Data sets of parts: Parquet files of one schema, read some thousand rows at a time.

A data set is a Parquet file, a folder of them, or a pattern such as ``2026-*.parquet``.
Folders called ``key=value`` are hive partitions: the key is a column too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from socket import gethostname
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from truepool.core.files import similar_file
from truepool.tables import manifest
from truepool.tables.faults import Cure, TableFaults, refusal

PARQUET = (".parquet", ".pq")

BATCH_NUMBERS = 1 << 20
"""Numbers in a batch: enough for Arrow to be fast, few enough for any memory."""
BUFFER = 1 << 20
"""Bytes of a column that are read at a time: a row group may be larger than memory."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Hive writes for a partition without a value."""


@dataclass(frozen=True, eq=False)
class Part:
    """One file of a data set.

    ``name`` is its path inside the data set, ``modified`` its time of change in
    nanoseconds, ``keys`` the partition that it belongs to.
    """

    path: Path
    name: str
    rows: int
    groups: int
    size: int
    modified: int
    schema: pa.Schema = field(repr=False)
    keys: tuple[tuple[str, Any], ...] = ()

    @property
    def columns(self) -> list[str]:
        """Names of its columns, and of its partition's keys."""
        keys = [key for key, _ in self.keys if key not in self.schema.names]
        return [*self.schema.names, *keys]


@dataclass(frozen=True, eq=False)
class RowBatch:
    """Consecutive rows of one row group: ``start`` counts the rows before them."""

    part: Part
    group: int
    start: int
    rows: pa.RecordBatch

    @property
    def place(self) -> str:
        """Where the rows are, for the user."""
        return f"row group {self.group} of {self.part.path}"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Parts in the order of their names, and where they come from."""

    source: str
    parts: tuple[Part, ...]

    @cached_property
    def rows(self) -> int:
        """Rows of all parts."""
        return sum(part.rows for part in self.parts)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, those of the partitions included."""
        return self.parts[0].columns

    def check_columns(self, names: Sequence[str] | None = None) -> None:
        """Refuse parts whose columns (these, or any) differ from the first part's.

        A column without any value, which Arrow gives the type null, fits every type.
        """
        first = self.parts[0]
        for part in self.parts[1:]:
            wanted = first.columns if names is None else list(names)
            lost = [name for name in wanted if name not in part.columns]
            more = [n for n in part.columns if names is None and n not in wanted]
            if lost or more:
                raise refusal(
                    "parts-differ",
                    part.path,
                    Cure("write-part"),
                    lost=lost,
                    more=more,
                    first=str(first.path),
                )
            for name in wanted:
                self._check_type(part, name)

    def _check_type(self, part: Part, name: str) -> None:
        known = [other for other in self.parts if name in other.schema.names]
        if not known or name not in part.schema.names:
            return
        typed = (other for other in known if not _is_null(other, name))
        first = next(typed, known[0])
        kinds = [other.schema.field(name).type for other in (first, part)]
        if kinds[0] != kinds[1] and not _is_null(part, name):
            raise refusal(
                "part-types-differ",
                part.path,
                Cure("convert"),
                name=name,
                kind=str(kinds[1]),
                usual=str(kinds[0]),
                first=str(first.path),
            )

    def read(
        self,
        columns: Sequence[str],
        wanted: Callable[[int, int], bool] = lambda first, end: True,
    ) -> Iterator[RowBatch]:
        """Read some columns of all parts, one batch after another.

        Only of the row groups that are ``wanted``, by their first row and their end.
        """
        start = 0
        for part in self.parts:
            if wanted(start, start + part.rows):
                yield from read_part(part, columns, start, wanted)
            start += part.rows


def read_part(
    part: Part,
    columns: Sequence[str],
    start: int = 0,
    wanted: Callable[[int, int], bool] = lambda first, end: True,
) -> Iterator[RowBatch]:
    """Read some columns of a part, row group by row group."""
    size = max(1, BATCH_NUMBERS // max(1, len(columns)))
    stored = [name for name in columns if name in part.schema.names]
    _check_same(part)
    group = 0
    try:
        with parquet.ParquetFile(part.path, buffer_size=BUFFER) as file:
            for group in range(part.groups):
                end = start + file.metadata.row_group(group).num_rows
                if not wanted(start, end):
                    start = end
                    continue
                for rows in file.iter_batches(size, row_groups=[group], columns=stored):
                    full = _with_keys(rows, part, columns)
                    yield RowBatch(part, group, start, full)
                    start += len(full)
    except (pa.ArrowException, OSError) as error:
        why = f"row group {group}: {str(error).splitlines()[0]}"
        cure = Cure("write-part")
        raise refusal("unreadable", part.path, cure, kind="Parquet", why=why) from None


def _check_same(part: Part) -> None:
    """Refuse a part that changed since it was found, or that a node does not see."""
    cure = Cure("share-storage")
    try:
        size = part.path.stat().st_size
    except OSError:
        raise refusal("part-gone", part.path, cure, host=gethostname()) from None
    if size != part.size:
        raise refusal(
            "part-changed",
            part.path,
            cure,
            now=size,
            then=part.size,
            host=gethostname(),
        )


def missing(path: Path) -> TableFaults:
    """Return the refusal of a file that is not there."""
    similar = similar_file(path)
    return refusal(
        "no-file", path, *([Cure("name-similar", "", similar)] if similar else [])
    )


def is_dataset(source: Path) -> bool:
    """Whether a path is a folder or a pattern, and not one file.

    >>> is_dataset(Path("new.parquet")), is_dataset(Path("2026-*.parquet"))
    (False, True)
    """
    return source.is_dir() or (has_magic(str(source)) and not source.exists())


def _with_keys(
    rows: pa.RecordBatch, part: Part, columns: Sequence[str]
) -> pa.RecordBatch:
    """Rows with the keys of the partition as columns."""
    found = dict(zip(rows.schema.names, rows.columns, strict=True))
    for key, value in part.keys:
        if key in columns and key not in found:
            found[key] = pa.array([value] * rows.num_rows)
    arrays = [found[name] for name in columns if name in found]
    return pa.RecordBatch.from_arrays(arrays, [n for n in columns if n in found])


def open_dataset(source: Path) -> Dataset:
    """Find the parts of a data set and read what each says about itself."""
    if source.is_dir():
        paths = [
            path
            for path in source.rglob("*")
            if path.name.lower().endswith(PARQUET)
            and path.is_file()
            and not any(word[0] in "._" for word in path.relative_to(source).parts)
        ]
        root = source
    elif is_dataset(source):
        paths = [Path(name) for name in glob(str(source), recursive=True)]
        paths = [p for p in paths if p.is_file() and p.name.lower().endswith(PARQUET)]
        root = _root(source)
    else:
        paths, root = [source], source.parent
    if not paths:
        raise refusal("no-parts", source, known=PARQUET)
    names = {path.relative_to(root).as_posix(): path for path in paths}
    if source.is_dir():
        manifest.check_complete(source, names)
    keys = _partitions(sorted(names))
    parts = [_part(names[name], name, keys[name]) for name in sorted(names)]
    dataset = Dataset(str(source), tuple(parts))
    if not dataset.rows:
        raise refusal("no-rows", source)
    return dataset


def _part(path: Path, name: str, keys: tuple[tuple[str, Any], ...]) -> Part:
    try:
        info = path.stat()
        if not info.st_size:
            raise refusal("no-rows", path)
        with parquet.ParquetFile(path) as file:
            schema, about = file.schema_arrow, file.metadata
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise missing(path) from None
        why = str(error).splitlines()[0]
        raise refusal("unreadable", path, kind="Parquet", why=why) from None
    return Part(
        path,
        name,
        about.num_rows,
        about.num_row_groups,
        info.st_size,
        info.st_mtime_ns,
        schema,
        keys,
    )


def _root(pattern: Path) -> Path:
    """Folder above the first part of a pattern that has a wildcard."""
    root = Path(pattern.anchor)
    for word in pattern.relative_to(pattern.anchor).parts[:-1]:
        if has_magic(word):
            break
        root /= word
    return root


def _partitions(names: Sequence[str]) -> dict[str, tuple[tuple[str, Any], ...]]:
    """Keys of each part's partition; a key is a number where all its values are."""
    found: dict[str, dict[str, str | None]] = {}
    for name in names:
        words = [word.partition("=") for word in PurePosixPath(name).parts[:-1]]
        found[name] = {
            key: None if value == NO_VALUE else value
            for key, mark, value in words
            if mark
        }
    whole = {
        key
        for keys in found.values()
        for key in keys
        if all((of.get(key) or "0").lstrip("-").isdecimal() for of in found.values())
    }
    return {
        name: tuple(
            (key, int(value) if value is not None and key in whole else value)
            for key, value in keys.items()
        )
        for name, keys in found.items()
    }


def _is_null(part: Part, name: str) -> bool:
    return bool(pa.types.is_null(part.schema.field(name).type))
