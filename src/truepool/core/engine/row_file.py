"""Rows in a file, one line per finished cell, so that a run can be resumed."""

import json
from pathlib import Path
from typing import Any, TypeAlias

from truepool.core.engine.cell import Cell
from truepool.core.errors import SourceError

Row: TypeAlias = dict[str, Any]


class RowFile:
    """Rows of finished cells, in a file of JSON lines.

    A line is written once its cell is done. A run that was killed leaves at most one
    incomplete line, which is dropped when the file is opened again.

    Parameters
    ----------
    path : Path
        Created, with its folders, by `claim` or when the first cell is done.
    version : str
        Version of what measures the cells: rows of other versions stay in the file
        and are not used.
    """

    def __init__(self, path: Path, version: str) -> None:
        self.path, self.version = path, version
        self.rows: dict[str, list[Row]] = {}
        self._read()

    def __contains__(self, cell: Cell) -> bool:
        return cell.key in self.rows

    def __getitem__(self, cell: Cell) -> list[Row]:
        return self.rows[cell.key]

    def claim(self) -> None:
        """Create the file, to find out before any work whether it can be written."""
        self._write("")

    def add(self, cell: Cell, rows: list[Row]) -> None:
        """Append the rows of a finished cell."""
        line = json.dumps({"version": self.version, "cell": cell.key, "rows": rows})
        self._write(line + "\n")
        self.rows[cell.key] = json.loads(line)["rows"]

    def _write(self, text: str) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise SourceError(
                f"{str(self.path)!r} cannot be written: {error.strerror}; "
                "name another folder"
            ) from None

    def _text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except (OSError, UnicodeDecodeError):
            raise SourceError(
                f"{self.path} cannot be read as rows of an experiment; remove it to "
                "measure them again"
            ) from None

    def _read(self) -> None:
        text = self._text()
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        for place, line in enumerate(whole.splitlines()):
            try:
                found = json.loads(line)
                if found["version"] == self.version:
                    self.rows[found["cell"]] = found["rows"]
            except (ValueError, KeyError, TypeError):
                raise SourceError(
                    f"line {place + 1} of {self.path} is not a row of an experiment; "
                    "remove the file to measure them again"
                ) from None
