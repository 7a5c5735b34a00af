"""Tables in and out: CSV, TSV, Excel, Parquet, and pandas, polars or pyarrow frames.

A row is a case, or in a long table a report. One column is the outcome, ``id`` and
``time`` columns are recognised, every other column is an agent: the probability of the
positive class, empty where there is no report. For K classes an agent has K columns,
``name:class``.
"""

from truepool.data.tables.reader import (
    ReportTable,
    TableWarning,
    load_panel,
    load_reports,
    read_column_names,
    read_frame,
    read_panel,
    read_reports,
)
from truepool.data.tables.summary import TableSummary
from truepool.data.tables.table_format import TableFormat
from truepool.data.tables.writer import check_writable, write_csv, write_table

__all__ = [
    "ReportTable",
    "TableFormat",
    "TableSummary",
    "TableWarning",
    "check_writable",
    "load_panel",
    "load_reports",
    "read_column_names",
    "read_frame",
    "read_panel",
    "read_reports",
    "write_csv",
    "write_table",
]
