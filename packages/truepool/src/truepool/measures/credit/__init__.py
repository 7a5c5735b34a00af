r"""Credit: how much each agent improves the pool.

*Leave-one-out* credit of agent i is the mean over cases of
:math:`\ell(p_{-i}, y) - \ell(p, y)`: positive when the agent helps. It is the
contribution of Budescu & Chen (Management Science 2015) and the marginal contribution
of alg:vcg. *Shapley* credit averages the same difference over all orders in which the
agents could join; unlike leave-one-out it divides the whole improvement over the prior
between the agents. Identical agents have equal credit by both, and neither counts them
as one.
"""

from truepool.measures.credit.bootstrap import (
    CreditIntervals,
    contributions,
    intervals,
)
from truepool.measures.credit.removal import (
    SampledRemovals,
    credit_per_report,
    leave_one_out,
    sample_removals,
)
from truepool.measures.credit.shapley_values import (
    EXACT_LIMIT,
    ORDERS,
    SampledCredit,
    sample_shapley,
    shapley,
)

__all__ = [
    "EXACT_LIMIT",
    "ORDERS",
    "CreditIntervals",
    "SampledCredit",
    "SampledRemovals",
    "contributions",
    "credit_per_report",
    "intervals",
    "leave_one_out",
    "sample_removals",
    "sample_shapley",
    "shapley",
]
