"""LightGBM: gradient-boosted trees grown leaf by leaf."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from truepool.agents.zoo.conversion import from_booster
from truepool.agents.zoo.interface import Model, setting_names
from truepool.core.distributions import require

FIXED = {"deterministic": True, "force_row_wise": True, "verbose": -1}
"""By default it times two layouts and takes the faster one, which changes the bits."""


@final
class LightGBM(Model):
    """100 trees of any depth (tab:hyperparams); takes missing values as they are."""

    name: ClassVar[str] = "lightgbm"
    preset: ClassVar[Mapping[str, Any]] = {"n_estimators": 100, "max_depth": -1}
    libraries: ClassVar[tuple[str, ...]] = ("lightgbm",)

    def _setting_names(self) -> set[str]:
        return setting_names(self._kind()) | {*FIXED}

    def _build(self, seed: int) -> Any:
        fixed = {"random_state": seed, "n_jobs": 1, **FIXED}
        return self._kind()(**{**fixed, **self.settings})

    def _kind(self) -> Any:
        return require("lightgbm", "truepool[agents]", self.name).LGBMClassifier

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier with this many features as an ONNX model."""
        return from_booster("lightgbm", fitted, width, zipmap=False)
