"""Each hot loop twice: `reference` in plain numpy, `compiled` by numba; chosen here.

Set ``TRUEPOOL_KERNELS=reference`` to run without compiled code, for example to step
through it.
"""

import os
from importlib import import_module
from importlib.util import find_spec

plain = os.environ.get("TRUEPOOL_KERNELS") == "reference"
fast = find_spec("numba") is not None and not plain
chosen = import_module(f"truepool.core.kernels.{'compiled' if fast else 'reference'}")
online = import_module("truepool.core.kernels.online_compiled") if fast else None
"""The compiled loop over cases; without it `truepool.online` runs in plain numpy."""
find = None
"""The minimum of a log loss on few cases; without it `measures.newton` finds it."""
if fast:
    find = import_module("truepool.core.kernels.newton_compiled").find

growth = import_module("truepool.core.kernels.boosting_compiled") if fast else chosen
boost = growth.boost
scan = chosen.scan
linear = chosen.linear
linear_columns = chosen.linear_columns
without = chosen.without
squared_credit = chosen.squared_credit
threshold_credit = chosen.threshold_credit
trees = chosen.trees
report_counts = chosen.report_counts
sparse_gram = chosen.sparse_gram

__all__ = [
    "boost",
    "fast",
    "find",
    "linear",
    "linear_columns",
    "online",
    "report_counts",
    "scan",
    "sparse_gram",
    "squared_credit",
    "threshold_credit",
    "trees",
    "without",
]
