import os

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from truepool import pools
from truepool.core import kernels
from truepool.core.engine.threads import POOLS, one_blas_thread, one_thread
from truepool.measures import newton


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


def test_linear_algebra_has_one_thread_inside_and_what_it_had_outside():
    def threads():
        return {
            lib["filepath"]: lib["num_threads"]
            for lib in threadpool_info()
            if lib["user_api"] == "blas"
        }

    before = threads()
    with one_blas_thread():
        assert set(threads().values()) == {1}
    assert threads() == before


@pytest.mark.parametrize("name", ["ridge", "shrunk"])
def test_a_pool_of_many_small_solutions_has_one_thread(name, monkeypatch):
    """With more threads than free cores, a fit of ten seconds took more than a minute."""
    seen = []
    newton_step = newton.newton_step

    def watch(*args):
        seen.extend(
            lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"
        )
        return newton_step(*args)

    monkeypatch.setattr(kernels, "find", None)
    monkeypatch.setattr(newton, "newton_step", watch)
    rng = np.random.default_rng(0)
    with threadpool_limits(2):
        pools.make(name).fit(rng.random((20, 2)), np.arange(20) % 2)
    assert set(seen) == {1}
