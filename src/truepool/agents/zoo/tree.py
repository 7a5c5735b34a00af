"""A decision tree: the agent whose every report can be read."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from sklearn.tree import DecisionTreeClassifier

from truepool.agents.zoo.conversion import from_trees
from truepool.agents.zoo.interface import Model, settings_of


@final
class Tree(Model):
    """One tree with at least 20 rows a leaf, so that its shares are probabilities."""

    name: ClassVar[str] = "tree"
    preset: ClassVar[Mapping[str, Any]] = {"min_samples_leaf": 20}

    def _known(self) -> set[str]:
        return settings_of(DecisionTreeClassifier)

    def _made(self, seed: int) -> Any:
        return DecisionTreeClassifier(**{"random_state": seed, **self.settings})

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier over so many features as an ONNX model."""
        return from_trees(fitted, [fitted], width)
