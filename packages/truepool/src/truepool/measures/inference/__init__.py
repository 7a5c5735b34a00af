"""Intervals of means, and tests of differences of means."""

from truepool.measures.inference.bootstrap import (
    Resamples,
    bca_interval,
    bootstrap_means,
    independent_units,
    percentile_interval,
)
from truepool.measures.inference.hypothesis_tests import (
    bonferroni,
    diebold_mariano,
    holm,
    paired_p_values,
    signed_rank_p_value,
)
from truepool.measures.inference.rates import (
    Rate,
    estimate_class_rate,
    estimate_rate,
)
from truepool.measures.inference.unseen_cases import (
    unseen_differences,
    unseen_errors,
    with_unseen,
)
from truepool.measures.inference.wilson import share_interval

__all__ = [
    "Rate",
    "Resamples",
    "bca_interval",
    "bonferroni",
    "bootstrap_means",
    "diebold_mariano",
    "estimate_class_rate",
    "estimate_rate",
    "holm",
    "independent_units",
    "paired_p_values",
    "percentile_interval",
    "share_interval",
    "signed_rank_p_value",
    "unseen_differences",
    "unseen_errors",
    "with_unseen",
]
