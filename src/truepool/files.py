"""Files are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from truepool.errors import SourceError


def check_place(path: str | Path) -> Path:
    """Refuse a path that no file could be written to."""
    place = Path(path)
    if place.is_dir():
        raise SourceError(f"{str(place)!r} is a folder; name a file in it")
    if not place.parent.is_dir():
        raise SourceError(f"there is no folder {str(place.parent)!r} to write into")
    if not os.access(place.parent, os.W_OK):
        raise SourceError(f"the folder {str(place.parent)!r} cannot be written into")
    return place


@contextmanager
def whole(path: str | Path) -> Iterator[str]:
    """Lend a file of another name, which takes the place of the old one at the end.

    Whatever goes wrong before that leaves no trace.
    """
    place = check_place(path)
    try:
        handle, unfinished = tempfile.mkstemp(
            dir=place.parent, prefix=f".{place.name}.", suffix=place.suffix
        )
    except OSError as error:
        raise _refused(place, error) from None
    os.close(handle)
    try:
        yield unfinished
        os.chmod(unfinished, 0o666 & ~_umask())
        os.replace(unfinished, place)
    except OSError as error:
        os.unlink(unfinished)
        raise _refused(place, error) from None
    except BaseException:
        os.unlink(unfinished)
        raise


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write bytes, whole or not at all."""
    with whole(path) as unfinished:
        Path(unfinished).write_bytes(content)


def write_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    # What no alphabet knows (half of a pair) is written as a question mark.
    write_bytes(path, text.encode("utf-8", errors="replace"))


def _refused(place: Path, error: OSError) -> SourceError:
    return SourceError(f"{str(place)!r} cannot be written: {error.strerror or error}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
