"""Experiments, one file each; the folder is the registry."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import cast

from truepool import datasets
from truepool.core import registry
from truepool.core.errors import UnknownNameError
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.interface import Experiment


def every() -> dict[str, type[Experiment]]:
    """All experiments by name."""
    return cast(dict[str, type[Experiment]], registry.every(__name__))


def find(label: str) -> type[Experiment] | None:
    """Return the experiment that answers a table or figure, or None if none does yet.

    A label may name a reading after an ``@``.

    >>> find("tab:regret").name
    'regret'
    """
    if label.partition("@")[0] not in paper_tables():
        raise UnknownNameError("table or figure", label, paper_tables())
    for experiment in every().values():
        if label in experiment.readings:
            return experiment
    return None


def with_variants(labels: Sequence[str]) -> list[str]:
    """Return the labels, each followed by its other readings.

    >>> with_variants(["tab:poa", "tab:adversarial"])[-1]
    'tab:adversarial@inferred'
    """
    known = [label for e in every().values() for label in e.readings]
    found = []
    for label in labels:
        others = [name for name in known if name.startswith(f"{label}@")]
        found += [label, *sorted(others)]
    return list(dict.fromkeys(found))


def obstacle(label: str) -> str | None:
    """Return why a table or figure cannot be run now, or None if it can."""
    experiment = find(label)
    if experiment is None:
        return "not built yet"
    for name in experiment.needs:
        if datasets.find(name).location() is None:
            return f"needs the data set {name}: truepool data path {name} fetches it"
    for package, requirement in experiment.packages.items():
        if find_spec(package) is None:
            return f"needs {package}: pip install {requirement!r}"
    return None
