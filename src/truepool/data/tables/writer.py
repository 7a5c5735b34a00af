"""Tables out: whole or not at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from truepool.core.arrays import Array
from truepool.core.files import atomic_path, check_path
from truepool.data.tables.files import file_format


def check_writable(path: str | Path) -> Path:
    """Refuse a path that no table could be written to."""
    file_format(Path(path), "written")
    return check_path(path)


def write_table(path: str | Path, columns: Mapping[str, Array]) -> None:
    """Write columns to a CSV or Parquet file, whole or not at all."""
    path = check_writable(path)
    with atomic_path(path) as unfinished:
        if file_format(path, "written") == "csv":
            packed = "gzip" if path.suffix == ".gz" else None
            with pa.output_stream(unfinished, compression=packed) as stream:
                write_csv(stream, columns)
        else:
            parquet.write_table(_table(columns), unfinished)


def write_csv(stream: Any, columns: Mapping[str, Array]) -> None:
    """Write columns as CSV to an open stream of bytes."""
    csv.write_csv(_table(columns), stream, csv.WriteOptions(quoting_style="needed"))


def _table(columns: Mapping[str, Array]) -> pa.Table:
    return pa.table({n: pa.array(c, from_pandas=True) for n, c in columns.items()})
