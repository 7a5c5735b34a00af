"""Who reports: silos, a zoo of models, training, calibration, ONNX.

>>> from truepool import agents
>>> sorted(agents.zoo.every())[-3:]
['tabnet', 'tree', 'xgboost']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truepool.agents import zoo
    from truepool.agents.calibration import calibrated
    from truepool.agents.ensemble import Trained
    from truepool.agents.fitted_agent import Fitted
    from truepool.agents.interface import Agent
    from truepool.agents.onnx import OnnxAgent
    from truepool.agents.onnx_export import Exported, export
    from truepool.agents.partition import feature_silos, overlap, sample_silos
    from truepool.agents.storage import load, save
    from truepool.agents.training import train

_NAMES = {
    "Agent": "interface",
    "Exported": "exporting",
    "Fitted": "fitted",
    "OnnxAgent": "onnx",
    "Trained": "trained",
    "calibrated": "calibration",
    "export": "exporting",
    "feature_silos": "partition",
    "load": "storage",
    "overlap": "partition",
    "sample_silos": "partition",
    "save": "storage",
    "train": "training",
}

__all__ = [
    "Agent",
    "Exported",
    "Fitted",
    "OnnxAgent",
    "Trained",
    "calibrated",
    "export",
    "feature_silos",
    "load",
    "overlap",
    "sample_silos",
    "save",
    "train",
    "zoo",
]


def __getattr__(name: str) -> Any:
    if name == "zoo":
        return import_module("truepool.agents.zoo")
    if name in _NAMES:
        return getattr(import_module(f"truepool.agents.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'truepool.agents' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
