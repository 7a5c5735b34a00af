"""Tables in and out: CSV, Parquet, and pandas, polars or pyarrow frames.

A row is a case. One column is the outcome, ``id`` and ``time`` columns are recognised,
every other column is an agent: the probability of the positive class, empty where the
agent was silent. For K classes an agent has K columns, ``name:0`` to ``name:K-1``.
"""

from truepool.data.tables.reader import (
    ReportTable,
    read_column_names,
    read_frame,
    read_panel,
    read_reports,
)
from truepool.data.tables.writer import check_writable, write_csv, write_table

__all__ = [
    "ReportTable",
    "check_writable",
    "read_column_names",
    "read_frame",
    "read_panel",
    "read_reports",
    "write_csv",
    "write_table",
]
