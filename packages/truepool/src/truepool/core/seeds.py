"""Seeds: whole numbers of any size; scikit-learn takes those below 2**32."""

import numpy as np

from truepool.core.errors import SettingError

LIMIT = 2**32
"""Seeds of scikit-learn lie below this."""


def check_seed(seed: int) -> None:
    """Refuse a seed that is not a whole number of at least 0."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise SettingError(f"a seed must be a whole number of at least 0; got {seed!r}")


def short_seed(seed: int) -> int:
    """Return a seed that scikit-learn takes: a small one as it is, else derived.

    >>> short_seed(7), 0 <= short_seed(2**70) < LIMIT
    (7, True)
    """
    check_seed(seed)
    if seed < LIMIT:
        return int(seed)
    return int(np.random.SeedSequence(int(seed)).generate_state(1)[0])
