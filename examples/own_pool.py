"""A pool of your own, compared with those that are there."""

from typing import ClassVar, final

import numpy as np

import truepool as tp
from truepool.pools import FixedPool


@final
class Cautious(FixedPool):
    """The largest report: nobody's alarm is ignored."""

    name: ClassVar[str] = "cautious"
    exemptions: ClassVar = {
        "label swap": "the largest report of an outcome is the smallest of its opposite"
    }

    def combine(self, values):
        """Return the largest report of each case, (T, N, C) to (T, C)."""
        return np.nanmax(values, axis=1)


panel = tp.datasets.example()
costs = tp.Costs(fn=10, fp=1)
result = tp.compare(panel, pools=[Cautious(), "mean", "vcg", "platt"], costs=costs)
for row in result.rows:
    print(f"{row.pool:10} cost per case {row.cost:.3f}, recall {row.recall:.1%}")
