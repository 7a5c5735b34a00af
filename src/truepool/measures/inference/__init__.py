"""How much of a mean, or of a difference of means, is the luck of the cases."""

from truepool.measures.inference.bootstrap import (
    Resamples,
    accelerated,
    middle,
    resampled_means,
)
from truepool.measures.inference.hypothesis_tests import (
    bonferroni,
    diebold_mariano,
    holm,
    paired_p_values,
    signed_rank_p_value,
)

__all__ = [
    "Resamples",
    "accelerated",
    "bonferroni",
    "diebold_mariano",
    "holm",
    "middle",
    "paired_p_values",
    "resampled_means",
    "signed_rank_p_value",
]
