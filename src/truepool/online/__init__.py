"""The loop over time, written once: decide before the outcome, settle after it.

Replay, streams, and later games and the service all go through `decide` and `settle`,
so what was simulated is what is served. Both are pure: a state goes in, another comes
out. The arithmetic of a whole run is one compiled call for a learner with a kernel
(`truepool.core.kernels.online_compiled`), else one ``learner.update`` per case.
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
