"""Where data files lie: the folder a user names, else the cache, else the publisher."""

import os
from pathlib import Path

from truepool.core.files import cache_folder
from truepool.datasets.download import Progress, fetch
from truepool.datasets.files import File, names_of

VARIABLE = "TRUEPOOL_DATA"


def folders() -> dict[str, Path]:
    """Folders that are looked into, first to last."""
    named = os.environ.get(VARIABLE)
    cache = {"cache": cache_folder()}
    return {"folder": Path(named).expanduser(), **cache} if named else cache


def find_local(file: File) -> tuple[str, Path] | None:
    """Return where a file is already, as the kind of folder and the path."""
    for kind, folder in folders().items():
        for name in names_of(file):
            if (folder / name).is_file():
                return kind, folder / name
    return None


def locate(file: File, progress: Progress | None = None) -> Path:
    """Path of a file; it is fetched into the cache if it is nowhere yet."""
    there = find_local(file)
    if there is not None:
        return there[1]
    return fetch(file, cache_folder(), progress)
