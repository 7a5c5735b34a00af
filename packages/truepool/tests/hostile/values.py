"""Panels of extreme values, and what every method owes on them.

Each function that checks something returns what it did, for the counts of `make fuzz`; a
refusal must be one sentence of truepool's, and numbers must be finite.
"""

import json
import warnings
from collections.abc import Callable
from inspect import isfunction, signature
from typing import Any

import numpy as np

import truepool as tp
from truepool import learners, pools
from truepool.core.errors import TruepoolError
from truepool.measures import credit
from truepool.online import replay
from truepool.pages.audit import html

LEVELS = (0.0, 1.0, 5e-324, 1e-300, 1e-16, 0.5, 1 - 2**-53, 0.3, 0.7)
SLOW = {
    "attention", "auto", "boosted", "deep-sets", "mlp-2", "mlp-4", "simplest",
    "stacked-mlp",
}  # fmt: skip
"""Pools that take a second or more to fit."""
COSTS = (
    None,
    tp.Costs(fn=1e100, fp=1e-100),
    tp.Costs(fn=1e-100, fp=1e100),
    tp.Costs(fn=1e6, fp=1),
    tp.Costs(fn=5, fp=1, tp=-3, tn=-1e-9),
)
LOSSES = ("brier", "log", "spherical", "cost", "cost-brier")


def extreme_panel(rng: np.random.Generator, classes: int | None = None) -> tp.Panel:
    """Draw a panel of certain, tied, absent or tiny reports."""
    K = classes or int(rng.choice([2, 2, 2, 3, 5]))
    T, N = int(rng.choice([4, 6, 17, 40])), int(rng.choice([2, 3, 3, 7]))
    T = max(T, K + 1)
    outcomes = rng.integers(0, K, T)
    outcomes[:K] = np.arange(K)
    shape = (T, N) if K == 2 else (T, N, K)
    kind = rng.integers(6)
    if kind == 0:  # certain
        reports = np.full((T, N), rng.choice(LEVELS))
    elif kind == 1:  # one level per agent
        reports = np.broadcast_to(rng.choice(LEVELS, N), (T, N))
    elif kind == 2:  # perfect, or the opposite
        reports = np.tile((outcomes == 1)[:, None], (1, N)) ^ (rng.random(N) < 0.3)
    elif kind == 3:  # copies
        reports = np.tile(rng.random((T, 1)), (1, N))
    else:
        reports = rng.choice(LEVELS, (T, N))
    values = np.asarray(reports, float)
    if kind == 5:
        values = rng.random((T, N))
    if K > 2:
        raw = np.tile(((1 - values) / (K - 1))[..., None], (1, 1, K))
        raw[..., 1] = values
        values = raw
    absent = rng.random((T, N)) < rng.choice([0.0, 0.0, 0.4, 0.9])
    absent[np.arange(T), rng.integers(0, N, T)] = False
    absent[:, 0] |= rng.random() < 0.2  # an agent that never reports
    absent[absent.all(axis=1), 1] = False
    values = np.where(absent.reshape(shape[:2] + (1,) * (K > 2)), np.nan, values)
    times = None if rng.random() < 0.7 else np.sort(rng.integers(0, 5, T))
    return tp.Panel(values, outcomes, times=times)


def extreme_weights(rng: np.random.Generator, cases: int) -> Any:
    """Draw case weights: none, or as large and small as they may be."""
    if rng.random() < 0.6:
        return None
    return rng.choice([1e-15, 1.0, 1e15], cases)


def check_pool(name: str, rng: np.random.Generator) -> str:
    """Fit a pool: its probabilities lie on the simplex and are saved and explained."""
    panel = extreme_panel(rng)
    cases = extreme_weights(rng, len(panel))
    costs = COSTS[rng.integers(len(COSTS))]

    def work() -> None:
        known = {"costs": costs} if costs is not None else {}
        pool = pools.make(name, **known).fit_panel(panel, cases)
        result = pool.pool(panel.values)
        probabilities = result.probabilities
        assert probabilities.shape == (len(panel), panel.classes)
        assert ((probabilities >= 0) & (probabilities <= 1)).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-9)
        assert ((result.decisions >= 0) & (result.decisions < panel.classes)).all()
        weights = pool.explain().weights
        if weights is not None:
            assert np.isfinite(list(weights.values())).all()

    return _attempt(work)


def check_learner(name: str, rng: np.random.Generator) -> str:
    """Replay a learner: its weights lie on the simplex and its losses are numbers."""
    panel = extreme_panel(rng)
    loss = LOSSES[rng.integers(len(LOSSES))]
    costs = COSTS[rng.integers(len(COSTS))] if "cost" in loss else None
    delay = int(rng.choice([0, 0, 1, 1000]))

    def work() -> None:
        trace = replay(name, panel, loss=loss, costs=costs, delay=delay)
        assert trace.weights is not None
        assert (trace.weights >= 0).all()
        np.testing.assert_allclose(trace.weights.sum(axis=1), 1, atol=1e-9)
        assert np.isfinite(trace.losses[~np.isnan(trace.losses)]).all()
        assert trace.regret is None or np.isfinite(trace.regret).all()

    return _attempt(work)


def check_credit(name: str, rng: np.random.Generator) -> str:
    """Credit of every agent, with its interval or error, is a number."""
    panel = extreme_panel(rng)
    loss = LOSSES[rng.integers(len(LOSSES))]
    settings = {
        "loss": loss,
        "costs": COSTS[rng.integers(len(COSTS))] if "cost" in loss else None,
        "sample_weight": extreme_weights(rng, len(panel)),
        "resamples": 20,
    }
    method = CREDITS[name]
    if name == "sample_removals":
        settings["removals"] = int(rng.integers(1, 4))
    known = signature(method).parameters.keys() & settings

    def work() -> None:
        found = method(panel, **{key: settings[key] for key in known})
        parts = [found] if isinstance(found, np.ndarray) else vars(found).values()
        arrays = [part for part in parts if isinstance(part, np.ndarray)]
        assert arrays
        assert all(np.isfinite(array).all() for array in arrays)

    return _attempt(work)


def check_audit(rng: np.random.Generator) -> str:
    """Audit a panel with every check; its values are JSON and its pages are written."""
    panel = extreme_panel(rng)
    costs = COSTS[rng.integers(len(COSTS))]

    def work() -> None:
        audit = tp.audit(panel, costs=costs, resamples=50)
        assert "<html" in html(audit)
        assert audit.to_markdown()
        json.dumps(audit.to_dict(), allow_nan=False)

    return _attempt(work)


CREDITS: dict[str, Callable[..., Any]] = {
    name: method
    for name, method in vars(credit).items()
    if isfunction(method) and {"panel", "loss"} <= signature(method).parameters.keys()
}
LEARNERS = tuple(learners.every())
POOLS = tuple(pools.every())


def _attempt(work: Callable[[], None]) -> str:
    """Do something: "done", or "refused" in one sentence; a warning is a fault."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            work()
        except TruepoolError as error:
            if "\n" in str(error):
                raise AssertionError(f"not one sentence: {error}") from error
            return "refused"
    return "done"
