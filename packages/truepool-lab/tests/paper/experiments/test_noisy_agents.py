"""Regret under the inferred reading: noisy agents, and the update of the proof."""

import numpy as np
import pytest

from truepool import replay
from truepool.core.engine import Cell
from truepool_lab.paper.experiments.noisy_agents import (
    DRIFT,
    EDGES,
    SDS,
    STEADY,
    NoisyAgents,
    noisy_panel,
)


def measured(T, kind, repeats=6):
    """Mean over some repeats, by column."""
    found = {}
    for repeat in range(repeats):
        cell = Cell("noisy-agents", (("T", T), ("kind", kind)), repeat)
        for row in NoisyAgents.measure(cell):
            found.setdefault((row["key"][0], row["column"]), []).append(row["value"])
    return {place: np.mean(values) for place, values in found.items()}


@pytest.mark.parametrize("kind", ["Sudden", "Gradual", "Recurring"])
def test_half_the_rate_is_best_for_noisy_agents(kind):
    found = measured(1000, kind)
    half, whole, double = (found[kind, r] for r in ("eta*/2", "eta*", "2eta*"))
    assert half < 1.1 * whole  # under recurring drift the two are alike
    assert double > 1.3 * half


def test_regret_has_the_printed_u_shape_in_the_rate():
    found = measured(1000, "None")
    slow, middle, fast = (found["R_T", f"eta={rate}"] for rate in (0.01, 0.1, 1.0))
    assert middle < 0.6 * min(slow, fast)


def test_noise_is_reversed_between_the_agents_along_the_drift():
    cell = Cell("noisy-agents", (), 0)
    panel = noisy_panel("sudden", 20_000, SDS[DRIFT], 0.5, cell)
    for half, order in ((slice(0, 10_000), 1), (slice(10_000, None), -1)):
        errors = panel.reports[half] - np.where(panel.outcomes[half] == 1, 0.7, 0.3)[:, None]  # fmt: skip
        spread = errors.std(axis=0)[::order]
        assert (np.diff(spread) > 0.02).all()
    assert panel.reports.min() >= EDGES[0]
    assert panel.reports.max() <= EDGES[1]


def test_weights_follow_the_update_of_the_proof():
    cell = Cell("noisy-agents", (), 1)
    panel = noisy_panel("none", 200, SDS[STEADY], 0.3, cell)
    trace = replay("hedge", panel, loss="brier", rate=0.1)
    losses = (panel.reports - panel.outcomes[:, None]) ** 2
    weights = np.exp(-0.1 * losses.sum(axis=0))
    assert np.allclose(trace.weights[-1], weights / weights.sum())
