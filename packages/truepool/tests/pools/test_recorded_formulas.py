"""What is recorded for ONNX is what numpy computes, also of missing reports."""

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.testing import assert_allclose
from scipy.special import betainc, expit

from truepool.core.arrays import from_log_scale, log_scale, normalize
from truepool.core.errors import ExportError
from truepool.panel.weights import pool_by_case
from truepool.pools.onnx.export import serialize
from truepool.pools.onnx.graph import FUNCTIONS, Graph, dense, tensor_of_reports

WEIGHTS = np.array([0.5, 0.2, 0.0, 0.3])
TABLE = np.arange(12.0).reshape(4, 3)

FORMULAS = [
    lambda x: np.add(x, 1.0),
    lambda x: np.subtract(1.0, x),
    lambda x: 2 * x,
    lambda x: np.divide(x, x.sum(axis=2, keepdims=True)),
    lambda x: np.matmul(np.nan_to_num(x), TABLE.T),
    lambda x: np.power(x, 1.5),
    lambda x: np.negative(x),
    lambda x: np.absolute(x - 0.5),
    lambda x: np.exp(x),
    lambda x: np.expm1(x),
    lambda x: np.log(x),
    lambda x: np.log1p(-x),
    lambda x: np.sqrt(x),
    lambda x: np.tanh(x),
    lambda x: np.square(x),
    lambda x: np.reciprocal(x),
    lambda x: np.floor(10 * x),
    lambda x: np.floor_divide((x > 0.2).sum(axis=1) - 1, 2),
    lambda x: expit(x),
    lambda x: betainc(np.array([2.0, 0.5, 1.0]), np.array([1.5, 3.0, 1.0]), x),
    lambda x: np.isnan(x) * 1.0,
    lambda x: np.isinf(1.0 / np.floor(x + 0.5)) * 1.0,
    lambda x: np.equal(x, x.max(axis=2, keepdims=True)) * 1.0,
    lambda x: np.not_equal(np.floor(2 * x), 1.0) * 1.0,
    lambda x: np.greater(x, 0.5) + 0.0,
    lambda x: np.greater_equal(x, 0.25) + 0.0,
    lambda x: np.less(x, 0.5) + 0.0,
    lambda x: np.less_equal(x, 0.25) + 0.0,
    lambda x: np.where((x > 0.2) & ~(x > 0.6) | np.isnan(x), x, -1.0),
    lambda x: np.logical_and(x > 0.2, x < 0.6) * 1,
    lambda x: np.logical_or(x < 0.2, np.logical_not(x < 0.6)) * 1,
    lambda x: np.where(x > 0.5, x > 0.7, x < 0.2) * 1.0,
    lambda x: np.maximum(0.3, x),
    lambda x: np.maximum(x, x[:, ::-1]),
    lambda x: np.minimum(x, x[:, ::-1]),
    lambda x: np.minimum((x > 0.2).sum(axis=1), 2),
    lambda x: np.clip(x, 0.2, 0.6),
    lambda x: np.nan_to_num(x, nan=0.5),
    lambda x: np.sum(x, axis=1),
    lambda x: x.mean(axis=-1, keepdims=True),
    lambda x: np.mean(x, axis=1),
    lambda x: np.max(x, axis=2),
    lambda x: x.min(axis=2),
    lambda x: np.min(x, axis=1),
    lambda x: np.any(x > 0.5, axis=1) * 1.0,
    lambda x: (x > 0.1).any(axis=(1, 2)) * 1.0,
    lambda x: np.all(x > 0.1, axis=1) * 1.0,
    lambda x: (x > 0.1).all(axis=2) * 1.0,
    lambda x: np.argmax(np.nan_to_num(x), axis=2),
    lambda x: np.floor(2 * np.nan_to_num(x)).argmax(axis=1),
    lambda x: np.nansum(x, axis=1),
    lambda x: np.nanmean(x, axis=1),
    lambda x: np.nanmax(x, axis=1),
    lambda x: np.nanmin(x, axis=1),
    lambda x: np.cumsum(np.nan_to_num(x), axis=1),
    lambda x: np.sort(x, axis=1),
    lambda x: np.sort(np.where(x > 0.5, np.inf, x), axis=2),
    lambda x: np.concatenate([x, 1 - x, np.zeros_like(x[:, :1])], axis=1),
    lambda x: np.hstack([x, np.ones_like(x)]),
    lambda x: np.stack([x, 1 - x], axis=-1),
    lambda x: np.expand_dims(x, (1, 3)) - x[:, None, :, None],
    lambda x: np.reshape(x, (-1, 6)) @ np.ones(6),
    lambda x: np.transpose(x, (0, 2, 1)),
    lambda x: x.transpose(0, 2, 1) @ x.swapaxes(1, 2).swapaxes(2, 1),
    lambda x: np.swapaxes(x, 2, 1),
    lambda x: np.take(x, [2, 0], axis=1),
    lambda x: np.take_along_axis(x, np.argmax(x > 0.3, axis=1)[:, None], axis=1),
    lambda x: x[..., 1:] - x[:, :, :1] + x[:, [3, 0, 1, 2], -1, None],
    lambda x: np.full_like(x, 0.5) + 0.0 * np.nan_to_num(x),
    lambda x: np.einsum("n,tnk->tk", WEIGHTS, np.nan_to_num(x)),
    lambda x: np.interp(x, np.array([0.1, 0.4, 0.8]), np.array([0.0, 0.1, 1.0])),
    lambda x: np.interp(x, np.array([0.4]), np.array([0.1])),
    lambda x: np.divide(x, x > 0.5, out=np.zeros_like(x), where=x > 0.5),
    lambda x: from_log_scale(np.nanmean(log_scale(x), axis=1)),
    lambda x: normalize(np.nan_to_num(np.floor(2 * x)).max(axis=1)),
    lambda x: pool_by_case(x, WEIGHTS),
    lambda x: dense(np.nan_to_num(x), [(TABLE, np.ones(4)), (-TABLE.T, np.ones(3))]),
]


