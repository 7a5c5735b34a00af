"""Files that a verb writes: checked before anything is computed, written at the end."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from truepool.core.errors import SourceError

STDOUT = Path("-")


def check_files(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Refuse files that cannot be written, or that are named twice."""
    from truepool.core.files import check_path

    taken = [path.resolve() for path in inputs if path is not None]
    for path in outputs:
        if path is None:
            continue
        if path != STDOUT:
            check_path(path)
        if path.resolve() in taken:
            raise SourceError(
                f"every file must have a name of its own; {str(path)!r} is named twice"
            )
        taken.append(path.resolve())


def check_folder(path: Path) -> None:
    """Refuse a folder that does not exist and cannot be created."""
    from truepool.core.files import check_path

    if path == STDOUT:
        raise SourceError("several files are written; name a folder instead of -")
    if path.is_dir():
        check_path(path / "file")
    elif path.exists():
        raise SourceError(f"{str(path)!r} is a file; name a folder to write into")
    else:
        check_path(path)


def write_json(path: Path | None, value: Any) -> None:
    """Write JSON to a file or, for ``-``, to standard output."""
    from truepool.core.files import write_text

    if path is None:
        return
    text = json.dumps(value, indent=2, allow_nan=False)
    if path == STDOUT:
        print(text)
    else:
        write_text(path, text + "\n")


def write_cases(path: Path, columns: Mapping[str, Any]) -> None:
    """Write a table to a file or, for ``-``, as CSV to standard output."""
    from truepool.data.tables import write_csv, write_table

    if path == STDOUT:
        write_csv(sys.stdout.buffer, columns)
        sys.stdout.flush()
    else:
        write_table(path, columns)


def print_files(*paths: Path | None) -> None:
    """Print which files were written."""
    from truepool.cli.screen import print_line

    for path in paths:
        if path is not None and path != STDOUT:
            print_line(f"Wrote {path}.")
