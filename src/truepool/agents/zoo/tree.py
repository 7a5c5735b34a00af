"""A decision tree: the agent whose every report can be read."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from truepool.agents.zoo.conversion import from_scikit_learn, with_missing
from truepool.agents.zoo.interface import Model, settings_of


@final
class Tree(Model):
    """One tree with at least 20 rows a leaf, so that its shares are probabilities."""

    name: ClassVar[str] = "tree"
    preset: ClassVar[Mapping[str, Any]] = {"min_samples_leaf": 20}

    def _classifier(self, seed: int) -> tuple[Any, set[str]]:
        from sklearn.tree import DecisionTreeClassifier as Kind

        return Kind(**{"random_state": seed, **self.settings}), settings_of(Kind)

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier over so many features as an ONNX model."""
        return with_missing(from_scikit_learn(fitted, width), [fitted])
