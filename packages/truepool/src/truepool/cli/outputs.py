"""Files that a verb writes: checked before anything is computed, written at the end."""

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truepool.core.errors import SourceError
from truepool.core.formatting import printable

if TYPE_CHECKING:
    from truepool.panel.labels import Labels

STDOUT = Path("-")
LONGEST_WORD = 200
"""Longer words in a sentence on standard error, such as a name, lose their middle."""
MANIFEST = ".truepool.json"
"""In a folder whose file names truepool chose: the hash of each file as written."""


def check_files(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Refuse files that cannot be written, or that are named twice."""
    from truepool.core.files import check_path

    # Path.resolve refuses a link to itself, which the reader says in a sentence.
    taken = [os.path.realpath(path) for path in inputs if path is not None]
    for path in outputs:
        if path is None:
            continue
        if path != STDOUT:
            check_path(path)
        if os.path.realpath(path) in taken:
            raise SourceError(
                "a command must not write to a file that it reads, nor to one file "
                f"twice; got {str(path)!r} twice. Name another file to write"
            )
        taken.append(os.path.realpath(path))


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


def check_own_files(folder: Path, names: Iterable[str], *, force: bool) -> None:
    """Refuse to replace a file that truepool did not write, or that was changed since.

    The user named the folder, not the files in it.
    """
    from truepool.core.files import check_path

    written = _manifest(folder)
    for name in names:
        path = folder / name
        check_path(path)
        if not force and path.exists() and _hash(path) != written.get(name):
            raise SourceError(
                f"a file that truepool did not write is not replaced; {str(path)!r} "
                "is one, or was changed since. Name another folder, or replace it "
                "with --force."
            )


def record_own_files(folder: Path, names: Iterable[str]) -> None:
    """Note the files just written, so that the next run may replace them."""
    from truepool.core.files import write_text

    hashes = _manifest(folder) | {name: _hash(folder / name) for name in names}
    write_text(folder / MANIFEST, json.dumps(hashes, indent=2) + "\n")


def _manifest(folder: Path) -> dict[str, str]:
    try:
        read = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def write_json(path: Path | None, value: Any) -> None:
    """Write JSON to a file or, for ``-``, to standard output."""
    from truepool.core.files import write_text

    if path is None:
        return
    text = json.dumps(_defined(value), indent=2, allow_nan=False)
    if path == STDOUT:
        print(text)
    else:
        write_text(path, text + "\n")


def _defined(value: Any) -> Any:
    """Return the value with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _defined(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_defined(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def write_cases(
    path: Path, columns: Mapping[str, Any], *, spreadsheet_safe: bool = False
) -> None:
    """Write a table to a file or, for ``-``, as CSV to standard output."""
    from truepool.tables import write_csv, write_table

    if path == STDOUT:
        write_csv(sys.stdout.buffer, columns, spreadsheet_safe=spreadsheet_safe)
        sys.stdout.flush()
    else:
        write_table(path, columns, spreadsheet_safe=spreadsheet_safe)


def print_note(sentence: str) -> None:
    """Print a sentence on one line of standard error, without endless words."""
    line = " ".join(printable(sentence).splitlines())
    print(re.sub(rf"\S{{{LONGEST_WORD},}}", _shorten, line), file=sys.stderr)


def _shorten(word: re.Match[str]) -> str:
    part = LONGEST_WORD // 2
    return f"{word[0][:part]}...{word[0][-part:]}"


def print_files(*paths: Path | None) -> None:
    """Print which files were written."""
    from truepool.cli.screen import print_line

    for path in paths:
        if path is not None and path != STDOUT:
            print_line(f"Wrote {path}.")


def write_summary(
    summary: dict[str, Any],
    json_file: Path | None,
    known: "Labels | None" = None,
    outcomes: Any = None,
) -> None:
    """Write what was done, with the labels and the number of cases with each."""
    named = {}
    if known is not None:
        named = {"outcome_labels": known.to_dict(_counts(known, outcomes))}
    write_json(json_file, summary | named)


def print_summary(
    text: str,
    json_file: Path | None,
    known: "Labels | None" = None,
    outcomes: Any = None,
) -> None:
    """Print what was done, after the labels and the number of cases with each."""
    from truepool.cli.screen import print_line
    from truepool.pages.labels import sentence

    if json_file == STDOUT:
        return
    if known is not None:
        print_line(sentence(known, _counts(known, outcomes)))
    print_line(text)
    print_files(json_file)


def _counts(known: "Labels", outcomes: Any) -> list[int]:
    """Return the number of cases with each label, empty where that is not known."""
    import numpy as np

    if outcomes is None:
        return []
    return list(np.bincount(outcomes, minlength=len(known.names)).tolist())
