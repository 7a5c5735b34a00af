"""Each hot loop twice: `reference` in plain numpy, `compiled` by numba; chosen here.

Set ``TRUEPOOL_KERNELS=reference`` to run without compiled code, for example to step
through it.
"""

import os
from importlib.util import find_spec
from typing import Any

from truepool.kernels import reference

if find_spec("numba") and os.environ.get("TRUEPOOL_KERNELS") != "reference":
    from truepool.kernels import compiled

    chosen: Any = compiled
else:
    chosen = reference

scan = chosen.scan
linear = chosen.linear
without = chosen.without
squared_credit = chosen.squared_credit
threshold_credit = chosen.threshold_credit

__all__ = ["linear", "scan", "squared_credit", "threshold_credit", "without"]
