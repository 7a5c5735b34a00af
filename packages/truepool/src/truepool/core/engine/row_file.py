"""Rows in a file, one line per finished cell, so that a run can be resumed."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeAlias

from truepool.core.engine.cell import Cell
from truepool.core.errors import SourceError

Row: TypeAlias = dict[str, Any]


class RowFile:
    """Rows of finished cells, in a file of JSON lines.

    A line is written once its cell is done. A run that was killed leaves at most one
    incomplete line, which is dropped when the next one is written. Several processes
    may write to one file: each waits for the others, and a cell is stored once.

    Parameters
    ----------
    path : Path
        Created, with its folders, by `claim` or when the first cell is done.
    version : str
        Version of what measures the cells: rows of other versions stay in the file
        and are not used.
    is_row : callable
        Whether an object of a line is what the cells are measured as; any by default.
    """

    def __init__(
        self,
        path: Path,
        version: str,
        is_row: Callable[[Row], bool] = lambda row: True,
    ) -> None:
        self.path, self.version, self.is_row = path, version, is_row
        self.rows: dict[str, list[Row]] = {}
        self._end = self._lines = 0
        try:
            with path.open("rb") as file:
                self._read(file)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError:
            raise self._unreadable() from None

    def __contains__(self, cell: Cell) -> bool:
        return cell.key in self.rows

    def __getitem__(self, cell: Cell) -> list[Row]:
        return self.rows[cell.key]

    def claim(self) -> None:
        """Create the file, to find out before any work whether it can be written."""
        self._append(None, "")

    def add(self, cell: Cell, rows: list[Row]) -> None:
        """Append the rows of a finished cell, unless another process was first."""
        line = json.dumps({"version": self.version, "cell": cell.key, "rows": rows})
        self._append(cell.key, line + "\n")

    def _append(self, key: str | None, text: str) -> None:
        """Add a line to the file, which is locked: other processes write to it too."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b") as file:
                _lock(file)
                self._read(file)
                file.truncate(self._end)
                if key not in self.rows:
                    file.write(text.encode())
                    file.flush()
                    self._read(file)
        except OSError as error:
            raise SourceError(
                f"{str(self.path)!r} cannot be written: {error.strerror}; "
                "name another folder"
            ) from None

    def _read(self, file: IO[bytes]) -> None:
        """Read the complete lines that are new."""
        file.seek(self._end)
        text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        try:
            lines = whole.decode().splitlines()
        except UnicodeDecodeError:
            raise self._unreadable() from None
        for line in lines:
            self._lines += 1
            try:
                found = json.loads(line)
                key, rows = found["cell"], found["rows"]
                if not isinstance(key, str) or not _are_rows(rows):
                    raise TypeError
                if found["version"] == self.version:
                    if not all(map(self.is_row, rows)):
                        raise TypeError
                    self.rows[key] = rows
            except (ValueError, KeyError, TypeError, RecursionError):
                raise SourceError(
                    f"line {self._lines} of {self.path} is not a row of an experiment; "
                    "remove the file to measure them again"
                ) from None
        self._end += len(whole)

    def _unreadable(self) -> SourceError:
        return SourceError(
            f"{self.path} cannot be read as rows of an experiment; remove it to "
            "measure them again"
        )


def _lock(file: IO[bytes]) -> None:
    """Wait until no other process writes to the file; closing it ends that."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def _are_rows(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(row, dict) for row in found)
