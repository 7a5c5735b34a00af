"""Agents: models that report probabilities, their training, calibration and export.

>>> from truepool import agents
>>> sorted(agents.zoo.every())[-2:]
['tree', 'xgboost']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truepool.agents import zoo
    from truepool.agents.calibration import calibrate
    from truepool.agents.ensemble import Ensemble
    from truepool.agents.fitted_agent import FittedAgent
    from truepool.agents.interface import Agent
    from truepool.agents.onnx import OnnxAgent
    from truepool.agents.onnx_export import ExportResult, export
    from truepool.agents.partition import case_silos, feature_silos, overlap
    from truepool.agents.storage import load, save
    from truepool.agents.training import train

_NAMES = {
    "Agent": "interface",
    "ExportResult": "onnx_export",
    "FittedAgent": "fitted_agent",
    "OnnxAgent": "onnx",
    "Ensemble": "ensemble",
    "calibrate": "calibration",
    "export": "onnx_export",
    "feature_silos": "partition",
    "load": "storage",
    "overlap": "partition",
    "case_silos": "partition",
    "save": "storage",
    "train": "training",
}

__all__ = [
    "Agent",
    "Ensemble",
    "ExportResult",
    "FittedAgent",
    "OnnxAgent",
    "calibrate",
    "case_silos",
    "export",
    "feature_silos",
    "load",
    "overlap",
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
