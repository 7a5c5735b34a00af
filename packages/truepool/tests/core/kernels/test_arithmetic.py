"""Our own exponential, logarithm and sums, which give the same bits everywhere."""

import math
import os
import platform
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import compiled_learners
import numpy as np
import pytest
from compiled_learners import check_a_fixed_number_of_agents, digests
from hypothesis import given
from hypothesis import strategies as st

from truepool import replay
from truepool.core.kernels import arithmetic, online
from truepool.learners import every
from truepool.online import loop
from truepool.panel.panel import Panel

ULP = 2.0**-52


@given(st.floats(-700, 700))
def test_the_exponential_is_right_to_two_last_bits(x):
    assert arithmetic.exp(x) == pytest.approx(math.exp(x), rel=2 * ULP, abs=0)


@given(st.floats(-arithmetic.SMALL, arithmetic.SMALL))
def test_the_small_exponential_is_right_to_two_last_bits(x):
    assert arithmetic.small_exp(x) == pytest.approx(math.exp(x), rel=2 * ULP, abs=0)


@given(st.floats(1e-300, 1e300))
def test_the_logarithm_is_right_to_two_last_bits(x):
    assert arithmetic.log(x) == pytest.approx(math.log(x), rel=2 * ULP, abs=0)


@given(st.floats(-arithmetic.SMALL, arithmetic.SMALL), st.floats(0.5, 2.0))
def test_the_logarithm_of_a_quotient_near_1_is_right_to_a_few_last_bits(x, under):
    over = under * math.exp(x)
    exact = math.log1p((over - under) / under)
    found = arithmetic.small_log(over, under)
    assert found == pytest.approx(exact, rel=4 * ULP, abs=1e-300)


def test_below_the_range_the_exponential_stays_positive():
    assert 0 < arithmetic.exp(-1e9) == arithmetic.exp(-700.0)


def in_order(values):
    """The order of summation that is promised, one addition at a time."""

    def pairwise(parts):
        while len(parts) > 1:
            parts = [a + b for a, b in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    whole = len(values) // 16 * 16
    rows = np.zeros(16)
    for start in range(0, whole, 16):
        rows = rows + values[start : start + 16]
    result = pairwise(list(rows[:8] + rows[8:])) if whole else 0.0
    fours = len(values) // 4 * 4
    for start in range(whole, fours, 4):
        result = result + pairwise(list(values[start : start + 4]))
    for value in values[fours:]:
        result = result + value
    return result


@cache
def compiled(name):
    from numba import njit

    function = {plain.__name__: fast for plain, fast in online.LANED.items()}[name]
    return njit(lambda *given: function(*given))


@pytest.mark.parametrize("size", [1, 2, 5, 8, 16, 19, 37, 64, 500, 1003])
def test_compiled_sums_are_made_in_the_promised_order(size):
    rng = np.random.default_rng(size)
    left, right = rng.normal(size=size), rng.normal(size=size)
    matrix = np.stack([right, left])

    def call(name, *arguments):
        return compiled(name)(*arguments)

    assert call("total", left) == in_order(left)
    exact = float(sum(map(Fraction, left)))
    assert arithmetic.total(left) == pytest.approx(exact, abs=size * ULP)
    assert call("dot", left, right) == in_order(left * right)
    assert call("dot_row", left, matrix, 0) == in_order(left * right)
    assert call("largest", left) == left.max() == arithmetic.largest(left)
    assert call("least", left) == left.min() == arithmetic.least(left)
    left[:-1:2] = np.nan  # who did not report
    assert call("largest", left) == np.nanmax(left) == arithmetic.largest(left)
    assert call("least", left) == np.nanmin(left) == arithmetic.least(left)


BITS = {
    "adahedge": "3d0f25b52c812af6",
    "boa": "c5674719dc24a8e3",
    "fixed-share": "e0f41d6ca3d7522d",
    "gradient": "4d83eb3857dd289f",
    "hedge": "b6110ecf0ec3d5ba",
    "ml-poly": "a0b0f5533c247885",
    "static": "5349d6d92d8a34fc",
    "wsu": "6a2a56660629e942",
}


@pytest.mark.no_cover
def test_the_bits_of_every_learner_are_those_of_every_other_machine():
    own = [
        name for name, one in every().items() if one.__module__.startswith("truepool.")
    ]
    assert own == [*BITS]
    assert dict(digests(BITS)) == BITS


@pytest.mark.parametrize("name", ["gradient", "hedge", "static"])
def test_a_loop_for_a_fixed_number_of_agents_gives_the_same_bits(name, monkeypatch):
    """One learner for each signal."""
    check_a_fixed_number_of_agents(name, monkeypatch)


def test_a_missing_report_is_no_case_for_a_fixed_number_of_agents(monkeypatch):
    rng = np.random.default_rng(0)
    reports = rng.random((50, 3))
    reports[7, 1] = np.nan
    panel = Panel(reports, rng.integers(0, 2, 50))
    expected = replay("hedge", panel)
    monkeypatch.setattr(loop, "MANY_CASES", 50)
    np.testing.assert_array_equal(replay("hedge", panel).pooled, expected.pooled)


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"),
    reason="the older processor is of another architecture",
)
def test_the_bits_do_not_depend_on_what_the_processor_can_do():
    """With the instructions of twenty years ago, compiled in a process of its own."""
    call = (
        "from compiled_learners import digests; "
        "print(*dict(digests(['gradient', 'boa'])).values())"
    )
    found = subprocess.run(
        [sys.executable, "-c", call],
        cwd=Path(compiled_learners.__file__).parent,
        env={**os.environ, "NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert found.split() == [BITS["gradient"], BITS["boa"]]
