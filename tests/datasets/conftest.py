import gzip

import pytest


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No folder of data, an empty cache, and no proxy before loopback."""
    monkeypatch.delenv("TRUEPOOL_DATA", raising=False)
    monkeypatch.setenv("TRUEPOOL_CACHE", str(tmp_path / "caches" / "truepool"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "caches" / "truepool"


@pytest.fixture
def given(nowhere, tmp_path, monkeypatch):
    """Put lines into the file of a data set, in a folder that TRUEPOOL_DATA names."""
    monkeypatch.setenv("TRUEPOOL_DATA", str(tmp_path))

    def put(dataset, *lines):
        path = tmp_path / f"{dataset.files[0].name}.gz"
        path.write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
        return path

    return put
