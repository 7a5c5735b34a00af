"""Where data files are: the user's folder, else the cache, else the publisher."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import IO, TypeAlias
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from zipfile import BadZipFile, ZipFile

from truepool.core.errors import ChecksumError, SourceError
from truepool.core.files import cache_folder, temporary_folder
from truepool.datasets.files import CHUNK_SIZE, READ_ERRORS, File, names_of

VARIABLE = "TRUEPOOL_DATA"
Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name, the bytes so far and the bytes in total (0 if unknown)."""

ROOM = 1 << 20
"""Bytes that a download may have above the stated size of its file: an archive has a
list of its contents, and a file that was changed since is set aside as a whole."""

TIMEOUT = 30.0
"""Seconds without any data after which a download is given up."""


def folders() -> dict[str, Path]:
    """Return the folders to search, in this order."""
    named = os.environ.get(VARIABLE)
    cache = {"cache": cache_folder()}
    return {"folder": Path(named).expanduser(), **cache} if named else cache


def find_local(file: File) -> tuple[str, Path] | None:
    """Return the kind of folder and the path of a file that is on this machine."""
    for kind, folder in folders().items():
        for name in names_of(file):
            for path in (folder / name, folder / file.folder / name):
                if path.is_file():
                    return kind, path
    return None


def locate(file: File, progress: Progress | None = None) -> Path:
    """Return the path of a file; download it into the cache if needed."""
    found = find_local(file)
    if found is not None:
        return found[1]
    return fetch(file, cache_folder(), progress)


def fetch(file: File, folder: Path, progress: Progress | None = None) -> Path:
    """Download a file into a folder, verify its checksum and return its path.

    It has a temporary name until the checksum is verified. If that differs, the
    download is left beside it as ``NAME.mismatch``.
    """
    if file.address is None:
        raise SourceError(
            f"{file.name!r} is not published as a single file and cannot be "
            f"downloaded; put it into {str(folder)!r}, or set TRUEPOOL_DATA to a "
            "folder that has it"
        )
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            work = stack.enter_context(temporary_folder(folder, file.name))
        except OSError as error:
            raise SourceError(
                f"{file.name!r} cannot be downloaded into {str(folder)!r}: "
                f"{error.strerror}. Set TRUEPOOL_DATA to a folder that has the file."
            ) from None
        part = work / "part"
        with _progress_bar(file, progress) as report:
            _download(file, file.address, part, report)
        if file.zipped:
            part = _unzip(file, part)
        return _store(file, part, folder / file.name)


def _download(file: File, address: str, path: Path, progress: Progress) -> None:
    request = Request(address, headers={"User-Agent": "truepool"})
    try:
        with urlopen(request, timeout=TIMEOUT) as answer, path.open("wb") as out:
            stated = answer.headers.get("Content-Length") or ""
            total = int(stated) if stated.isdecimal() else 0
            limit = file.size + ROOM
            done = _copy(
                answer, out, limit, lambda done: progress(file.name, done, total)
            )
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # it holds the answer, and with it the connection
        raise SourceError(
            f"{file.name!r} is not on this machine and cannot be downloaded from "
            f"{address}: {_reason(error)}. Download it by other means and set "
            "TRUEPOOL_DATA to its folder."
        ) from None
    if done > limit:
        raise SourceError(
            f"{file.name!r} must have {file.size:,} bytes; {address} sends more, and "
            "was not downloaded further. Download it by other means and set "
            "TRUEPOOL_DATA to its folder."
        )
    if done < total:
        raise SourceError(
            f"{file.name!r} must be complete; got {done} of {total} bytes from "
            f"{address}. Try again."
        )


def _copy(
    source: IO[bytes],
    out: IO[bytes],
    limit: int,
    report: Callable[[int], None] = lambda done: None,
) -> int:
    """Copy at most one byte more than the limit, which tells that there is more."""
    done = 0
    while chunk := source.read(min(CHUNK_SIZE, limit + 1 - done)):
        out.write(chunk)
        done += len(chunk)
        report(done)
    return done


def _unzip(file: File, archive: Path) -> Path:
    """Take the one file of the right kind out of a zip archive."""
    kind = Path(file.name).suffix
    path = archive.with_name("member")
    try:
        with ZipFile(archive) as inside:
            names = [n for n in inside.namelist() if not n.startswith("__MACOSX")]
            fitting = [name for name in names if name.endswith(kind)]
            if len(fitting) != 1:
                raise SourceError(
                    f"the archive at {file.address} must contain one {kind} file; "
                    f"got {', '.join(names) or 'an empty archive'}"
                )
            with inside.open(fitting[0]) as member, path.open("wb") as out:
                done = _copy(member, out, file.size)
            if done > file.size:
                raise SourceError(
                    f"{file.name!r} must have {file.size:,} bytes; the archive from "
                    f"{file.address} holds more, and was not unpacked further"
                )
    except (BadZipFile, *READ_ERRORS) as error:
        raise SourceError(
            f"{file.name!r} must be in a complete zip archive; the one from "
            f"{file.address} is truncated or damaged: {_reason(error)}. Try again."
        ) from None
    return path


def _store(file: File, part: Path, path: Path) -> Path:
    with part.open("rb") as stream:
        total = sha256()
        while chunk := stream.read(CHUNK_SIZE):
            total.update(chunk)
    if total.hexdigest() == file.sha256:
        os.replace(part, path)
        return path
    aside = path.with_name(path.name + ".mismatch")
    os.replace(part, aside)
    raise ChecksumError(
        f"{file.name!r} must have the sha256 checksum {file.sha256}; the download "
        f"from {file.address} has {total.hexdigest()} and was saved as {str(aside)!r}"
    )


@contextmanager
def _progress_bar(file: File, progress: Progress | None) -> Iterator[Progress]:
    """Yield the caller's progress, or a bar on standard error if that is a terminal."""
    if progress is not None:
        yield progress
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TransferSpeedColumn,
    )

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("Downloading {task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(file.name, total=None)
        yield lambda name, done, total: bar.update(
            task, completed=done, total=total or None
        )


def _reason(error: BaseException) -> str:
    if isinstance(error, HTTPError):
        return f"the server answered {error.code} {error.reason}"
    cause = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return str(text).splitlines()[0].rstrip(".")
