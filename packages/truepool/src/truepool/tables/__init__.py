"""Tables in and out: CSV, TSV, Excel, Parquet, JSON lines, and frames.

A `Source` yields rows, `infer` finds out what the columns are (a `Schema`), a `Decoder`
turns rows into reports and outcomes. Every reader does these three, in this order. What
is wrong with a table are `Fault` values, what it cannot say are `Question` values.
"""

from truepool.tables.faults import Cure, Fault, Note, Place, Question, TableFaults
from truepool.tables.new_cases import match
from truepool.tables.read import (
    ReportTable,
    Table,
    TableWarning,
    load_panel,
    load_reports,
    read_panel,
    read_reports,
    resolve,
)
from truepool.tables.schema import Declared, Schema, Unit
from truepool.tables.source import open_source
from truepool.tables.write import file_format, write_csv, write_table

__all__ = [
    "Cure",
    "Declared",
    "Fault",
    "Note",
    "Place",
    "Question",
    "ReportTable",
    "Schema",
    "Table",
    "TableFaults",
    "TableWarning",
    "Unit",
    "file_format",
    "load_panel",
    "load_reports",
    "match",
    "open_source",
    "read_panel",
    "read_reports",
    "resolve",
    "write_csv",
    "write_table",
]
