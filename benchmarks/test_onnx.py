"""Agents as ONNX against the libraries they come from, at one row and at a thousand."""

import time

import numpy as np
import pytest

from truepool import agents

PAPER = list(agents.zoo.paper())
# Held where ONNX must win; the other figures are shown and no promise.
AT_LEAST = {("random-forest", 1): 10.0}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 41))
    return X, (X[:, :5].sum(axis=1) + rng.normal(size=5000) > 0).astype(int)


@pytest.fixture(scope="module")
def pairs(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("onnx")
    trained = agents.train(*rows, {name: small(name) for name in PAPER}, cache=False)
    found = {}
    for name in PAPER:
        agents.export(trained[name], folder / f"{name}.onnx", rows[0])
        found[name] = trained[name], agents.load(folder / f"{name}.onnx")
    return found


def small(name):
    """The paper's models; the network needs no 500 passes to be timed."""
    quick = {"max_iter": 500, "tol": 0.01} if name == "mlp" else {}
    return agents.zoo.make(name, **quick)


def least(ask, rounds):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        ask()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.parametrize("batch", [1, 1000])
@pytest.mark.parametrize("name", PAPER)
def test_onnx_against_native(name, batch, pairs, rows, record):
    native, onnx = pairs[name]
    X = rows[0][:batch]
    rounds = 50 if batch == 1 else 10
    ours, theirs = (
        least(lambda a=a: a.predict_proba(X), rounds) for a in (onnx, native)
    )
    what = (
        f"{name} at {batch}: native {theirs * 1e6:,.0f} us, ONNX {ours * 1e6:,.0f} us"
    )
    record(what, theirs / ours, at_least=AT_LEAST.get((name, batch), 0.01))