@pytest.fixture(scope="module")
def reports():
    rng = np.random.default_rng(0)
    given = rng.dirichlet([1.0, 1.0, 1.0], (40, 4))
    given[rng.random((40, 4)) < 0.3] = np.nan
    given[0], given[1, :, 0] = np.nan, 0.5
    return given


def record(formula):
    given = tensor_of_reports(Graph(), "x", (4, 3))
    return given, formula(given)


@pytest.mark.filterwarnings("ignore:.*(slice|encountered)")
@pytest.mark.parametrize("n", range(len(FORMULAS)))
def test_a_graph_computes_what_numpy_does(n, reports):
    content = serialize(*record(FORMULAS[n]), {})
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    (found,) = onnxruntime.InferenceSession(content).run(None, {"x": reports})
    assert_allclose(found, FORMULAS[n](reports), rtol=1e-12, atol=1e-13)


def test_what_is_computed_twice_is_one_node():
    given, _ = record(lambda x: np.exp(2.0 * x) - np.exp(2.0 * x) * np.array([2.0]))
    assert [node[0] for node in given.graph.nodes] == ["Mul", "Exp", "Mul", "Sub"]
    assert len(given.graph.constants) == 2


def test_every_function_that_is_recorded_is_tried(monkeypatch):
    tried = set()
    for function, recorded in list(FUNCTIONS.items()):

        def listed(*given, function=function, recorded=recorded, **options):
            tried.add(function)
            return recorded(*given, **options)

        monkeypatch.setitem(FUNCTIONS, function, listed)
    for formula in FORMULAS:
        record(formula)
    assert {f.__name__ for f in FUNCTIONS} - {f.__name__ for f in tried} == set()


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        (lambda x: x[x > 0.5], "choose among the cases"),
        (lambda x: x[0], "choose among the cases"),
        (lambda x: x.sum(), "case by case"),
        (lambda x: x - x.mean(axis=0), "case by case"),
        (lambda x: [row for row in x], "loop over"),
        (lambda x: len(x), "how many cases"),
        (lambda x: float(x.max(axis=1)), "."),
        (lambda x: np.asarray(x), "make arrays"),
        (lambda x: np.add.reduce(x), "without options"),
        (lambda x: np.median(x, axis=1), "numpy.median cannot be recorded"),
    ],
)
def test_what_a_graph_cannot_say_is_refused(formula, reason):
    with pytest.raises((ExportError, TypeError), match=reason):
        record(formula)
