"""Who the best agent is."""

import numpy as np

from truepool.audits.checks.copies import COPY
from truepool.audits.evidence import Evidence
from truepool.measures.groups import FEWEST_CASES


def best_agent(evidence: Evidence) -> str:
    """Agent with the lowest Brier loss, of those with enough reports if any.

    Between it and its copies with no fewer reports, the one that costs least alone.
    """
    counts = evidence.panel.report_counts
    enough = counts >= FEWEST_CASES
    judged = enough if enough.any() else np.ones_like(enough)
    best = int(np.argmin(np.where(judged, evidence.comparable_brier, np.inf)))
    equal = (evidence.correlation[best] >= COPY) & (counts >= counts[best])
    equal[best] = True
    costs = np.where(equal, evidence.own_cost, np.inf)
    return evidence.panel.agents[int(np.argmin(costs))]
