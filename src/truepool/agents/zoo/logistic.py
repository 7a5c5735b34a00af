"""Logistic regression: the agent that is calibrated by how it is made."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from sklearn.linear_model import LogisticRegression

from truepool.agents.zoo.conversion import from_filled
from truepool.agents.zoo.interface import Model, settings_of
from truepool.agents.zoo.preprocessing import scaled


@final
class Logistic(Model):
    """Logistic regression on scaled features; missing values get the median."""

    name: ClassVar[str] = "logistic"
    preset: ClassVar[Mapping[str, Any]] = {"max_iter": 1000}

    def _known(self) -> set[str]:
        return settings_of(LogisticRegression)

    def _made(self, seed: int) -> Any:
        return scaled(LogisticRegression(**{"random_state": seed, **self.settings}))

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier over so many features as an ONNX model."""
        return from_filled(fitted, width)
