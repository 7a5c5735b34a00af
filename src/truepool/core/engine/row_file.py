"""Rows in a file, a line a finished cell: what is there is not measured again."""

import json
from pathlib import Path
from typing import Any, TypeAlias

from truepool.errors import SourceError
from truepool.lab.cells import Cell

Row: TypeAlias = dict[str, Any]


class Kept:
    """Rows of finished cells, in a file of JSON lines.

    A line is written whole, after its cell is done. A run that was killed leaves
    at most one line without an end, which is dropped when the file is opened again.

    Parameters
    ----------
    path : Path
        Made, with its folders, when the first cell is done or by `claim`.
    version : str
        What the rows depend on besides their cell: rows of other versions are left
        where they are and not used.
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
        """Make the file, so that nobody works for one that cannot be written."""
        self._write("")

    def add(self, cell: Cell, rows: list[Row]) -> None:
        """Keep the rows of a finished cell."""
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
                "measure anew"
            ) from None

    def _read(self) -> None:
        text = self._text()
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        for place, line in enumerate(whole.splitlines()):
            try:
                kept = json.loads(line)
                if kept["version"] == self.version:
                    self.rows[kept["cell"]] = kept["rows"]
            except (ValueError, KeyError, TypeError):
                raise SourceError(
                    f"line {place + 1} of {self.path} is no row of an experiment; "
                    "remove the file to measure anew"
                ) from None
