"""Alarms: which agent's reports or losses changed, and when.

One detector per file. Each has a retrospective form, a test with a p-value over a whole
table (used by `truepool.audit`), and a sequential form that sees one case at a time
(what `Monitor` runs on a stream).
"""

from truepool.online.alarms.alarm import Alarm
from truepool.online.alarms.monitor import Monitor, monitor_panel
from truepool.online.alarms.river_detectors import alarms

__all__ = ["Alarm", "Monitor", "alarms", "monitor_panel"]
