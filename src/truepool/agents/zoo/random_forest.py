"""Random Forest: many deep trees, each on rows and features of its own."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from truepool.agents.zoo.conversion import from_scikit_learn, with_missing
from truepool.agents.zoo.interface import Model, settings_of


@final
class RandomForest(Model):
    """100 trees of any depth (tab:hyperparams); takes missing values as they are."""

    name: ClassVar[str] = "random-forest"
    preset: ClassVar[Mapping[str, Any]] = {"n_estimators": 100, "max_depth": None}
    effort: ClassVar[int] = 3

    def _classifier(self, seed: int) -> tuple[Any, set[str]]:
        from sklearn.ensemble import RandomForestClassifier as Kind

        made = Kind(**{"random_state": seed, "n_jobs": 1, **self.settings})
        return made, settings_of(Kind)

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier over so many features as an ONNX model."""
        return with_missing(from_scikit_learn(fitted, width), fitted.estimators_)
