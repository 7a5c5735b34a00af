"""Figures as files that a command is asked for (``--plot``).

Each function returns a matplotlib ``Figure`` with a transparent background. Pages,
notebooks and the dashboard have charts of their own (`truepool.pages.chart`).
"""

from truepool.pages.figures.files import check_path, save
from truepool.pages.figures.replays import replay, replay_path

__all__ = ["check_path", "replay", "replay_path", "save"]
