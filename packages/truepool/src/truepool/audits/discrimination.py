"""How well agents rank cases: the area under the curve, with its interval."""

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.comparison import Estimate
from truepool.core.arrays import IntArray, to_classes
from truepool.measures.groups import enough_cases
from truepool.measures.inference.bootstrap import standard_errors
from truepool.measures.scores import auc


def auc_interval(area: float, outcomes: IntArray, level: float) -> Estimate:
    """Area under the curve with the interval of Hanley & McNeil (1982), two classes."""
    ones, zeros = int((outcomes == 1).sum()), int((outcomes == 0).sum())
    if ones + zeros < len(outcomes) or not enough_cases(outcomes):
        return Estimate(area, float("nan"), float("nan"))
    above, below = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area)
    spread += (ones - 1) * (above - area**2) + (zeros - 1) * (below - area**2)
    reach = standard_errors(level) * float(np.sqrt(max(spread, 0.0) / (ones * zeros)))
    return Estimate(area, max(area - reach, 0.0), min(area + reach, 1.0))


def discrimination(
    evidence: Evidence, agent: int, level: float | None = None
) -> Estimate:
    """AUC of an agent's reports; with more than two classes without an interval."""
    panel = evidence.panel
    reports, counted = panel.values[:, agent], panel.case_weights()
    known = ~np.isnan(reports[:, 0])
    if not known.any():  # who never reported ranks nothing
        return Estimate(0.5, 0.5, 0.5)
    outcomes = panel.outcomes[known]
    area = auc(
        to_classes(reports[known]),
        outcomes,
        sample_weight=None if counted is None else counted[known],
    )
    each = panel.one_row_each(np.flatnonzero(known))
    return auc_interval(area, panel.outcomes[each], level or evidence.level)
