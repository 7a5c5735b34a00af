"""truepool: pool probability reports from many agents into one decision you can trust.

>>> import truepool as tp
>>> panel = tp.datasets.example()
>>> pool = tp.VCG(costs=tp.Costs(fn=10, fp=1)).fit(panel.reports, panel.outcomes)
>>> pool.predict(panel.reports[:3])
array([1, 1, 1])

Names are imported when they are first used, so that ``import truepool`` costs little
more than ``import numpy``.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truepool import (
        agents,
        credit,
        datasets,
        diversity,
        games,
        learners,
        losses,
        pools,
        scores,
        stress,
        weights,
    )
    from truepool.audit import Audit, audit
    from truepool.comparison import Comparison, compare
    from truepool.costs import Costs
    from truepool.decisions import decide
    from truepool.errors import TruepoolError
    from truepool.features import Features
    from truepool.panel import Panel
    from truepool.pooled_classifier import PooledClassifier
    from truepool.pools.auto import Auto
    from truepool.pools.mean import Mean
    from truepool.pools.vcg import VCG
    from truepool.rounds import Stream, Trace, replay
    from truepool.tables import Reports, read_panel, read_reports

_ROOMS = (
    "audit",  # a room that can be called
    "credit",
    "datasets",
    "diversity",
    "agents",
    "games",
    "learners",
    "losses",
    "pools",
    "scores",
    "stress",
    "weights",
)
_NAMES = {
    "Audit": "audit",
    "Comparison": "comparison",
    "Costs": "costs",
    "Features": "features",
    "Panel": "panel",
    "PooledClassifier": "pooled_classifier",
    "Reports": "tables",
    "Stream": "rounds",
    "Trace": "rounds",
    "TruepoolError": "errors",
    "compare": "comparison",
    "decide": "decisions",
    "read_panel": "tables",
    "read_reports": "tables",
    "replay": "rounds",
}

__all__ = [
    "VCG",
    "Audit",
    "Auto",
    "Comparison",
    "Costs",
    "Features",
    "Mean",
    "Panel",
    "PooledClassifier",
    "Reports",
    "Stream",
    "Trace",
    "TruepoolError",
    "agents",
    "audit",
    "compare",
    "credit",
    "datasets",
    "decide",
    "diversity",
    "games",
    "learners",
    "losses",
    "pools",
    "read_panel",
    "read_reports",
    "replay",
    "scores",
    "stress",
    "weights",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"truepool.{name}")
    if name in _NAMES:
        return getattr(import_module(f"truepool.{_NAMES[name]}"), name)
    if name == "__version__":
        return version("truepool")
    if name[0].isupper():  # a pool: the folder knows them all
        every = import_module("truepool.pools").every()
        for pool in every.values():
            if pool.__name__ == name:
                return pool
    raise AttributeError(f"module 'truepool' has no attribute {name!r}")


def __dir__() -> list[str]:
    pools = import_module("truepool.pools").every()
    return sorted({*__all__, *(pool.__name__ for pool in pools.values())})
