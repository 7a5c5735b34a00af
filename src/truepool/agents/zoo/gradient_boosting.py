"""Gradient boosting as scikit-learn writes it: exact splits, no further library."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from truepool.agents.zoo.conversion import from_scikit_learn
from truepool.agents.zoo.interface import Model, settings_of
from truepool.agents.zoo.preparing import filled


@final
class GradientBoosting(Model):
    """100 trees of depth 3; missing values get the median."""

    name: ClassVar[str] = "gradient-boosting"
    preset: ClassVar[Mapping[str, Any]] = {"n_estimators": 100, "max_depth": 3}
    effort: ClassVar[int] = 4

    def _classifier(self, seed: int) -> tuple[Any, set[str]]:
        from sklearn.ensemble import GradientBoostingClassifier as Kind

        return filled(Kind(**{"random_state": seed, **self.settings})), settings_of(
            Kind
        )

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier over so many features as an ONNX model."""
        return from_scikit_learn(fitted, width)
