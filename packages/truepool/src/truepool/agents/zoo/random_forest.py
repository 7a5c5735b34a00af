"""Random Forest: many deep trees, each on random cases and features."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from sklearn.ensemble import RandomForestClassifier

from truepool.agents.zoo.conversion import from_trees
from truepool.agents.zoo.interface import Model, setting_names


@final
class RandomForest(Model):
    """100 trees of any depth (tab:hyperparams); takes missing values as they are."""

    name: ClassVar[str] = "random-forest"
    preset: ClassVar[Mapping[str, Any]] = {"n_estimators": 100, "max_depth": None}
    effort: ClassVar[int] = 3

    def _setting_names(self) -> set[str]:
        return setting_names(RandomForestClassifier)

    def _build(self, seed: int) -> Any:
        return RandomForestClassifier(
            **{"random_state": seed, "n_jobs": 1, **self.settings}
        )

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier with this many features as an ONNX model."""
        return from_trees(fitted, fitted.estimators_, width)
