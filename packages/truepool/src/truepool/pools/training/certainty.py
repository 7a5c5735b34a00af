"""How close to 0 and 1 a report may count on the log-odds scale.

One report of exactly 0 or 1 would outweigh all others there.
"""

import numpy as np

from truepool.core.arrays import SMALLEST, FloatArray, to_classes
from truepool.core.errors import SettingError
from truepool.panel.panel import Panel

LARGEST_CLIP = 0.02
RARE_SHARE = 0.1
"""Reports are clipped at 2 %, or at a tenth of the share of the rarest class."""


def choose_clip(
    clip: float | None, panel: Panel, case_weights: FloatArray | None = None
) -> float:
    """Return the clip that was given, or the default for the panel's outcomes.

    >>> panel = Panel([[0.0, 0.5], [1.0, 0.5]], [0, 1])
    >>> choose_clip(None, panel), choose_clip(1e-6, panel)
    (0.02, 1e-06)
    """
    if clip is None:
        rates = to_classes(panel.base_rate(case_weights)[None])[0]
        rarest = RARE_SHARE * np.min(rates[rates > 0])
        return float(max(SMALLEST, min(LARGEST_CLIP, rarest)))
    if not 0 < clip < 0.5:
        raise SettingError(
            f"clip must lie between 0 and 0.5; got {clip!r}. Leave it out for the "
            "default."
        )
    return float(clip)
