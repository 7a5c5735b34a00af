"""Panels for the tests: drawn by hypothesis, or from a seed."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from truepool.panel.panel import Panel

PROBABILITIES = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0.0, 1.0, width=32)
)


@st.composite
def panels(draw, classes=2, agents=(2, 5), cases=(2, 12), silence=True):
    """Any sound panel: ties, certainties and silences included.

    The number of agents is one of those given, not one between them: up to eight agents,
    a learner's loop is compiled for each number.
    """
    T, N = draw(st.integers(*cases)), draw(st.sampled_from(agents))
    if classes == 2:
        reports = draw(arrays(np.float64, (T, N), elements=PROBABILITIES))
    else:
        raw = draw(
            arrays(np.float64, (T, N, classes), elements=st.floats(0.0, 1.0, width=32))
        )
        raw = raw + 1e-3
        reports = raw / raw.sum(axis=2, keepdims=True)
    if silence:
        mute = draw(arrays(np.bool_, (T, N)))
        mute[np.arange(T), draw(st.integers(0, N - 1))] = False
        mute[draw(st.integers(0, T - 1))] = False
        reports = np.where(mute if classes == 2 else mute[:, :, None], np.nan, reports)
    outcomes = draw(arrays(np.int64, T, elements=st.integers(0, classes - 1)))
    outcomes[0], outcomes[-1] = 0, 1
    return Panel(reports, outcomes)


def random_panel(seed=0, cases=80, agents=4, classes=2, silent=0.0, skill=2.0):
    """Agents of falling skill who see the outcome through noise."""
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, classes, cases)
    outcomes[:classes] = np.arange(classes)
    strength = skill * np.linspace(1.0, 0.0, agents)
    if classes == 2:
        signal = (2 * outcomes - 1)[:, None] * strength
        reports = 1 / (1 + np.exp(-(signal + rng.normal(size=(cases, agents)))))
    else:
        evidence = np.eye(classes)[outcomes][:, None, :] * strength[None, :, None]
        scores = np.exp(evidence + rng.normal(size=(cases, agents, classes)))
        reports = scores / scores.sum(axis=2, keepdims=True)
    mute = rng.random((cases, agents)) < silent
    mute[:, 0] &= ~mute.all(axis=1)
    mute[:2] = False
    reports[mute] = np.nan
    return Panel(reports, outcomes)


def rounded_panel(classes=2, cases=1500):
    """Reports of two decimals, divided by their sums as a table's are."""
    panel = random_panel(5, cases=cases, classes=classes, silent=0.1)
    rounded = panel.reports.round(2)
    if classes > 2:
        rounded /= rounded.sum(axis=2, keepdims=True)
    return Panel(rounded, panel.outcomes)


def stationary(cases, seed=0):
    """READINGS 3: five agents, a mixture of two of them is best, nothing changes."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 1, cases)
    outcomes = (rng.random(cases) < truth).astype(int)
    shared = rng.normal(size=cases) * 0.15
    noise = rng.normal(size=(cases, 5)) * [0.2, 0.2, 0.3, 0.3, 0.4]
    noise[:, 0] += shared
    noise[:, 1] -= shared
    return Panel(np.clip(truth[:, None] + noise, 0, 1), outcomes)
