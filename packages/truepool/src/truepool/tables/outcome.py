"""Outcomes: the column that has them, and the order of its labels."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.compute as pc

from truepool.panel.labels import is_meant
from truepool.tables import cells
from truepool.tables.class_columns import class_columns
from truepool.tables.columns import MOST_LABELS, Inference, Look
from truepool.tables.faults import Cure, Fault, Question
from truepool.tables.long_layout import is_constant

OUTCOMES = ("y", "outcome", "label", "target", "truth", "class", "result")
"""What a column is called that is the outcome, where several could be."""
FEW_LABELS = 20
"""A column of text with more values says what cases have in common."""
PLAIN = ([0, 1], [False, True])
"""Labels that say themselves which of them is positive."""
SHOWN = 5
"""So many labels that are too many are named."""


def outcome_column(
    found: Inference,
    by_class: Mapping[str, Mapping[str, str]],
    long: tuple[str, str, str] | None,
    *,
    labelled: bool,
) -> str | None:
    """Column of the outcome: that of the usual name, or the only one it can be."""
    declared = found.declared
    if declared.outcome is not None:
        return declared.outcome if declared.outcome in found.looks else None
    if "y" in found.open and "y" not in declared.agents:
        return "y"
    apart = {name for own in by_class.values() for name in own.values()}
    apart |= {*declared.agents}
    classes = {*next(iter(by_class.values()), ())}
    could = {n: look for n, look in found.open.items() if n not in apart}
    if long is not None:
        case = found.looks[long[0]].codes
        could = {n: look for n, look in could.items() if is_constant(look, case)}
    few = {
        n: look
        for n, look in could.items()
        if (classes and _are_labels(look, classes, declared.missing))
        or (not classes and _has_two_labels(look, declared.missing))
    }
    usual = [n for n in few if n.lower() in OUTCOMES]
    called = {
        n: look
        for n, look in could.items()
        if n not in few
        and n.lower() in OUTCOMES
        and look.numbers is None
        and 2 <= len(look.distinct) <= FEW_LABELS
    }
    if not labelled:
        named = usual or [*called]
        return named[0] if len(named) == 1 else None
    if len(usual) == 1:
        return usual[0]
    few |= called  # with a third label, it may be the outcome all the same
    if not (few or classes):  # 1 and 2, or -1 and 1
        few = {n: look for n, look in could.items()
               if look.whole and len(look.distinct) == 2}  # fmt: skip
    if len(few) == 1:
        return next(iter(few))
    joined = [
        n
        for n, look in could.items()
        if look.numbers is None
        and len(look.distinct) <= FEW_LABELS
        and class_columns(
            [m for m, other in could.items() if other.numbers is not None],
            [str(label) for label in look.labels(declared.missing)],
        )
    ]
    if not few and len(joined) == 1:
        return joined[0]
    if labelled and few:
        return _ask_outcome(found, few)
    if labelled:
        found.ask("no-outcome", "outcome", (), fields={"columns": [*found.open]})
    return None


def _ask_outcome(found: Inference, few: Mapping[str, Look]) -> str | None:
    """Take the column that has the positive label; else ask for both at once."""
    declared = found.declared
    labels = {n: look.labels(declared.missing) for n, look in few.items()}
    if declared.positive is not None:
        own = [n for n in few if _match(labels[n], declared.positive) is not None]
        if len(own) == 1:
            return own[0]
    about = tuple(", ".join(map(str, labels[n][:3])) for n in few)
    found.ask("which-outcome", "outcome", few, about=about)
    for name in few if declared.positive is None else ():
        if len(labels[name]) == 2 and not any(_among(labels[name], p) for p in PLAIN):
            found.ask("which-label", "positive", labels[name], column=name)
    return None


def _has_two_labels(look: Look, missing: Sequence[str]) -> bool:
    if look.is_class or look.is_time:
        return False
    if look.numbers is not None and not look.signed:
        return look.binary and len(np.unique(look.known)) == 2
    return len(look.labels(missing)) == 2


def _are_labels(look: Look, classes: set[str], missing: Sequence[str]) -> bool:
    labels = {str(label) for label in look.labels(missing)}
    return len(labels & classes) > len(labels - classes)  # a word may mean no outcome


def outcome_labels(
    found: Inference,
    outcome: str | None,
    labels_of: Callable[[str], list[Any]] | None,
) -> list[Any]:
    """Labels of the outcome, in the order of the rows."""
    if outcome is None:
        return []
    if labels_of is not None:
        return labels_of(outcome)
    labels = found.looks[outcome].labels(found.declared.missing)
    if len(labels) > MOST_LABELS:
        found.refuse("many-labels", column=outcome, cures=(Cure("name-outcome"),))
        return []
    return labels


def ordered_labels(
    found: Inference, outcome: str, labels: list[Any], classes: Sequence[str]
) -> list[Any]:
    """Labels in the order of the classes: of two, the positive one is the second."""
    ordered, fault, question = order_labels(
        labels, found.declared.positive, classes, outcome
    )
    if fault is not None:
        found.faults.add(_with_row(fault, found.looks[outcome], found.declared.missing))
    if question is not None:
        counts = _counts(found.looks[outcome], found.declared.missing)
        about = tuple(counts.get(choice, "") for choice in question.choices)
        found.questions.append(Question(**{**vars(question), "about": about}))
    return ordered


def _with_row(fault: Fault, look: Look, missing: Sequence[str]) -> Fault:
    """Return a fault of a label with the first of its rows, and their number."""
    if fault.code != "label-unknown":
        return fault
    rows = [
        t
        for t, label in enumerate(cells.labels(look.column, missing).to_pylist())
        if label == fault.found
    ]
    return replace(fault, row=rows[0], count=len(rows)) if rows else fault


def _counts(look: Look, missing: Sequence[str]) -> dict[Any, str]:
    found = pc.value_counts(cells.labels(look.column, missing).drop_null())
    values, counts = (
        found.field("values").to_pylist(),
        found.field("counts").to_pylist(),
    )
    return {v: f"{n:,} of {sum(counts):,}" for v, n in zip(values, counts, strict=True)}


def order_labels(
    labels: Sequence[Any], positive: Any, classes: Sequence[str], outcome: str
) -> tuple[list[Any], Fault | None, Question | None]:
    """Return labels in the order of the classes, and what is wrong or not known.

    >>> order_labels([1, 0], None, (), "y")[0]
    [0, 1]
    >>> order_labels(["no", "yes"], None, (), "y")[2].code
    'which-positive'
    """
    alike = _alike(labels)
    if alike:
        return (
            [],
            Fault(
                "labels-alike",
                column=outcome,
                found=alike,
                cures=(Cure("one-spelling"),),
            ),
            None,
        )
    if classes:
        return _class_order(labels, positive, classes, outcome)
    plain = next((own for own in PLAIN if _among(labels, own)), None)
    given = None if positive is None else _match(labels, positive)
    if positive is not None and given is None and plain is not None:
        given = _match(plain, positive)
    if positive is not None and given is None and len(labels) == 1 and plain is None:
        return [labels[0], positive], None, None  # no case is positive yet
    if positive is not None and given is None:
        cures = tuple(Cure("set", "positive", label) for label in labels[:2])
        return (
            [],
            Fault(
                "no-label",
                column=outcome,
                found=positive,
                cures=cures,
                fields={"labels": [*labels]},
            ),
            None,
        )
    if plain is not None:
        first = plain[0] if given is None or given == plain[1] else plain[1]
        return [first, plain[1] if first == plain[0] else plain[0]], None, None
    if not labels:
        return [], Fault("no-outcomes", column=outcome), None
    if len(labels) == 1:
        return [], Fault("one-label", column=outcome, found=labels[0]), None
    if len(labels) > 2:
        return (
            [],
            Fault(
                "three-labels",
                column=outcome,
                fields={"labels": _first(labels)},
                cures=_label_cures(labels),
            ),
            None,
        )
    if given is None:
        return (
            [],
            None,
            Question("which-positive", "positive", tuple(labels), column=outcome),
        )
    return [next(label for label in labels if label != given), given], None, None


def _class_order(
    labels: Sequence[Any], positive: Any, classes: Sequence[str], outcome: str
) -> tuple[list[Any], Fault | None, Question | None]:
    """Labels of columns that name the classes."""
    names: list[Any] = [*classes]
    if all(name.isdecimal() for name in names):
        whole = sorted(int(name) for name in names)
        if whole != [*range(len(whole))]:
            return [], Fault("classes-not-numbered", column=outcome, found=names), None
        if all(isinstance(label, int) for label in labels):
            names = [*whole]
    texts = {str(name): name for name in names}
    strange = [label for label in labels if str(label) not in texts]
    if strange:
        cures = (
            Cure("no-outcome", "missing", [str(v) for v in strange]),
            Cure("class-columns"),
        )
        return (
            [],
            Fault(
                "label-unknown",
                column=outcome,
                found=strange[0],
                cures=cures,
                fields={"labels": names},
            ),
            None,
        )
    if len(names) == 2 and names != [0, 1]:
        given = None if positive is None else _match(names, positive)
        if given is None:
            return (
                [],
                None,
                Question("which-positive", "positive", tuple(names), column=outcome),
            )
        return [next(name for name in names if name != given), given], None, None
    if positive is not None and len(names) > 2:
        return (
            [],
            Fault(
                "positive-of-many", found=positive, cures=(Cure("unset", "positive"),)
            ),
            None,
        )
    return names, None, None


def _first(labels: Sequence[Any]) -> list[Any]:
    """Labels as they are; of many, the first ones and how many more there are."""
    rest = len(labels) - SHOWN
    return [*labels[:SHOWN], f"{rest:,} more"] if rest > 0 else [*labels]


def _label_cures(labels: Sequence[Any]) -> tuple[Cure, ...]:
    if len(labels) > SHOWN:
        return (Cure("name-outcome"),)
    words = [str(label) for label in labels[2:]]
    return (Cure("no-outcome", "missing", words), Cure("class-columns"))


def _among(labels: Sequence[Any], plain: Sequence[Any]) -> bool:
    kinds = {isinstance(label, bool) for label in labels}
    return (
        bool(labels)
        and kinds == {isinstance(plain[0], bool)}
        and all(isinstance(label, int | bool) and label in plain for label in labels)
    )


def _match(labels: Iterable[Any], given: Any) -> Any:
    """Return the label that a user names; None where there is none."""
    return next((label for label in labels if is_meant(label, given)), None)


def _alike(labels: Sequence[Any]) -> list[str]:
    spelled: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            spelled.setdefault(" ".join(label.casefold().split()), []).append(label)
    return next((own for own in spelled.values() if len(own) > 1), [])
