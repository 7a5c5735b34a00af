"""Where features and outcomes come from. The folder is the registry."""

from typing import Any, cast

from truepool.agents.features import Features
from truepool.core import distributions, registry
from truepool.datasets.example import example
from truepool.datasets.files import File
from truepool.datasets.governors import governors
from truepool.datasets.interface import Dataset
from truepool.datasets.synthetic import synthetic
from truepool.panel.panel import Panel

__all__ = [
    "Dataset",
    "Features",
    "File",
    "every",
    "example",
    "find",
    "governors",
    "load",
    "synthetic",
]


def every() -> dict[str, type[Dataset]]:
    """All data sets by name.

    >>> [name for name in every() if every()[name].home == "bundled"]
    ['example']
    """
    return cast(dict[str, type[Dataset]], registry.every(__name__))


def find(name: str) -> type[Dataset]:
    """Return the data set of that name.

    >>> find("example").rows
    569
    """
    return cast(type[Dataset], registry.find("data set", name))


def load(name: str, /, **settings: Any) -> Features | Panel:
    """Read or make the data set of that name, by default as the paper used it.

    >>> load("synthetic", cases=100, skill=[1, 2])
    Panel(100 cases, 2 agents (agent0, agent1), 2 classes, 0.0 % missing)
    """
    return cast(Features | Panel, registry.make("data set", name, **settings))


def __getattr__(name: str) -> Any:
    """Return the function that loads a data set of a plug-in, as in `datasets.pima`."""
    known = name.replace("_", "-")
    if name.startswith("_") or known not in every():
        missing = distributions.missing("data set", known)
        raise missing or AttributeError(f"{__name__!r} has no attribute {name!r}")
    return every()[known].load
