"""Which files hold tables."""

from pathlib import Path

from truepool.core.errors import SourceError

CSV = (".csv", ".csv.gz")
PARQUET = (".parquet", ".pq")


def file_format(path: Path, done: str) -> str:
    """Return ``csv`` or ``parquet``, by the name of the file."""
    name = path.name.lower()
    if name.endswith(CSV):
        return "csv"
    if name.endswith(PARQUET):
        return "parquet"
    raise SourceError(
        f"a table is {done} as {', '.join((*CSV, *PARQUET))}; "
        f"{str(path)!r} is none of these"
    )
