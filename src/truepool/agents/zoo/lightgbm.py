"""LightGBM: gradient-boosted trees grown leaf by leaf."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from truepool.agents.extras import brought
from truepool.agents.zoo.conversion import from_booster
from truepool.agents.zoo.interface import Model, settings_of


@final
class LightGBM(Model):
    """100 trees of any depth (tab:hyperparams); takes missing values as they are."""

    name: ClassVar[str] = "lightgbm"
    preset: ClassVar[Mapping[str, Any]] = {"n_estimators": 100, "max_depth": -1}
    libraries: ClassVar[tuple[str, ...]] = ("lightgbm",)

    def _classifier(self, seed: int) -> tuple[Any, set[str]]:
        kind = brought("lightgbm", "agents", self.name).LGBMClassifier
        # Left to itself it times two layouts and takes the faster: not the same bits.
        fixed = {"deterministic": True, "force_row_wise": True, "verbose": -1}
        made = kind(**{"random_state": seed, "n_jobs": 1, **fixed, **self.settings})
        return made, settings_of(kind) | {*fixed}

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier over so many features as an ONNX model."""
        return from_booster("lightgbm", fitted, width, zipmap=False)
