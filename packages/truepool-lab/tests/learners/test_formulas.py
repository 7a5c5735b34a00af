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

from truepool import Stream, replay
from truepool.core.errors import SettingError
from truepool.learners import make
from truepool.measures.losses import Loss

SEEDS = st.integers(0, 100)


@given(SEEDS, st.sampled_from(["brier", "log", "spherical"]))
def test_marginal_is_the_printed_algorithm(seed, loss):
    """alg:vcg, line by line, with eta = sqrt(ln n / T) and half of it."""
    price = Loss(loss)
    panel = panel_of(seed)
    for scale in (1.0, 0.5):
        eta = scale * np.sqrt(np.log(AGENTS) / len(panel))

        def step(w, memory, m, y, eta=eta):
            p = w @ m
            D = np.empty(AGENTS)
            for i in range(AGENTS):
                others = np.arange(AGENTS) != i
                q = w[others] @ m[others] / w[others].sum()
                D[i] = price([q], [y])[0] - price([p], [y])[0]
            v = w * np.exp(eta * D)
            return v / v.sum(), None

        found = replay("marginal", panel, loss=loss, scale=scale).weights
        assert_allclose(found, plain(panel, None, step), atol=1e-11)


@given(SEEDS)
def test_uniform_marginal_uses_contributions_to_the_uniform_pool(seed):
    def step(w, memory, m, y):
        base = (m.mean() - y) ** 2
        D = np.array([(np.delete(m, i).mean() - y) ** 2 - base for i in range(AGENTS)])
        v = w * np.exp(0.1 * (AGENTS - 1) * D)
        return 0.999 * v / v.sum() + 0.001 / AGENTS, None

    panel = panel_of(seed)
    found = replay("marginal", panel, rate=0.1, uniform=True).weights
    assert_allclose(found, plain(panel, None, step), atol=1e-12)


@given(SEEDS)
def test_window_is_static_vcg_on_the_last_cases(seed):
    def step(w, memory, m, y):
        memory = [*memory, uniform_contributions(m, y)][-7:]
        return positive_share(np.mean(memory, axis=0)), memory

    panel = panel_of(seed)
    assert_allclose(
        replay("window", panel, length=7).weights, plain(panel, [], step), atol=1e-9
    )


def test_a_newcomer_to_a_full_window_earns_weight_like_the_others():
    stream = Stream("window", ("ada", "bob"), length=5)
    for _ in range(8):
        stream.learn_one({"ada": 0.6, "bob": 0.5}, 1)
    stream.join("eve")
    stream.learn_one({"ada": 0.6, "bob": 0.5, "eve": 0.9}, 1)
    assert stream.weights["eve"] > 0.5
    assert_allclose(stream.state.memory.counts, [5, 5, 1])


@given(SEEDS)
def test_ema_is_an_exponential_moving_average(seed):
    def step(w, memory, m, y):
        memory = 0.8 * memory + 0.2 * uniform_contributions(m, y)
        return positive_share(memory), memory

    panel = panel_of(seed)
    expected = plain(panel, np.zeros(AGENTS), step)
    assert_allclose(replay("ema", panel, alpha=0.2).weights, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "settings", "match"),
    [
        ("marginal", {"scale": -1.0}, "rate must be"),
        ("window", {"length": 0}, "at least 1 case"),
        ("ema", {"alpha": 0.0}, "alpha must lie"),
    ],
)
def test_settings_outside_their_range_are_refused(name, settings, match):
    with pytest.raises(SettingError, match=match):
        make(name, **settings)
