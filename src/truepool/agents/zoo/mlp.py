"""A neural network of two hidden layers, as scikit-learn writes it."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from truepool.agents.zoo.conversion import from_scikit_learn
from truepool.agents.zoo.interface import Model, settings_of
from truepool.agents.zoo.preparing import scaled


@final
class MLP(Model):
    """Hidden layers of 64 and 32, up to 500 passes at rate 0.001 (tab:hyperparams).

    Features are scaled first, and missing values get the median.
    """

    name: ClassVar[str] = "mlp"
    preset: ClassVar[Mapping[str, Any]] = {
        "hidden_layer_sizes": (64, 32),
        "max_iter": 500,
        "learning_rate_init": 0.001,
    }
    effort: ClassVar[int] = 9

    def _classifier(self, seed: int) -> tuple[Any, set[str]]:
        from sklearn.neural_network import MLPClassifier as Kind

        return scaled(Kind(**{"random_state": seed, **self.settings})), settings_of(
            Kind
        )

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier over so many features as an ONNX model."""
        return from_scikit_learn(fitted, width)
