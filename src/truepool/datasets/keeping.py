"""Tables that are slow to unpack are kept, parsed, in the cache.

Unpacking the xz archive of the largest data set takes four times as long as all the
rest of loading it. So its columns are kept as an Arrow file, under a name that changes
when the archive does.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from truepool.caches import cache_folder
from truepool.errors import SourceError
from truepool.files import whole

SLOW = ".xz"


def kept(path: Path, columns: Sequence[str], read: Callable[[], pa.Table]) -> pa.Table:
    """Return what ``read`` gives; if the file is slow to unpack, read it only once."""
    if path.suffix != SLOW:
        return read()
    folder = cache_folder() / "parsed"
    place = folder / f"{path.name}-{_print(path, columns)}.arrow"
    try:
        with pa.memory_map(str(place)) as stream:
            return pa.ipc.open_file(stream).read_all()
    except (OSError, pa.ArrowException):
        table = read()  # never kept, or not readable any more
    try:
        _keep(table, folder, path.name, place)
    except (OSError, SourceError):
        pass  # a cache that cannot be written into is no reason to fail
    return table


def _print(path: Path, columns: Sequence[str]) -> str:
    """Short print of the file as it lies there and of what is read from it."""
    state = path.stat()
    told = (str(path.resolve()), state.st_size, state.st_mtime_ns, tuple(columns))
    return sha256(repr(told).encode()).hexdigest()[:16]


def _write(table: pa.Table, path: str) -> None:
    # pyarrow.feather would do, but it imports pandas first.
    with pa.OSFile(path, "wb") as out, pa.ipc.new_file(out, table.schema) as file:
        file.write_table(table)


def _keep(table: pa.Table, folder: Path, name: str, place: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with whole(place) as unfinished:
        _write(table, unfinished)
    for other in folder.glob(f"{name}-*.arrow"):
        if other != place:
            other.unlink()
