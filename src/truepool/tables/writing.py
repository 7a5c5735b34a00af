"""Tables out: whole or not at all."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from truepool.arrays import Array
from truepool.errors import SourceError
from truepool.tables.files import kind_of


def check_writable(path: str | Path) -> Path:
    """Refuse a path that no table could be written to."""
    path = Path(path)
    kind_of(path, "written")
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise SourceError(f"there is no folder {str(path.parent)!r} to write into")
    if not os.access(path.parent, os.W_OK):
        raise SourceError(f"the folder {str(path.parent)!r} cannot be written into")
    return path


def write_table(path: str | Path, columns: Mapping[str, Array]) -> None:
    """Write columns to a CSV or Parquet file, whole or not at all."""
    path = check_writable(path)
    table = pa.table({n: pa.array(c, from_pandas=True) for n, c in columns.items()})
    try:
        handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise SourceError(
            f"{str(path)!r} cannot be written: {error.strerror}"
        ) from None
    os.close(handle)
    try:
        if kind_of(path, "written") == "csv":
            options = csv.WriteOptions(quoting_style="needed")
            packed = "gzip" if path.suffix == ".gz" else None
            with pa.output_stream(unfinished, compression=packed) as stream:
                csv.write_csv(table, stream, options)
        else:
            parquet.write_table(table, unfinished)
        os.chmod(unfinished, 0o666 & ~_umask())
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
