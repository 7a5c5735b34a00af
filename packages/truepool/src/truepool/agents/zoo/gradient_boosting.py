"""Gradient boosting as scikit-learn writes it: exact splits, no further library."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from sklearn.ensemble import GradientBoostingClassifier

from truepool.agents.zoo.conversion import from_scikit_learn
from truepool.agents.zoo.interface import Model, setting_names
from truepool.agents.zoo.preprocessing import impute_before


@final
class GradientBoosting(Model):
    """100 trees of depth 3; missing values get the median."""

    name: ClassVar[str] = "gradient-boosting"
    preset: ClassVar[Mapping[str, Any]] = {"n_estimators": 100, "max_depth": 3}
    effort: ClassVar[int] = 4

    def _setting_names(self) -> set[str]:
        return setting_names(GradientBoostingClassifier)

    def _build(self, seed: int) -> Any:
        return impute_before(
            GradientBoostingClassifier(**{"random_state": seed, **self.settings})
        )

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier with this many features as an ONNX model."""
        return from_scikit_learn(fitted, width)
