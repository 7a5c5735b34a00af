"""Where data files are: the user's folder, else the cache, else the publisher."""

import os
from pathlib import Path

from truepool.core.files import cache_folder
from truepool.datasets.download import Progress, fetch
from truepool.datasets.files import File, names_of

VARIABLE = "TRUEPOOL_DATA"


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
