"""CatBoost: gradient-boosted symmetric trees."""

import os
import tempfile
from collections.abc import Mapping
from typing import Any, ClassVar, final

from truepool.agents.zoo.interface import Model, setting_names
from truepool.core.distributions import require

QUIET = {"verbose": 0, "allow_writing_files": False}


@final
class CatBoost(Model):
    """100 trees of depth 6 (tab:hyperparams); takes missing values as they are."""

    name: ClassVar[str] = "catboost"
    preset: ClassVar[Mapping[str, Any]] = {"iterations": 100, "depth": 6}
    libraries: ClassVar[tuple[str, ...]] = ("catboost",)
    effort: ClassVar[int] = 2

    def _setting_names(self) -> set[str]:
        return setting_names(self._kind())

    def _build(self, seed: int) -> Any:
        fixed = {"random_seed": seed, "thread_count": 1, **QUIET}
        return self._kind()(**{**fixed, **self.settings})

    def _kind(self) -> Any:
        return require("catboost", "truepool[agents]", self.name).CatBoostClassifier

    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier with this many features as an ONNX model."""
        onnx = require("onnx", "truepool[onnx]", "exporting")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "catboost.onnx")
            fitted.save_model(path, format="onnx")  # it writes to files only
            return onnx.load(path)
