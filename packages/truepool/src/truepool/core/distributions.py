"""What lives in another distribution of this repository, and which one to install.

Nothing here imports them: it is the one place that knows their names, so that what is
not installed is answered by what to install.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from truepool.core.errors import MissingExtraError, MissingPluginError

HOMES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "serve": {
        "name": ("AsyncClient", "Client"),
        "verb": ("serve", "ledger", "agent.serve"),
    },
    "jury": {
        "name": ("Jury", "jury", "llm"),
        "verb": ("jury", "agent.llm", "agent.template"),
        "data set": ("duck-crowd", "judgebench", "product-crowd"),
    },
    "lab": {
        "name": (
            "games",
            "stress",
            "Attention",
            "Confidence",
            "DeepSets",
            "Externality",
            "Krum",
            "MLP2",
            "MLP4",
            "StackedMLP",
        ),
        "verb": ("game", "reproduce"),
        "pool": (
            "attention",
            "confidence",
            "deep-sets",
            "externality",
            "krum",
            "mlp-2",
            "mlp-4",
            "stacked-mlp",
        ),
        "learner": ("ema", "marginal", "window"),
        "data set": (
            "cicids2017",
            "cicids2017-mix",
            "credit-card",
            "heart",
            "intrusion",
            "nsl-kdd",
            "pima",
            "unsw-nb15",
        ),
        "model": ("tabnet",),
    },
}
"""Distribution, as the extra that installs it, to kind to names."""


def home(kind: str, name: str) -> str | None:
    """Return the extra that brings a thing; None if truepool or nobody has it.

    >>> home("pool", "krum"), home("pool", "vcg")
    ('lab', None)
    """
    for extra, kinds in HOMES.items():
        if name in kinds.get(kind, ()):
            return extra
    return None


def names(kind: str) -> tuple[str, ...]:
    """Return everything of a kind that lives elsewhere.

    >>> names("model")
    ('tabnet',)
    """
    return tuple(name for kinds in HOMES.values() for name in kinds.get(kind, ()))


def missing(kind: str, name: str) -> MissingPluginError | None:
    """Return the error about what is not installed; None if it has no home elsewhere.

    >>> print(missing("pool", "krum"))
    the pool 'krum' is part of truepool-lab, which is not installed; \
pip install 'truepool[lab]'
    """
    extra = home(kind, name)
    return None if extra is None else MissingPluginError(kind, name, extra)


def require(library: str, requirement: str, who: str) -> Any:
    """Import an optional library, or say how to install it.

    >>> require("math", "truepool[agents]", "counting").floor(1.5)
    1
    """
    if find_spec(library.split(".")[0]) is None:
        raise MissingExtraError(who, library.split(".")[0], requirement)
    return import_module(library)
