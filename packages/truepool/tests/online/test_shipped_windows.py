"""The online mixture `auto` with the pools and the windows that users get."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from panels import random_panel

import truepool as tp
from truepool.online import experts


def streamed(panel):
    """Pooled probabilities of a stream that learns each outcome at once, and weights."""
    stream, pooled = tp.Stream("auto", panel.agents), []
    for reports, outcome in zip(panel.reports.tolist(), panel.outcomes, strict=True):
        case = dict(zip(panel.agents, reports, strict=True))
        pooled.append(stream.predict_proba_one(case)[1])
        stream.learn_one(case, int(outcome))
    return pooled, list(stream.weights.values())


def check_bits(cases):
    panel = random_panel(5, cases=cases, agents=3, silent=0.1)
    trace = tp.replay("auto", panel)
    assert trace.panel.agents[-2:] == ("pool:shrunk", "pool:auto")
    pooled, weights = streamed(panel)
    assert_array_equal(pooled, trace.pooled)
    assert weights == trace.state.weights.tolist()


def excesses(trace):
    """How much more than each expert the mixture lost, where the expert reported."""
    for i in range(len(trace.panel.agents)):
        values = trace.panel.values[:, i]
        there = ~np.isnan(values[:, 0])
        own = trace.learner.loss.evaluate(values[there], trace.panel.outcomes[there])
        yield (trace.losses[there] - own).sum()


def check_bound(seed, cases, loss):
    trace = tp.replay("auto", random_panel(seed, cases=cases, agents=3), loss=loss)
    assert trace.bound is not None
    assert max(excesses(trace)) <= trace.bound
    assert trace.regret[-1] <= trace.bound


def test_a_stream_and_a_replay_agree_to_the_last_bit_beyond_the_short_window():
    assert min(experts.WINDOWS.values()) == 250
    check_bits(300)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_against_the_best_expert_holds_whatever_the_draw(seed):
    check_bound(seed, 60, ("brier", "log")[seed % 2])


@pytest.mark.slow
def test_a_stream_and_a_replay_agree_to_the_last_bit_beyond_both_windows():
    assert max(experts.WINDOWS.values()) == 2_000
    check_bits(2_600)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_the_bound_holds_over_many_refits(seed):
    check_bound(seed, 800, ("brier", "log", "cost-brier")[seed % 3])
