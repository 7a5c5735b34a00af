"""Published files: their names, their checksums, and how their content is read."""

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
"""Suffixes of a file that is not compressed, or by gzip or xz."""

READ_ERRORS = (EOFError, lzma.LZMAError, zlib.error, OSError)
"""What reading a compressed file raises if it is truncated or damaged."""

CHUNK_SIZE = 1 << 20


@dataclass(frozen=True)
class File:
    """One file as its publisher distributes it.

    Parameters
    ----------
    name : str
        Name of the uncompressed file; ``.gz`` or ``.xz`` may be added to it.
    sha256 : str
        Checksum of its uncompressed content.
    size : int
        Bytes of its uncompressed content.
    address : str, optional
        Where it can be downloaded from.
    zipped : bool
        Whether the download is a zip archive with the file in it.
    folder : str
        Folder within the user's folder that may have it too.
    """

    name: str
    sha256: str
    size: int
    address: str | None = None
    zipped: bool = False
    folder: str = "."


def names_of(file: File) -> tuple[str, ...]:
    """Return every name that the file may have in a folder.

    >>> names_of(File("heart.data", "", 0))
    ('heart.data', 'heart.data.gz', 'heart.data.xz')
    """
    return tuple(file.name + suffix for suffix in COMPRESSED_SUFFIXES)


@contextmanager
def open_content(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile | lzma.LZMAFile]:
    """Open a file, compressed or not, for reading; refuse it if it is damaged."""
    try:
        with _open(path) as stream:
            yield stream
    except READ_ERRORS as error:
        raise SourceError(
            f"{str(path)!r} must be a complete file; it is truncated or damaged: "
            f"{_reason(error)}. Download it again."
        ) from None


def content(path: Path) -> bytes:
    """Return the uncompressed content of a file."""
    with open_content(path) as stream:
        return stream.read()


def checksum(path: Path) -> str:
    """Return the sha256 checksum of the uncompressed content of a file."""
    total = sha256()
    with open_content(path) as stream:
        while chunk := stream.read(CHUNK_SIZE):
            total.update(chunk)
    return total.hexdigest()


def verify_checksum(file: File, path: Path) -> None:
    """Refuse a file whose content is not the published one."""
    found = checksum(path)
    if found != file.sha256:
        raise ChecksumError(
            f"{str(path)!r} must have the sha256 checksum {file.sha256}; "
            f"got {found}. Download it again."
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
