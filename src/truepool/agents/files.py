"""Files of agents and reports: where they may go, and whole or not at all."""

import os
import tempfile
from pathlib import Path

from truepool.errors import SourceError


def check_path(path: str | Path, suffix: str) -> Path:
    """Refuse a path that no agent could be written to."""
    path = Path(path)
    if path.suffix != suffix:
        raise SourceError(f"such an agent is written as {suffix}; {str(path)!r} came")
    if not path.parent.is_dir():
        raise SourceError(f"there is no folder {str(path.parent)!r} to write into")
    return path


def write(path: Path, content: bytes) -> None:
    """Write a file the user asked for, or say why it cannot be."""
    try:
        write_whole(path, content)
    except OSError as error:
        raise SourceError(
            f"{str(path)!r} cannot be written: {error.strerror}"
        ) from None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees a part of it."""
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(unfinished, 0o644)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
