"""Where data files lie: the folder a user names, else the cache, else the publisher."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from truepool.datasets.fetching import Progress, fetched
from truepool.datasets.files import File, names_of

VARIABLE = "TRUEPOOL_DATA"


def cache_folder(
    platform: str = sys.platform, environ: Mapping[str, str] = os.environ
) -> Path:
    """Folder for fetched files, where this platform keeps such things.

    >>> cache_folder("linux", {"XDG_CACHE_HOME": "/var/caches"}).as_posix()
    '/var/caches/truepool'
    """
    home = Path.home()
    if platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData/Local") / "truepool"
    if platform == "darwin":
        return home / "Library/Caches/truepool"
    return Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "truepool"


def folders() -> dict[str, Path]:
    """Folders that are looked into, first to last."""
    named = os.environ.get(VARIABLE)
    cache = {"cache": cache_folder()}
    return {"folder": Path(named).expanduser(), **cache} if named else cache


def found(file: File) -> tuple[str, Path] | None:
    """Return where a file is already, as the kind of folder and the path."""
    for kind, folder in folders().items():
        for name in names_of(file):
            if (folder / name).is_file():
                return kind, folder / name
    return None


def located(file: File, progress: Progress | None = None) -> Path:
    """Path of a file; it is fetched into the cache if it is nowhere yet."""
    there = found(file)
    if there is not None:
        return there[1]
    return fetched(file, cache_folder(), progress)
