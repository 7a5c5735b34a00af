"""Published files: their names, their sums, and how their content is read."""

import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO

from truepool.core.errors import ChecksumError, SourceError

COMPRESSED_SUFFIXES = ("", ".gz", ".xz")
"""How a file may be packed, by what is added to its name."""

READ_ERRORS = (EOFError, lzma.LZMAError, zlib.error, OSError)
"""What reading a packed file raises when it is cut short or damaged."""

CHUNK_SIZE = 1 << 20


@dataclass(frozen=True)
class File:
    """One file as its publisher gives it out.

    Parameters
    ----------
    name : str
        What it is called here, unpacked; ``.gz`` or ``.xz`` may be added to it.
    sha256 : str
        Sum of its content, unpacked.
    size : int
        Bytes of its content, unpacked.
    address : str, optional
        Where it can be fetched from.
    zipped : bool
        Whether a zip archive lies at that address, with the file in it.
    """

    name: str
    sha256: str
    size: int
    address: str | None = None
    zipped: bool = False


def names_of(file: File) -> tuple[str, ...]:
    """Every name the file may have in a folder.

    >>> names_of(File("heart.data", "", 0))
    ('heart.data', 'heart.data.gz', 'heart.data.xz')
    """
    return tuple(file.name + suffix for suffix in COMPRESSED_SUFFIXES)


@contextmanager
def open_content(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile | lzma.LZMAFile]:
    """Open a file for reading its content, packed or not; say so if it is damaged."""
    try:
        with _open(path) as stream:
            yield stream
    except READ_ERRORS as error:
        raise SourceError(
            f"{str(path)!r} must be a whole file; it is cut short or damaged: "
            f"{_reason(error)}. Fetch it again."
        ) from None


def content(path: Path) -> bytes:
    """Return all of a file, unpacked."""
    with open_content(path) as stream:
        return stream.read()


def content_sum(path: Path) -> str:
    """Sum (sha256) of the content of a file, unpacked."""
    total = sha256()
    with open_content(path) as stream:
        while chunk := stream.read(CHUNK_SIZE):
            total.update(chunk)
    return total.hexdigest()


def check_sum(file: File, path: Path) -> None:
    """Refuse a file whose content is not the published one."""
    found = content_sum(path)
    if found != file.sha256:
        raise ChecksumError(
            f"the content of {str(path)!r} must have the sha256 sum {file.sha256}; it "
            f"has {found}. Fetch it again."
        )


def _open(path: Path) -> IO[bytes] | gzip.GzipFile | lzma.LZMAFile:
    match path.suffix:
        case ".gz":
            return gzip.open(path)
        case ".xz":
            return lzma.open(path)
        case _:
            return path.open("rb")


def _reason(error: BaseException) -> str:
    cause = error.strerror if isinstance(error, OSError) and error.strerror else error
    text = str(cause) or type(error).__name__
    return text.splitlines()[0].rstrip(".")
