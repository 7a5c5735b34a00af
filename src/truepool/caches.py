"""Where things are kept between runs."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "TRUEPOOL_CACHE"


def cache_folder(
    platform: str = sys.platform, environ: Mapping[str, str] = os.environ
) -> Path:
    """``$TRUEPOOL_CACHE``, else the folder this platform has for such things.

    >>> cache_folder("linux", {"XDG_CACHE_HOME": "/var/caches"}).as_posix()
    '/var/caches/truepool'
    """
    if told := environ.get(VARIABLE):
        return Path(told).expanduser()
    home = Path.home()
    if platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData/Local") / "truepool"
    if platform == "darwin":
        return home / "Library/Caches/truepool"
    return Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "truepool"
