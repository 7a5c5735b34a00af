"""The zoo: models that agents can be trained with. The folder is the registry."""

from typing import Any, cast

from truepool.agents.zoo.interface import Model
from truepool.core import registry

__all__ = ["PAPER", "Model", "every", "make", "paper"]

PAPER = ("lightgbm", "catboost", "xgboost", "random-forest", "mlp")
"""The five agents of the paper, in the order in which it draws their silos."""


def every() -> dict[str, type[Model]]:
    """All kinds of models by name.

    >>> sorted(every())[:3]
    ['catboost', 'gradient-boosting', 'lightgbm']
    """
    return cast(dict[str, type[Model]], registry.every(__name__))


def make(name: str, /, **settings: Any) -> Model:
    """Make the model of that name with these settings instead of its own.

    >>> make("random-forest", max_depth=4)
    RandomForest(n_estimators=100, max_depth=4)
    """
    return cast(Model, registry.make("model", name, **settings))


def paper() -> dict[str, Model]:
    """Return the five agents of the paper with its settings (tab:hyperparams).

    >>> list(paper())
    ['lightgbm', 'catboost', 'xgboost', 'random-forest', 'mlp']
    """
    return {name: make(name) for name in PAPER}
