"""XGBoost: gradient-boosted trees grown level by level."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from truepool.agents.zoo.conversion import from_booster
from truepool.agents.zoo.interface import Model, setting_names
from truepool.core.distributions import require


@final
class XGBoost(Model):
    """100 trees of depth 6 (tab:hyperparams); takes missing values as they are."""

    name: ClassVar[str] = "xgboost"
    preset: ClassVar[Mapping[str, Any]] = {"n_estimators": 100, "max_depth": 6}
    libraries: ClassVar[tuple[str, ...]] = ("xgboost",)

    def _setting_names(self) -> set[str]:
        return setting_names(self._kind())

    def _build(self, seed: int) -> Any:
        fixed = {"random_state": seed, "n_jobs": 1}
        return self._kind()(**{**fixed, **self.settings})

    def _kind(self) -> Any:
        return require("xgboost", "truepool[agents]", self.name).XGBClassifier

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier with this many features as an ONNX model."""
        return from_booster("xgboost", fitted, width)
