"""Files: atomic writes, and the cache folder."""

import os
import shutil
import signal
import stat
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Generic, TypeVar

from platformdirs import user_cache_path

from truepool.core.errors import SourceError, closest

VARIABLE = "TRUEPOOL_CACHE"
SAVED = (".pool", ".stream")
"""Suffixes of what truepool saves."""
MOST_FILES = 10_000
"""Files of a folder that are looked at for one of a similar name."""

T = TypeVar("T")


def check_path(path: str | Path, suffix: str | None = None) -> Path:
    """Refuse a path that no file (of this kind) can be written to."""
    place = Path(path)
    if suffix is not None and place.suffix != suffix:
        raise SourceError(f"the file name must end in {suffix}; got {str(path)!r}")
    mode = _mode(place)
    if stat.S_ISDIR(mode):
        raise SourceError(f"{str(place)!r} is a folder; name a file in it")
    if mode and not (stat.S_ISREG(mode) or _is_stream(mode)):
        raise SourceError(f"{str(place)!r} is not a regular file; name another file")
    if mode and not os.access(place, os.W_OK):
        raise SourceError(f"{str(place)!r} is write-protected; name another file")
    folder = Path(os.path.realpath(place)).parent
    if _is_stream(mode):
        return place
    if not folder.is_dir():
        raise SourceError(
            f"there is no folder {str(folder)!r} to write into. Create it first."
        )
    if not os.access(folder, os.W_OK):
        raise SourceError(f"the folder {str(folder)!r} cannot be written into")
    return place


def missing_file(path: str | Path) -> str:
    """Say that there is no such file, and which one of its folder may be meant."""
    close = similar_file(path)
    hint = f" (did you mean {close!r}?)" if close else ""
    return f"there is no file {str(path)!r}{hint}"


def similar_file(path: str | Path) -> str | None:
    """Return the file of the same folder that may be meant; None where there is none.

    Names are compared without their suffix, which says little about them; one with
    the same suffix comes first, and no table is meant to be a saved pool.
    """
    place = Path(path)
    try:
        found = [
            Path(entry.name) for entry in islice(os.scandir(place.parent), MOST_FILES)
        ]
    except OSError:
        found = []
    stems: dict[str, str] = {}
    for other in sorted(found, key=lambda other: (other.suffix != place.suffix, other)):
        if other.suffix == place.suffix or other.suffix not in SAVED:
            stems.setdefault(other.stem, other.name)
    close = closest(place.stem, stems)
    return str(place.with_name(stems[close])) if close else None


@contextmanager
def atomic_path(path: str | Path) -> Iterator[str]:
    """Yield the path of a temporary file, which replaces the old file at the end.

    After an error the old file is unchanged and the temporary file is gone. Links are
    followed, and a file keeps its mode and owner. A pipe or a character device gets the
    content at the end. In a `together` block the end is that of the block.
    """
    place = check_path(path)
    stream = _is_stream(_mode(place))
    target = Path(os.path.realpath(place))
    with together() as replacements:
        try:
            handle, unfinished = tempfile.mkstemp(
                dir=None if stream else target.parent,
                prefix=f".{place.name[:20]}.",
                suffix=place.suffix[-20:],
            )
        except OSError as error:
            raise _refused(place, error) from None
        os.close(handle)
        replacements.append(_Replacement(place, target, unfinished, stream))
        try:
            yield unfinished
        except OSError as error:
            raise _refused(place, error) from None


@contextmanager
def together() -> Iterator[list["_Replacement"]]:
    """Let the files that are written in the block replace the old ones, all or none.

    After an error, such as a full disk, every old file is unchanged. Inside another
    such block this one has no effect.
    """
    outer = _REPLACEMENTS.get()
    if outer is not None:
        yield outer
        return
    replacements: list[_Replacement] = []
    token = _REPLACEMENTS.set(replacements)
    try:
        with exit_on_sigterm():
            try:
                yield replacements
                # What may still fail comes first: a device can be full.
                for each in sorted(replacements, key=lambda each: not each.stream):
                    each.finish()
            finally:
                for each in replacements:
                    Path(each.unfinished).unlink(missing_ok=True)
    finally:
        _REPLACEMENTS.reset(token)


