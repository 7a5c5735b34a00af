"""Every compiled kernel equals its numpy reference, on whatever hypothesis finds."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from panels import panels

from truepool.core.arrays import read_only
from truepool.core.kernels import compiled, reference

CLOSE = {"rtol": 1e-12, "atol": 1e-12}
BINARY = panels()
ANY = st.one_of(panels(), panels(classes=3))


@st.composite
def weights_for(draw, panel):
    """Points of the simplex, its corners and edges included."""
    N = len(panel.agents)
    raw = draw(arrays(np.float64, N, elements=st.sampled_from([0.0, 0.0, 0.3, 1.0])))
    return raw / raw.sum() if raw.sum() else np.eye(N)[draw(st.integers(0, N - 1))]


@given(
    arrays(
        np.float64,
        st.integers(0, 40),
        elements=st.floats(-2, 3) | st.sampled_from([np.nan, np.inf, -np.inf, 0, 1]),
    )
)
def test_scan_counts_the_same_faults_and_missing_reports(flat):
    cube = read_only(flat[:, None, None])
    assert compiled.scan(cube) == reference.scan(cube)


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 8), st.integers(1, 4), st.just(1)),
        elements=st.sampled_from([0.5, np.nan]),
    )
)
def test_voices_are_the_same(values):
    fast = compiled.report_counts(read_only(values))
    slow = reference.report_counts(values)
    assert fast[0].tolist() == slow[0].tolist()
    assert fast[1:] == slow[1:]


@given(st.data(), st.sampled_from([np.float32, np.float64]))
def test_linear_pools_of_columns_are_those_of_rows(data, precision):
    panel = data.draw(BINARY)
    weights = data.draw(weights_for(panel))
    columns = [read_only(column) for column in panel.reports.T.astype(precision)]
    rows = np.stack(columns, axis=1, dtype=np.float64)[:, :, None]
    fast, outside, missing = compiled.linear_columns(columns, weights)
    assert_allclose(fast, reference.linear(rows, weights)[:, 0], **CLOSE)
    slow, *counts = reference.linear_columns(columns, weights)
    assert_allclose(fast, slow, **CLOSE)
    assert (outside, missing.tolist()) == (counts[0], counts[1].tolist())
    assert outside == 0
    assert missing.sum() == panel.silent
    beside = [np.append(column, precision(np.nan)) for column in columns]
    as_if, *_ = compiled.linear_columns(beside, weights)
    assert fast.tobytes() == as_if[:-1].tobytes()  # cases beside a case change no bit


@pytest.mark.parametrize("odd", [-0.25, 1.5, np.inf])
def test_columns_with_a_report_outside_are_counted(odd):
    columns = [np.array([0.5, odd, 0.25]), np.array([0.5, np.nan, 1.0])]
    for kernel in (compiled, reference):
        _, outside, missing = kernel.linear_columns(columns, np.array([0.5, 0.5]))
        assert (outside, missing.tolist()) == (1, [0, 1])


@given(st.data())
def test_linear_pools_are_the_same(data):
    panel = data.draw(ANY)
    weights = data.draw(weights_for(panel))
    fast = compiled.linear(panel.values, weights)
    assert_allclose(fast, reference.linear(panel.values, weights), **CLOSE)


@given(st.data())
def test_pools_of_the_others_are_the_same(data):
    panel = data.draw(ANY)
    weights = data.draw(weights_for(panel))
    prior = panel.base_rate()
    fast = compiled.without(panel.values, weights, prior)
    assert_allclose(fast, reference.without(panel.values, weights, prior), **CLOSE)


@given(st.data())
def test_squared_credit_is_the_same(data):
    panel = data.draw(BINARY)
    arguments = credit_arguments(data, panel)
    fast = compiled.squared_credit(*arguments[:4], 0.3, arguments[4])
    slow = reference.squared_credit(*arguments[:4], 0.3, arguments[4])
    assert_allclose(fast, slow, **CLOSE)


@given(st.data())
def test_threshold_credit_is_the_same(data):
    panel = data.draw(BINARY)
    arguments = credit_arguments(data, panel)
    threshold = data.draw(st.sampled_from([0.25, 0.5, 1 / 11, 0.4567891]))
    fast = compiled.threshold_credit(*arguments[:4], threshold, 0.3, arguments[4])
    slow = reference.threshold_credit(*arguments[:4], threshold, 0.3, arguments[4])
    assert_allclose(fast, slow, **CLOSE)


@given(st.integers(0, 500), st.integers(2, 7))
def test_a_pool_on_the_threshold_is_not_decided_by_its_last_bit(seed, agents):
    rng = np.random.default_rng(seed)
    reports = read_only(rng.integers(0, 11, (40, agents)) / 10)
    outcomes = rng.integers(0, 2, 40)
    weights, scale = np.full(agents, 1 / agents), np.array([1.0, 10.0])
    arguments = (reports, outcomes, weights, scale, 0.5, 0.3, np.empty(0))
    assert_allclose(
        compiled.threshold_credit(*arguments),
        reference.threshold_credit(*arguments),
        atol=1e-12,
    )


def credit_arguments(data, panel):
    counted = data.draw(st.booleans())
    cases = np.linspace(0.5, 2.0, len(panel)) if counted else np.empty(0)
    scale = np.array([1.0, 10.0])
    weights = data.draw(weights_for(panel))
    return panel.reports, panel.outcomes, weights, scale, cases


def test_the_pool_of_a_case_without_reports_is_nan():
    nobody = np.full((1, 2, 1), np.nan)
    weights = np.array([0.5, 0.5])
    assert np.isnan(reference.linear(nobody, weights)).all()
    assert np.isnan(compiled.linear(read_only(nobody), weights)).all()


@pytest.mark.parametrize(
    ("choice", "module"), [("reference", "reference"), ("", "compiled")]
)
def test_the_kernels_are_chosen_in_one_place(choice, module):
    code = "from truepool.core import kernels; print(kernels.chosen.__name__)"
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env={"TRUEPOOL_KERNELS": choice, "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == f"truepool.core.kernels.{module}"


@given(st.integers(0, 1000))
def test_trees_are_walked_the_same_way(seed):
    rng = np.random.default_rng(seed)
    features = np.where(rng.random((20, 3)) < 0.2, np.nan, rng.random((20, 3)))
    # Two trees of seven nodes: inner nodes 0 to 2, leaves 3 to 6.
    roots = np.array([0, 7])
    inner = np.tile([True] * 3 + [False] * 4, 2)
    children = np.tile([1, 3, 5, 0, 0, 0, 0], 2) + np.repeat(roots, 7)
    arrays = (
        roots, np.where(inner, rng.integers(0, 3, 14), -1), rng.random(14), children,
        children + 1, rng.integers(0, 2, 14), rng.normal(size=14),
    )  # fmt: skip
    for columns in (1, 2):
        fast = compiled.trees(features, columns, *arrays)
        assert_allclose(fast, reference.trees(features, columns, *arrays), **CLOSE)


@given(st.integers(0, 50))
def test_gram_matrices_of_sparse_rows_are_the_same(seed):
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((9, 6)) < 0.4, rng.normal(size=(9, 6)), 0.0)
    row, column = np.nonzero(table)
    starts = np.append(0, np.bincount(row, minlength=9).cumsum())
    weights = rng.random(9)
    expected = (table * weights[:, None]).T @ table
    for kernels in (reference, compiled):
        found = kernels.sparse_gram(starts, column, table[row, column], weights, 6)
        assert_allclose(found, expected, atol=1e-12)
