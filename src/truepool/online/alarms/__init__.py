"""Alarms: whose reports or losses changed, and when.

One detector per file. Each has a retrospective form, a test with a p-value over a whole
table (what `truepool.audit` asks), and a sequential form that sees one case at a time
(what `Monitor` runs on a stream).
"""

from truepool.online.alarms.alarm import Alarm
from truepool.online.alarms.monitor import Monitor, watch
from truepool.online.alarms.river_detectors import alarms

__all__ = ["Alarm", "Monitor", "alarms", "watch"]
