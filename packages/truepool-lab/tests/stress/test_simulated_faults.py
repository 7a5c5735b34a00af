"""The library's tests simulate agents and faults of their own: they are the lab's."""

import numpy as np
import pytest
import simulated_faults
from numpy.testing import assert_array_equal
from panels import random_panel

from truepool_lab.stress.copycat import Copycat
from truepool_lab.stress.degradation import Degradation
from truepool_lab.stress.drift import quality_panel
from truepool_lab.stress.label_flip import LabelFlip
from truepool_lab.stress.sleeper import Sleeper
from truepool_lab.stress.temperature import Temperature

AGENTS = {"before": [1.2, 1.0, 0.8], "after": [1.2, -0.3, 2.0], "cases": 70}


@pytest.mark.parametrize("kind", ["none", "sudden", "recurring"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"base_rate": 0.2, "correlation": 0.3, "honest": True, "seed": 3}],
    ids=["default", "chosen"],
)
def test_the_agents_are_those_of_the_lab(kind, settings):
    ours = simulated_faults.quality_panel(kind, **AGENTS, **settings)
    labs = quality_panel(kind, **AGENTS, **settings)
    assert_array_equal(ours.reports, labs.reports)
    assert_array_equal(ours.outcomes, labs.outcomes)


def faults(panel):
    """Every fault with settings, as the library's tests make it and as the lab does."""
    yield (
        simulated_faults.temperature(panel, "agent1", T=0.4),
        Temperature(0.4)(panel, "agent1"),
    )
    yield (
        simulated_faults.degradation(panel, "agent1", at=0.7, noise=3.0, seed=2),
        Degradation(at=0.7, noise=3.0)(panel, "agent1", seed=2),
    )
    yield (
        simulated_faults.copycat(panel, "agent1", source="agent0"),
        Copycat(source="agent0")(panel, "agent1"),
    )
    yield (
        simulated_faults.copycat(panel, "agent1", source="agent0", noise=0.2),
        Copycat(source="agent0", noise=0.2)(panel, "agent1"),
    )
    if panel.classes == 2:
        yield (
            simulated_faults.label_flip(panel, "agent1"),
            LabelFlip()(panel, "agent1"),
        )
        yield (
            simulated_faults.sleeper(panel, "agent1", at=0.3),
            Sleeper(at=0.3)(panel, "agent1"),
        )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("silent", [0.0, 0.2])
def test_the_faults_are_those_of_the_lab(classes, silent):
    panel = random_panel(3, cases=70, classes=classes, silent=silent)
    # Where the source of a copy is silent, the lab's copycat keeps its own report.
    panel = panel.take(np.flatnonzero(~np.isnan(panel.values[:, 0, 0])))
    for ours, labs in faults(panel):
        assert_array_equal(ours.values, labs.values)
        assert ours.missing == labs.missing
