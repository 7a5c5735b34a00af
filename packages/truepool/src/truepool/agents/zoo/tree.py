"""A decision tree: every report can be explained."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from sklearn.tree import DecisionTreeClassifier

from truepool.agents.zoo.conversion import from_trees
from truepool.agents.zoo.interface import Model, setting_names


@final
class Tree(Model):
    """One tree with at least 20 cases per leaf: a share estimates a probability."""

    name: ClassVar[str] = "tree"
    preset: ClassVar[Mapping[str, Any]] = {"min_samples_leaf": 20}

    def _setting_names(self) -> set[str]:
        return setting_names(DecisionTreeClassifier)

    def _build(self, seed: int) -> Any:
        return DecisionTreeClassifier(**{"random_state": seed, **self.settings})

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier with this many features as an ONNX model."""
        return from_trees(fitted, [fitted], width)
