"""Files: atomic writes, and the cache folder."""

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from platformdirs import user_cache_path

from truepool.core.errors import SourceError

VARIABLE = "TRUEPOOL_CACHE"

T = TypeVar("T")


def check_path(path: str | Path, suffix: str | None = None) -> Path:
    """Refuse a path that no file (of this kind) can be written to."""
    place = Path(path)
    if suffix is not None and place.suffix != suffix:
        raise SourceError(f"the file name must end in {suffix}; got {str(path)!r}")
    if place.is_dir():
        raise SourceError(f"{str(place)!r} is a folder; name a file in it")
    if not place.parent.is_dir():
        raise SourceError(f"there is no folder {str(place.parent)!r} to write into")
    if not os.access(place.parent, os.W_OK):
        raise SourceError(f"the folder {str(place.parent)!r} cannot be written into")
    return place


@contextmanager
def atomic_path(path: str | Path) -> Iterator[str]:
    """Yield the path of a temporary file, which replaces the old file at the end.

    After an error the old file is unchanged and the temporary file is gone.
    """
    place = check_path(path)
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


def _refused(place: Path, error: OSError) -> SourceError:
    return SourceError(f"{str(place)!r} cannot be written: {error.strerror or error}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
