"""What the threshold costs."""

import numpy as np

from truepool.audit.values import Audit, Curve
from truepool.render import figures
from truepool.render.numbers import amount, number
from truepool.render.page.frame import Section
from truepool.render.page.pictures import pictured, row_of


def section(audit: Audit, curve: Curve) -> Section:
    """Return what deciding costs: at every threshold, and for other costs."""
    fn, fp = audit.costs["fn"], audit.costs["fp"]
    asked = fp / (fp + fn)
    used = asked if audit.threshold is None else audit.threshold
    least = float(curve.thresholds[int(np.nanargmin(curve.cost))])
    drawn = [
        pictured(
            figures.threshold(curve, used, asked),
            "threshold",
            f"Cost a case against the threshold: least at {number(least)}; in use is "
            f"{number(used)}; the costs ask for {number(asked)}.",
            f"What the threshold costs. A missed case costs {amount(fn)}, a false "
            f"alarm {amount(fp)}.",
        ),
        pictured(
            figures.decision(curve, fn / fp),
            "decision",
            "Cost of pool, best agent, always 1 and always 0 over a range of costs, "
            "each ratio decided at its own threshold.",
            "If the costs were others: where the pool lies below always 1 and always "
            "0, it is worth having.",
        ),
    ]
    return Section("costs", "Costs", "What does the threshold cost?", row_of(drawn))