@dataclass(frozen=True)
class _Replacement:
    """A temporary file and what it replaces."""

    place: Path
    target: Path
    unfinished: str
    stream: bool

    def finish(self) -> None:
        try:
            if self.stream:
                with open(self.unfinished, "rb") as new, open(self.place, "wb") as out:
                    shutil.copyfileobj(new, out)
            else:
                _keep_mode(self.target, self.unfinished)
                os.replace(self.unfinished, self.target)
        except OSError as error:
            raise _refused(self.place, error) from None


_REPLACEMENTS: ContextVar[list[_Replacement] | None] = ContextVar(
    "replacements", default=None
)


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block like an error, so that temporary files are removed.

    Without this it ends the process at once. A handler of somebody else is left alone.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def temporary_folder(parent: Path, name: str) -> Iterator[Path]:
    """Yield a folder inside another one; it is removed at the end, also by SIGTERM."""
    with (
        exit_on_sigterm(),
        tempfile.TemporaryDirectory(dir=parent, prefix=f".{name}.") as folder,
    ):
        yield Path(folder)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write bytes atomically."""
    with atomic_path(path) as unfinished:
        Path(unfinished).write_bytes(content)


def write_text(path: str | Path, text: str) -> None:
    """Write text as UTF-8, atomically."""
    # An unpaired surrogate has no UTF-8 form and becomes a question mark.
    write_bytes(path, text.encode("utf-8", errors="replace"))


def cache_folder() -> Path:
    """Return ``$TRUEPOOL_CACHE``, else the cache folder of the platform."""
    if folder := os.environ.get(VARIABLE):
        return Path(folder).expanduser()
    return user_cache_path("truepool", appauthor=False, opinion=False)


@dataclass(frozen=True)
class DiskCache(Generic[T]):
    """Values stored in a folder by name; a damaged entry counts as absent.

    Parameters
    ----------
    folder : Path
        Created when the first value is stored.
    read : function of a path
        Returns the value; raises ValueError where the entry is damaged.
    write : function of a value and a path
        Writes the value to a temporary file, which is renamed when it is complete.
    """

    folder: Path
    read: Callable[[Path], T]
    write: Callable[[T, str], None]

    def load(self, name: str) -> T | None:
        """Return the value; None if it is not there, or damaged."""
        try:
            return self.read(self.folder / name)
        except (OSError, ValueError):
            return None

    def store(self, name: str, value: T) -> None:
        """Store a value; if that fails, warn and go on."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with atomic_path(self.folder / name) as unfinished:
                self.write(value, unfinished)
        except (OSError, SourceError) as error:
            warnings.warn(
                f"nothing can be stored in {str(self.folder)!r}: {error}. Set the "
                f"environment variable {VARIABLE} to another folder.",
                stacklevel=2,
            )


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _mode(place: Path) -> int:
    """Kind and mode of what a path leads to; 0 where there is nothing yet."""
    try:
        return os.stat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except (OSError, ValueError) as error:
        raise _refused(place, error) from None


def _is_stream(mode: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _keep_mode(old: Path, new: str) -> None:
    """Give a new file the mode and owner of the old one, or the usual ones."""
    if not old.exists():
        os.chmod(new, 0o666 & ~_umask())
        return
    info = old.stat()
    with suppress(PermissionError):  # only root can give files away
        os.chown(new, info.st_uid, info.st_gid)
    os.chmod(new, stat.S_IMODE(info.st_mode))


def _refused(place: Path, error: OSError | ValueError) -> SourceError:
    number = error.errno if isinstance(error, OSError) else None
    reason = error if number is None else os.strerror(number)
    return SourceError(f"{str(place)!r} cannot be written: {reason}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
