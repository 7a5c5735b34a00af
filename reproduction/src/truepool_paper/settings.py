"""What the paper fixes for every experiment unless it says otherwise."""

from truepool import Costs

THRESHOLD = 0.5
"""Above which 1 is decided (tab:hyperparams), whatever the costs."""
COSTS = Costs(fn=10.0, fp=1.0)
TEST_SHARE = 0.3
VALIDATION_SHARE = 0.2
"""Of what is left for training."""
SILO_SHARE = 0.6
"""Of the features an agent sees (sec:experiments)."""
SKILLS = (2.0, 1.5, 1.5, 1.0, 0.5)
"""Of the five synthetic agents, as `truepool.datasets.synthetic` has them."""
