"""Logistic regression: the agent that is calibrated by how it is made."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from truepool.agents.zoo.conversion import from_scikit_learn
from truepool.agents.zoo.interface import Model, settings_of
from truepool.agents.zoo.preparing import scaled


@final
class Logistic(Model):
    """Logistic regression on scaled features; missing values get the median."""

    name: ClassVar[str] = "logistic"
    preset: ClassVar[Mapping[str, Any]] = {"max_iter": 1000}

    def _classifier(self, seed: int) -> tuple[Any, set[str]]:
        from sklearn.linear_model import LogisticRegression as Kind

        return scaled(Kind(**{"random_state": seed, **self.settings})), settings_of(
            Kind
        )

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier over so many features as an ONNX model."""
        return from_scikit_learn(fitted, width)
