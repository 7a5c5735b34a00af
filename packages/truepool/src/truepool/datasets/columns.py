"""From a published CSV file to columns of numbers and text."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from truepool.core.arrays import Array, FloatArray
from truepool.core.errors import SourceError, suggestion
from truepool.core.files import DiskCache, cache_folder
from truepool.datasets.files import COMPRESSED_SUFFIXES, content

SLOW = ".xz"
"""Decompressing the largest data set takes four times as long as the rest of loading
it: its columns are stored as an Arrow file, under a name that changes with it."""


def read_columns(
    path: Path,
    names: Sequence[str],
    text: Sequence[str] = (),
    *,
    header: bool = True,
    missing: str = "",
) -> pa.Table:
    """Read the columns of these names; those in ``text`` stay as they are written.

    A file without a header must have just these columns, in this order. ``missing`` is
    how the file writes a number it does not have.
    """
    return read_cached(path, names, lambda: _parse(path, names, text, header, missing))


def _parse(
    path: Path, names: Sequence[str], text: Sequence[str], header: bool, missing: str
) -> pa.Table:
    types = {name: pa.string() if name in text else pa.float64() for name in names}
    try:
        table = csv.read_csv(
            pa.py_buffer(content(path))
            if path.suffix in COMPRESSED_SUFFIXES
            else str(path),
            csv.ReadOptions(column_names=None if header else list(names)),
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=[missing, ""]
            ),
        )
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0].rstrip(".")
        shape = "with a header" if header else f"{len(names)} columns without a header"
        raise SourceError(
            f"{str(path)!r} must be the published file, {shape}; it cannot be read: "
            f"{reason}. Download it again."
        ) from None
    gone = [name for name in names if name not in table.column_names]
    if gone:
        raise SourceError(
            f"{str(path)!r} must have a column {gone[0]!r}"
            f"{suggestion(gone[0], table.column_names)}; it has "
            f"{', '.join(table.column_names)}"
        )
    return table.select(list(names))


def number_columns(table: pa.Table, names: Sequence[str]) -> FloatArray:
    """Columns of numbers side by side, (T, F); NaN where one is missing."""
    values = np.empty((len(table), len(names)))
    for j, name in enumerate(names):
        start = 0
        for chunk in table[name].chunks:
            # Not to_numpy, which imports pandas first: longer than all of the rest.
            filled = chunk.fill_null(np.nan) if chunk.null_count else chunk
            values[start : start + len(filled), j] = np.from_dlpack(filled)
            start += len(filled)
    return values


def number_column(table: pa.Table, name: str) -> FloatArray:
    """Return a column of numbers, (T,); NaN where one is missing."""
    return number_columns(table, [name])[:, 0]


def text_column(table: pa.Table, name: str) -> Array:
    """Return a column of text."""
    return np.array(table[name].to_pylist(), dtype=object)


def class_numbers(
    path: Path, found: Array, labels: Sequence[str], column: str
) -> FloatArray:
    """Return the class number of each label, or say which is unknown."""
    known = np.array(labels, dtype=object)
    unknown = ~np.isin(found.astype(str), known.astype(str))
    if unknown.any():
        row = int(np.argmax(unknown))
        raise SourceError(
            f"column {column!r} of {str(path)!r} must hold one of {', '.join(labels)}; "
            f"got {found[row]!r} in zero-based row {row}"
        )
    order = np.argsort(known.astype(str))
    place = np.searchsorted(known.astype(str)[order], found.astype(str))
    return np.asarray(order[place])


def read_cached(
    path: Path, columns: Sequence[str], read: Callable[[], pa.Table]
) -> pa.Table:
    """Return what ``read`` gives; if the file is slow to decompress, read it once."""
    if path.suffix != SLOW:
        return read()
    cache = DiskCache(cache_folder() / "parsed", _load_parsed, _store_parsed)
    name = f"{path.name}-{_fingerprint(path, columns)}.arrow"
    found = cache.load(name)
    if found is not None:
        return found
    table = read()  # not stored yet, or no longer readable
    cache.store(name, table)
    for other in cache.folder.glob(f"{path.name}-*.arrow"):
        if other.name != name:
            other.unlink()
    return table


def _fingerprint(path: Path, columns: Sequence[str]) -> str:
    """Hash of the path, size and time of the file, and of the columns read."""
    state = path.stat()
    parts = (str(path.resolve()), state.st_size, state.st_mtime_ns, tuple(columns))
    return sha256(repr(parts).encode()).hexdigest()[:16]


def _load_parsed(path: Path) -> pa.Table:
    # The file is mapped, not read: a checksum would take longer than loading it.
    try:
        with pa.memory_map(str(path)) as stream:
            return pa.ipc.open_file(stream).read_all()
    except pa.ArrowException as error:
        raise ValueError(f"{path} is damaged") from error


def _store_parsed(table: pa.Table, path: str) -> None:
    # pyarrow.feather would do, but it imports pandas first.
    with pa.OSFile(path, "wb") as out, pa.ipc.new_file(out, table.schema) as file:
        file.write_table(table)
