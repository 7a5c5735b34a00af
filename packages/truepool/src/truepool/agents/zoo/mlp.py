"""A neural network of two hidden layers, as scikit-learn writes it."""

from collections.abc import Mapping
from typing import Any, ClassVar, final

from sklearn.neural_network import MLPClassifier

from truepool.agents.zoo.conversion import from_imputed
from truepool.agents.zoo.interface import Model, setting_names
from truepool.agents.zoo.preprocessing import scale_before


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

    def _setting_names(self) -> set[str]:
        return setting_names(MLPClassifier)

    def _build(self, seed: int) -> Any:
        return scale_before(MLPClassifier(**{"random_state": seed, **self.settings}))

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier with this many features as an ONNX model."""
        return from_imputed(fitted, width)
