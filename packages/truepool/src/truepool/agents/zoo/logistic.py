"""Logistic regression: calibrated by construction."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from sklearn.linear_model import LogisticRegression

from truepool.agents.zoo.conversion import from_imputed
from truepool.agents.zoo.interface import Model, setting_names
from truepool.agents.zoo.preprocessing import scale_before


@final
class Logistic(Model):
    """Logistic regression on scaled features; missing values get the median."""

    name: ClassVar[str] = "logistic"
    preset: ClassVar[Mapping[str, Any]] = {"max_iter": 1000}

    def _setting_names(self) -> set[str]:
        return setting_names(LogisticRegression)

    def _build(self, seed: int) -> Any:
        return scale_before(
            LogisticRegression(**{"random_state": seed, **self.settings})
        )

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier with this many features as an ONNX model."""
        return from_imputed(fitted, width)
