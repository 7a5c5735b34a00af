"""What every model of the zoo is: settings, a classifier of one thread, an export."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from inspect import signature
from typing import Any, ClassVar

from truepool.core.registry import check_settings


class Model(ABC):
    """A kind of model, not trained yet.

    A model is a file with a ``name``, its settings, and three methods: `_known` names
    the settings there are, `_made` makes a scikit-learn classifier, and `to_onnx`
    converts a fitted one.

    Attributes
    ----------
    name : str
        What the command line and `truepool.agents.zoo.every` call it.
    settings : mapping
        What the classifier is made with: the paper's (tab:hyperparams), or what came.
    libraries : tuple of str
        Distributions whose version its numbers hang on.
    effort : int
        Rough cost of training; those that take long are started first.
    tolerance : float
        How far an export's probabilities may lie from ours.
    """

    name: ClassVar[str]
    preset: ClassVar[Mapping[str, Any]] = {}
    libraries: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    effort: ClassVar[int] = 1
    tolerance: ClassVar[float] = 1e-6

    def __init__(self, **settings: Any) -> None:
        if settings:
            check_settings(self.name, settings, self._known())
        self.settings: dict[str, Any] = {**self.preset, **settings}

    def classifier(self, seed: int) -> Any:
        """Return an unfitted classifier: one thread, every draw from the seed."""
        return self._made(seed)

    @abstractmethod
    def _known(self) -> set[str]:
        """Names of all settings that it takes."""

    @abstractmethod
    def _made(self, seed: int) -> Any:
        """Return the classifier with its settings, which are sound."""

    @abstractmethod
    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier over so many features as an ONNX model."""

    def __repr__(self) -> str:
        told = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return f"{type(self).__name__}({told})"


def settings_of(kind: Any) -> set[str]:
    """Names of what a class of classifiers can be made with."""
    names = set(signature(kind.__init__).parameters) - {"self", "kwargs"}
    return names | set(kind().get_params())
