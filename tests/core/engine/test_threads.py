import os

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from truepool.core.engine.threads import POOLS, one_thread


def test_libraries_loaded_before_or_after_use_one_thread():
    np.ones((2, 2)) @ np.ones((2, 2))
    with one_thread():
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
        assert {os.environ[name] for name in POOLS} == {"1"}


def test_earlier_settings_are_restored(monkeypatch):
    monkeypatch.setenv(POOLS[0], "7")
    monkeypatch.delenv(POOLS[1], raising=False)
    with pytest.raises(RuntimeError), one_thread():
        raise RuntimeError
    assert os.environ[POOLS[0]] == "7"
    assert POOLS[1] not in os.environ
