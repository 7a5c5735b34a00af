"""The loop over time, written once: decide before the outcome, settle after it.

Replays and streams both go through `decide` and `settle`, so that production does what
the simulation did. Both are pure functions from one state to the next. A whole run is
one compiled call for a learner with a kernel (`truepool.core.kernels.online_compiled`),
else one ``learner.update`` per case.
"""

from truepool.online.decision import Decision, decide, feedback
from truepool.online.loop import settle
from truepool.online.recalibration import Recalibration
from truepool.online.replays import replay
from truepool.online.stream import Stream, load_stream
from truepool.online.trace import Trace

__all__ = [
    "Decision",
    "Recalibration",
    "Stream",
    "Trace",
    "decide",
    "feedback",
    "load_stream",
    "replay",
    "settle",
]
