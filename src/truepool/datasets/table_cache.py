"""A cache of parsed tables, for those that are slow to decompress.

Decompressing the xz archive of the largest data set takes four times as long as the
rest of loading it. So its columns are stored as an Arrow file, under a name that
changes with the archive.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from truepool.core.files import DiskCache, cache_folder

SLOW = ".xz"


def read_cached(
    path: Path, columns: Sequence[str], read: Callable[[], pa.Table]
) -> pa.Table:
    """Return what ``read`` gives; if the file is slow to decompress, read it once."""
    if path.suffix != SLOW:
        return read()
    cache = DiskCache(cache_folder() / "parsed", _read, _write)
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


def _read(path: Path) -> pa.Table:
    # The file is mapped, not read: a checksum would take longer than loading it.
    try:
        with pa.memory_map(str(path)) as stream:
            return pa.ipc.open_file(stream).read_all()
    except pa.ArrowException as error:
        raise ValueError(f"{path} is damaged") from error


def _write(table: pa.Table, path: str) -> None:
    # pyarrow.feather would do, but it imports pandas first.
    with pa.OSFile(path, "wb") as out, pa.ipc.new_file(out, table.schema) as file:
        file.write_table(table)
