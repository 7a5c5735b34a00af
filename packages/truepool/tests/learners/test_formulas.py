"""Each learner against a plain transcription of its published formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from plain_learners import (
    AGENTS,
    panel_of,
    plain,
    positive_share,
    uniform_contributions,
)

from truepool import replay
from truepool.core.errors import SettingError
from truepool.learners import make
from truepool.measures.losses import Loss
from truepool.online.decision import decide, feedback
from truepool.panel.panel import Panel

SEEDS = st.integers(0, 100)


def own(m, y):
    return (m - y) ** 2


def slopes(w, m, y):
    return 2 * (w @ m - y) * m


@given(SEEDS, st.sampled_from([0.05, 0.5, 3.0]))
def test_hedge(seed, rate):
    def step(w, memory, m, y):
        w = w * np.exp(-rate * own(m, y))
        return w / w.sum(), None

    panel = panel_of(seed)
    assert_allclose(
        replay("hedge", panel, rate=rate).weights, plain(panel, None, step), atol=1e-12
    )


@given(SEEDS, st.sampled_from([0.05, 0.5]))
def test_exponentiated_gradient(seed, rate):
    def step(w, memory, m, y):
        v = w * np.exp(-rate * slopes(w, m, y))
        return v / v.sum(), None

    panel = panel_of(seed)
    found = replay("gradient", panel, rate=rate).weights
    assert_allclose(found, plain(panel, None, step), atol=1e-12)


@given(SEEDS)
def test_the_adaptive_rate_falls_when_the_squared_slopes_double(seed):
    def step(w, memory, m, y):
        L, seen, budget = memory
        g = slopes(w, m, y)
        seen, L = seen + (2 * (w @ m - y)) ** 2, L + g
        while budget < seen:
            budget *= 2
        v = np.exp(-np.sqrt(8 * np.log(AGENTS) / budget) * (L - L.min()))
        return v / v.sum(), (L, seen, budget)

    panel = panel_of(seed)
    expected = plain(panel, (np.zeros(AGENTS), 0.0, 1.0), step)
    assert_allclose(replay("gradient", panel).weights, expected, atol=1e-9)


@given(SEEDS, st.sampled_from([0.05, 0.5]))
def test_wsu(seed, rate):
    def step(w, memory, m, y):
        losses = own(m, y)
        return w * (1 - rate * (losses - w @ losses)), None

    panel = panel_of(seed)
    assert_allclose(
        replay("wsu", panel, rate=rate).weights, plain(panel, None, step), atol=1e-12
    )


@given(SEEDS, st.sampled_from(["own", "slope"]))
def test_fixed_share(seed, signal):
    def step(w, memory, m, y):
        g = own(m, y) if signal == "own" else slopes(w, m, y)
        v = w * np.exp(-0.3 * g)
        return 0.95 * v / v.sum() + 0.05 / AGENTS, None

    panel = panel_of(seed)
    found = replay("fixed-share", panel, rate=0.3, share=0.05, signal=signal).weights
    assert_allclose(found, plain(panel, None, step), atol=1e-12)


@given(SEEDS, st.sampled_from(["own", "slope"]))
def test_boa(seed, signal):
    """Wintenberger (2017): sum over s of r(1 - eta_{s-1} r), weights times eta_t."""

    def rates(V):
        return np.minimum(0.5, np.sqrt(np.log(AGENTS) / (1 + V)))

    def step(w, memory, m, y):
        X, V = memory
        g = own(m, y) if signal == "own" else slopes(w, m, y)
        r = (w @ g - g) / (1 if signal == "own" else 2)
        X, V = X + r * (1 - rates(V) * r), V + r**2
        v = rates(V) * np.exp(rates(V) * X)
        return v / v.sum(), (X, V)

    panel = panel_of(seed)
    first = (np.zeros(AGENTS), np.zeros(AGENTS))
    found = replay("boa", panel, signal=signal).weights
    assert_allclose(found, plain(panel, first, step), atol=1e-11)


@given(SEEDS, st.sampled_from(["own", "slope"]))
def test_ml_poly(seed, signal):
    """Gaillard, Stoltz & van Erven (2014), figure 3: eta = 1 / (1 + sum of squares)."""

    def step(w, memory, m, y):
        R, V = memory
        g = own(m, y) if signal == "own" else slopes(w, m, y)
        r = (w @ g - g) / (1 if signal == "own" else 2)
        R, V = R + r, V + r**2
        v = np.maximum(R, 0) / (1 + V)
        return v / v.sum() if v.sum() > 0 else np.full(AGENTS, 1 / AGENTS), (R, V)

    panel = panel_of(seed)
    first = (np.zeros(AGENTS), np.zeros(AGENTS))
    found = replay("ml-poly", panel, signal=signal).weights
    assert_allclose(found, plain(panel, first, step), atol=1e-11)


@given(SEEDS, st.sampled_from(["own", "slope"]))
def test_adahedge(seed, signal):
    """De Rooij et al. (2014), figure 1."""

    def mix(eta, L):
        least = L.min()
        if eta == np.inf:
            w = (least == L) * 1.0
        else:
            w = np.exp(-eta * (L - least))
        total = w.sum()
        M = least if eta == np.inf else least - np.log(total / len(L)) / eta
        return w / total, M

    panel = panel_of(seed)
    found = replay("adahedge", panel, signal=signal).weights
    L, gap = np.zeros(AGENTS), 0.0
    for t, (m, y) in enumerate(zip(panel.reports, panel.outcomes, strict=True)):
        eta = np.log(AGENTS) / gap if gap else np.inf
        w, before = mix(eta, L)
        assert_allclose(found[t], w, atol=1e-9)
        g = own(m, y) if signal == "own" else slopes(w, m, y)
        L = L + g
        _, after = mix(eta, L)
        gap += max(0.0, w @ g - (after - before))


@given(SEEDS)
def test_static_learns_once(seed):
    panel = panel_of(seed)
    weights = replay("static", panel, warmup=20).weights
    first = [
        uniform_contributions(panel.reports[t], panel.outcomes[t]) for t in range(20)
    ]
    assert_allclose(weights[:20], 1 / AGENTS)
    assert_allclose(
        weights[20:],
        np.tile(positive_share(np.mean(first, axis=0)), (41, 1)),
        atol=1e-9,
    )
    assert_allclose(replay("static", panel, warmup=0).weights, 1 / AGENTS)


@pytest.mark.parametrize(
    ("name", "settings", "match"),
    [
        ("hedge", {"rate": 0.0}, "rate must be"),
        ("gradient", {"loss": Loss("cost")}, "convex"),
        ("wsu", {"rate": 0.7}, "at most 0.5"),
        ("fixed-share", {"share": 1.0}, "share must lie"),
        ("static", {"warmup": -1}, "must not be negative"),
        ("hedge", {"horizon": 0}, "horizon must be"),
    ],
)
def test_settings_outside_their_range_are_refused(name, settings, match):
    with pytest.raises(SettingError, match=match):
        make(name, **settings)


def test_a_rounding_error_earns_no_weight_in_ml_poly():
    # The mean of three losses of 2/3 differs from 2/3 in the last bit.
    reports = np.full((2, 5, 3), 1 / 3)
    reports[0, :2] = np.nan
    panel = Panel(reports, [0, 1])
    learner = make("ml-poly")
    state = learner.start(panel.agents, 3)
    case = decide(state, panel.values[0])
    state = learner.update(state, feedback(learner, state, case, 0))
    assert_allclose(state.weights, 0.2)
    assert_allclose(replay(learner, panel).weights, 0.2)
