"""The interface of a model: settings, a classifier on one thread, an export."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from inspect import signature
from typing import Any, ClassVar

from truepool.core.registry import check_settings


class Model(ABC):
    """A kind of model, not trained yet.

    A model has a ``name``, settings and three methods: `_setting_names` lists the
    settings there are, `_build` makes a scikit-learn classifier, and `to_onnx` converts
    a fitted one.

    Attributes
    ----------
    name : str
        Its name on the command line and in `truepool.agents.zoo.every`.
    settings : mapping
        Settings of the classifier: the paper's (tab:hyperparams) and those given.
    libraries : tuple of str
        Distributions whose versions its reports depend on.
    effort : int
        Rough cost of training; the models that take longest are started first.
    tolerance : float
        Largest difference between the probabilities of an export and ours.
    """

    name: ClassVar[str]
    preset: ClassVar[Mapping[str, Any]] = {}
    libraries: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    effort: ClassVar[int] = 1
    tolerance: ClassVar[float] = 1e-6

    def __init__(self, **settings: Any) -> None:
        if settings:
            check_settings(self.name, settings, self._setting_names())
        self.settings: dict[str, Any] = {**self.preset, **settings}

    def classifier(self, seed: int) -> Any:
        """Return an unfitted classifier with one thread, seeded."""
        return self._build(seed)

    @abstractmethod
    def _setting_names(self) -> set[str]:
        """Return the names of all settings that it takes."""

    @abstractmethod
    def _build(self, seed: int) -> Any:
        """Return the classifier with its settings, which are checked."""

    @abstractmethod
    def to_onnx(self, fitted: Any, width: int) -> Any:
        """Return a fitted classifier with this many features as an ONNX model."""

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return f"{type(self).__name__}({settings})"


def setting_names(kind: Any) -> set[str]:
    """Return the names of the settings of a class of classifiers."""
    names = set(signature(kind.__init__).parameters) - {"self", "kwargs"}
    return names | set(kind().get_params())
