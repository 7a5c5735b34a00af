"""Where features and outcomes come from. The folder is the registry."""

from typing import Any, cast

from truepool.core import registry
from truepool.data.features import Features
from truepool.data.panel import Panel
from truepool.datasets.cicids2017 import cicids2017, cicids2017_mix
from truepool.datasets.credit_card import credit_card
from truepool.datasets.crowds import duck_crowd, product_crowd
from truepool.datasets.example import example
from truepool.datasets.files import File
from truepool.datasets.governors import governors
from truepool.datasets.heart import heart
from truepool.datasets.interface import Dataset
from truepool.datasets.intrusion import intrusion
from truepool.datasets.judgebench import judgebench
from truepool.datasets.nsl_kdd import nsl_kdd
from truepool.datasets.pima import pima
from truepool.datasets.synthetic import synthetic
from truepool.datasets.unsw_nb15 import unsw_nb15

__all__ = [
    "Dataset",
    "Features",
    "File",
    "cicids2017",
    "cicids2017_mix",
    "credit_card",
    "duck_crowd",
    "every",
    "example",
    "find",
    "governors",
    "heart",
    "intrusion",
    "judgebench",
    "load",
    "nsl_kdd",
    "pima",
    "product_crowd",
    "synthetic",
    "unsw_nb15",
]


def every() -> dict[str, type[Dataset]]:
    """All data sets by name.

    >>> list(every())[:4]
    ['cicids2017', 'cicids2017-mix', 'credit-card', 'duck-crowd']
    """
    return cast(dict[str, type[Dataset]], registry.every(__name__))


def find(name: str) -> type[Dataset]:
    """Return the data set of that name.

    >>> find("heart").rows
    303
    """
    return cast(type[Dataset], registry.find("data set", name))


def load(name: str, /, **settings: Any) -> Features | Panel:
    """Read or make the data set of that name, by default as the paper used it.

    >>> load("synthetic", cases=100, skill=[1, 2])
    Panel(100 cases, 2 agents (agent0, agent1), 2 classes, 0.0 % missing)
    """
    return cast(Features | Panel, registry.make("data set", name, **settings))
