"""Settings of the paper for every experiment, unless it gives others."""

from truepool import Costs

THRESHOLD = 0.5
"""Threshold of decisions (tab:hyperparams), whatever the costs."""
COSTS = Costs(fn=10.0, fp=1.0)
TEST_SHARE = 0.3
VALIDATION_SHARE = 0.2
"""Share of the training rows that weights are learned from."""
SILO_SHARE = 0.6
"""Share of the features that an agent sees (sec:experiments)."""
SKILLS = (2.0, 1.5, 1.5, 1.0, 0.5)
"""Skills of the five synthetic agents: the default of `truepool.datasets.synthetic`."""

UNCLIPPED = 1e-12
"""How close to 0 and 1 reports count: the paper clips none."""
