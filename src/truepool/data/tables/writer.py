"""Tables out: whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from truepool.core.arrays import Array
from truepool.core.files import atomic_path, check_path
from truepool.data.tables.formats import file_format


def check_writable(path: str | Path) -> Path:
    """Refuse a path that no table could be written to."""
    file_format(Path(path), "written")
    return check_path(path)


def write_table(path: str | Path, columns: Mapping[str, Array]) -> None:
    """Write columns to a CSV or Parquet file, whole or not at all."""
    path = check_writable(path)
    table = pa.table({n: pa.array(c, from_pandas=True) for n, c in columns.items()})
    with atomic_path(path) as unfinished:
        if file_format(path, "written") == "csv":
            options = csv.WriteOptions(quoting_style="needed")
            packed = "gzip" if path.suffix == ".gz" else None
            with pa.output_stream(unfinished, compression=packed) as stream:
                csv.write_csv(table, stream, options)
        else:
            parquet.write_table(table, unfinished)
