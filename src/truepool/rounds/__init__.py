"""The loop over time, written once: decide before the outcome, settle after it.

Replay, streams, and later games and the service all go through `decide` and `settle`,
so what was simulated is what is served. Both are pure: a state goes in, another comes
out. The arithmetic of a whole run is one compiled call where numba is there
(`truepool.kernels.online_compiled`), else one ``learner.update`` a case.
"""

from truepool.rounds.deciding import Decision, decide, hear
from truepool.rounds.recalibrating import Recalibration
from truepool.rounds.replaying import replay
from truepool.rounds.running import settle
from truepool.rounds.streaming import Stream
from truepool.rounds.tracing import Trace

__all__ = [
    "Decision",
    "Recalibration",
    "Stream",
    "Trace",
    "decide",
    "hear",
    "replay",
    "settle",
]
