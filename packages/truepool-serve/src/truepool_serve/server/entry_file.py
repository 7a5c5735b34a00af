"""The entries of a pool as a file of JSON lines, which can be checked by itself."""

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from truepool.core.errors import LedgerError
from truepool_serve.server.records import Entry

SUFFIX = ".jsonl"


def format_entries(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield one line for each entry."""
    for entry in entries:
        row = vars(entry) | {
            "fitted": {
                mark: base64.b64encode(file).decode()
                for mark, file in entry.fitted.items()
            },
            "body": None if entry.body is None else entry.body.decode(),
            "digest": entry.digest.hex(),
            "chain": entry.chain.hex(),
        }
        yield json.dumps(row) + "\n"


def read_entries(path: str | Path) -> Iterator[Entry]:
    """Yield the entries of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                yield _entry(path, number, line)
    except OSError as error:
        reason = error.strerror or error
        raise LedgerError(f"{str(path)!r} cannot be opened: {reason}") from None
    except (UnicodeDecodeError, ValueError) as error:
        if isinstance(error, LedgerError):
            raise
        raise LedgerError(f"{str(path)!r} must hold JSON lines; it does not") from None


def _entry(path: str | Path, number: int, line: str) -> Entry:
    try:
        row: dict[str, Any] = json.loads(line)
        n, kind, case, at = (row[name] for name in ("n", "kind", "case", "at"))
        body, hashes = row["body"], (row["digest"], row["chain"])
        digest, chain = (bytes.fromhex(text) for text in hashes)
        encoded = None if body is None else body.encode()
        files = {
            mark: base64.b64decode(text) for mark, text in row.get("fitted", {}).items()
        }
        sound = isinstance(n, int) and isinstance(at, float) and isinstance(kind, str)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        sound = False
    if not sound:
        raise LedgerError(
            f"every line must be a record, as `truepool ledger export` writes; line "
            f"{number} of {str(path)!r} is not"
        )
    return Entry(n, kind, case, at, encoded, digest, chain, files)
