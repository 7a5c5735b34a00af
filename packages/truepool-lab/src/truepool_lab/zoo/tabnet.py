"""TabNet: a neural network that attends to a few features at a time."""

import io
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from truepool.agents.zoo import Model
from truepool.agents.zoo.conversion import FEATURES, OPSET, PROBABILITIES
from truepool.agents.zoo.preprocessing import scale_before
from truepool.core.arrays import Array, FloatArray
from truepool.core.distributions import require

PASSES = {"max_epochs": 30, "batch_size": 1024, "virtual_batch_size": 128}
"""Arguments of `fit` of pytorch-tabnet; the other settings are the network's."""


@final
class TabNet(Model):
    """TabNet of Arik & Pfister (2021), 30 passes; the paper gives no settings for it.

    Features are scaled first, and missing values get the median.
    """

    name: ClassVar[str] = "tabnet"
    preset: ClassVar[Mapping[str, Any]] = PASSES
    libraries: ClassVar[tuple[str, ...]] = ("pytorch-tabnet", "torch", "scikit-learn")
    effort: ClassVar[int] = 30
    # Single precision alone moves its reports by some 1e-5: it sorts and sums a lot.
    tolerance: ClassVar[float] = 1e-3

    def _setting_names(self) -> set[str]:
        require("torch", "truepool-lab[neural]", self.name)
        return {*signature(_tabnet().__init__).parameters, *PASSES} - {"self"}

    def _build(self, seed: int) -> Any:
        require("torch", "truepool-lab[neural]", self.name)
        return scale_before(Network(seed, self.settings))

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier with this many features as an ONNX model."""
        torch = require("torch", "truepool-lab[neural]", self.name)
        onnx = require("onnx", "truepool[onnx]", "exporting")
        fill, scale, network = (step for _, step in fitted.steps)
        written = io.BytesIO()
        with one_thread(torch):
            torch.onnx.export(
                _pipeline_module(torch, fill, scale, network.network_),
                (torch.zeros(2, width, dtype=torch.float64),),
                written,
                input_names=[FEATURES],
                output_names=[PROBABILITIES],
                dynamic_axes={FEATURES: {0: "rows"}, PROBABILITIES: {0: "rows"}},
                opset_version=OPSET,
                dynamo=False,  # the newer exporter cannot follow TabNet
            )
        return onnx.load_from_string(written.getvalue())


@final
class Network(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """pytorch-tabnet as a scikit-learn classifier: on one thread, from its own seed."""

    def __init__(
        self, seed: int = 0, settings: Mapping[str, Any] | None = None
    ) -> None:
        self.seed = seed
        self.settings = settings

    def fit(self, X: FloatArray, y: Array) -> Self:
        """Train on features (T, F) without missing values."""
        torch = require("torch", "truepool-lab[neural]", "tabnet")
        settings = {**PASSES, **(self.settings or {})}
        passes = {key: settings.pop(key) for key in PASSES}
        # Incomplete batches are dropped: of few cases nothing would be left.
        passes["batch_size"] = min(passes["batch_size"], len(X))
        with one_thread(torch):
            quiet = {"verbose": 0, "device_name": "cpu", "seed": self.seed}
            self.network_ = _tabnet()(**quiet | settings)
            self.network_.fit(
                X.astype(np.float32), y, compute_importance=False, **passes
            )
        self.classes_ = self.network_.classes_
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Probability of every class, (T, K)."""
        with one_thread(require("torch", "truepool-lab[neural]", "tabnet")):
            answer = self.network_.predict_proba(X.astype(np.float32))
        return np.asarray(answer, dtype=np.float64)


@contextmanager
def one_thread(torch: Any) -> Iterator[None]:
    """One thread, because TabNet's results depend on their number.

    Random state and warnings do not leave the block.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_num_threads(before)


def _tabnet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = require("pytorch_tabnet.tab_model", "truepool-lab[neural]", "tabnet")
    return module.TabNetClassifier


def _pipeline_module(torch: Any, fill: Any, scale: Any, tabnet: Any) -> Any:
    """Return imputer, scaler and network as one module that ends in probabilities.

    The steps that scikit-learn does in double precision are double here too.
    """

    class Whole(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = tabnet.network
            self.register_buffer("median", torch.tensor(fill.statistics_))
            self.register_buffer("mean", torch.tensor(scale.mean_))
            self.register_buffer("spread", torch.tensor(scale.scale_))

        def forward(self, x: Any) -> Any:
            whole = torch.where(torch.isnan(x), self.median, x)
            scores, _ = self.network(((whole - self.mean) / self.spread).float())
            return torch.softmax(scores, dim=1).double()

    return Whole().eval()
