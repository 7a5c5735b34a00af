"""Tables in and out: CSV, TSV, Excel, Parquet, and pandas, polars or pyarrow frames.

A row is a case, or in a long table a report. One column is the outcome, ``id`` and
``time`` columns are recognised, every other column is an agent: the probability of the
positive class, empty where there is no report. For K classes an agent has K columns,
``name:class``.
"""

from truepool.tables.files import file_format, write_csv, write_table
from truepool.tables.reader import (
    ReportTable,
    TableWarning,
    load_panel,
    load_reports,
    load_verdicts,
    read_column_names,
    read_frame,
    read_panel,
    read_reports,
    read_source,
)
from truepool.tables.summary import TableSummary
from truepool.tables.table_format import TableFormat

__all__ = [
    "ReportTable",
    "TableFormat",
    "TableSummary",
    "TableWarning",
    "file_format",
    "load_panel",
    "load_reports",
    "load_verdicts",
    "read_column_names",
    "read_frame",
    "read_panel",
    "read_reports",
    "read_source",
    "write_csv",
    "write_table",
]
