"""Where things are kept between runs."""

from pathlib import Path

import pytest

from truepool.caches import cache_folder


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, "~/.cache/truepool"),
        ("linux", {"TRUEPOOL_CACHE": "~/kept"}, "~/kept"),
        ("win32", {"TRUEPOOL_CACHE": "/kept"}, "/kept"),
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/truepool"),
        ("darwin", {"XDG_CACHE_HOME": "/caches"}, "~/Library/Caches/truepool"),
        ("win32", {}, "~/AppData/Local/truepool"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/truepool"),
    ],
)
def test_the_cache_lies_where_the_platform_keeps_caches(platform, environ, folder):
    assert cache_folder(platform, environ) == Path(folder).expanduser()
