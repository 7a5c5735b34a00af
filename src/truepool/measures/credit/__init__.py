r"""Who helped, and how much worse the pool would have been without.

*Leave-one-out* credit of agent i is the mean over cases of
:math:`\ell(p_{-i}, y) - \ell(p, y)`: positive when the agent helps. It is the
contribution of Budescu & Chen (Management Science 2015) and the marginal contribution
of alg:vcg. *Shapley* credit averages the same difference over all orders in which the
agents could have joined; unlike leave-one-out it shares out the whole improvement over
the prior, also between agents that say the same.
"""

# Two modules have the name of the function they hold. Python sets the name of a module
# on its package when it first loads it, which is here: the function comes after it and
# stays, whatever is imported later.

from truepool.measures.credit.bootstrap import (
    Intervals,
    contributions,
    intervals,
    when_speaking,
)
from truepool.measures.credit.leave_one_out import leave_one_out
from truepool.measures.credit.shapley import (
    EXACT_LIMIT,
    ORDERS,
    Sampled,
    sample_shapley,
    shapley,
)

__all__ = [
    "EXACT_LIMIT",
    "ORDERS",
    "Intervals",
    "Sampled",
    "contributions",
    "intervals",
    "leave_one_out",
    "sample_shapley",
    "shapley",
    "when_speaking",
]
