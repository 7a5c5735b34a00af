"""Outcome labels in words."""

from collections.abc import Iterable, Sequence
from typing import Any

from truepool.panel.labels import Labels


def sentence(labels: Labels, cases: Sequence[int] = (), unit: str = "case") -> str:
    """Say which label is positive, and how many cases have which, if that is known.

    >>> sentence(Labels(("genuine", "fraud")), (18796, 1204))
    'Outcome label: fraud = positive (1,204 cases), genuine = negative (18,796).'
    >>> sentence(Labels(("a", "b", "c")))
    'Outcome labels: a = class 0, b = class 1, c = class 2.'
    """
    known = [f" ({count:,})" for count in cases] or [""] * len(labels.names)
    if len(labels.names) != 2:
        parts = [f"{n} = class {k}{known[k]}" for k, n in enumerate(labels.names)]
        return f"Outcome labels: {', '.join(parts)}."
    first = known[1].replace(")", f" {unit})" if known[1] == " (1)" else f" {unit}s)")
    return (
        f"Outcome label: {labels.positive} = positive{first}, "
        f"{labels.negative} = negative{known[0]}."
    )


def class_names(names: Iterable[Any]) -> list[str]:
    """Return what classes are called in a sentence.

    >>> class_names(["green", "red"]), class_names([0, 1])
    (['green', 'red'], ['class 0', 'class 1'])
    """
    return [name if isinstance(name, str) else f"class {name}" for name in names]
