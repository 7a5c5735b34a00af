"""truepool: pool probability reports from many agents into one decision you can trust.

>>> import truepool as tp
>>> panel = tp.datasets.example()
>>> pool = tp.VCG(costs=tp.Costs(fn=10, fp=1)).fit(panel.reports, panel.outcomes)
>>> pool.predict(panel.reports[:3])
array([1, 1, 1])

Names are imported when they are first used, so that ``import truepool`` costs little
more than ``import numpy``.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing typing takes as long as Python takes to start
if TYPE_CHECKING:
    from typing import Any

    from truepool import agents, datasets, learners, pools
    from truepool.agents.features import Features
    from truepool.audits import Audit, audit
    from truepool.comparison import Comparison, compare
    from truepool.core.errors import TruepoolError
    from truepool.measures import credit, diversity, losses, scores
    from truepool.measures.decisions import decide
    from truepool.online import Stream, Trace, load_stream, replay
    from truepool.panel import weights
    from truepool.panel.costs import Costs
    from truepool.panel.panel import Panel
    from truepool.pooled_classifier import PooledClassifier
    from truepool.pools import load_pool
    from truepool.pools.auto import Auto
    from truepool.pools.mean import Mean
    from truepool.pools.vcg import VCG
    from truepool.scoring import score
    from truepool.tables import ReportTable, TableFaults, read_panel, read_reports

_MODULES = {
    "agents": "agents",
    "credit": "measures.credit",
    "datasets": "datasets",
    "diversity": "measures.diversity",
    "learners": "learners",
    "losses": "measures.losses",
    "pools": "pools",
    "scores": "measures.scores",
    "weights": "panel.weights",
}
_NAMES = {
    "Audit": "audits",
    "Comparison": "comparison",
    "Costs": "panel.costs",
    "Features": "agents.features",
    "Panel": "panel.panel",
    "PooledClassifier": "pooled_classifier",
    "ReportTable": "tables",
    "Stream": "online",
    "TableFaults": "tables",
    "Trace": "online",
    "TruepoolError": "core.errors",
    "audit": "audits",
    "compare": "comparison",
    "decide": "measures.decisions",
    "load_pool": "pools",
    "load_stream": "online",
    "read_panel": "tables",
    "read_reports": "tables",
    "replay": "online",
    "score": "scoring",
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
    "ReportTable",
    "Stream",
    "TableFaults",
    "Trace",
    "TruepoolError",
    "agents",
    "audit",
    "compare",
    "credit",
    "datasets",
    "decide",
    "diversity",
    "learners",
    "load_pool",
    "load_stream",
    "losses",
    "pools",
    "read_panel",
    "read_reports",
    "replay",
    "score",
    "scores",
    "weights",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"truepool.{_MODULES[name]}")
    if name in _NAMES:
        return getattr(import_module(f"truepool.{_NAMES[name]}"), name)
    if name == "__version__":
        return import_module("importlib.metadata").version("truepool")
    if name[0] != "_":
        return import_module("truepool.core.names").find(name)
    raise AttributeError(f"module 'truepool' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *import_module("truepool.core.names").offered()})
