"""Outcomes: the column that has them, and the order of its labels."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from truepool.panel.labels import is_meant
from truepool.tables import cells
from truepool.tables.class_columns import class_columns
from truepool.tables.columns import MOST_LABELS, Inference, Look
from truepool.tables.faults import Cure, Fault, Note, Question
from truepool.tables.long_layout import is_constant

OUTCOMES = ("y", "outcome", "label", "target", "truth", "class", "result")
"""What a column is called that is the outcome, where several could be."""
FEW_LABELS = 20
"""A column of text with more values says what cases have in common."""
MOST_ROWS = 0.95
"""Two of several labels are those of an outcome if they stand in so many rows."""
PLAIN = ([0, 1], [False, True])
"""Labels that say themselves which of them is positive."""
SHOWN = 5
"""So many labels that are too many are named."""


def outcome_column(found: Inference, *, labelled: bool) -> str | None:
    """Column of the outcome: that of the usual name, or the only one it can be."""
    declared = found.declared
    if declared.outcome is not None:
        return declared.outcome if declared.outcome in found.looks else None
    if "y" in found.open and "y" not in declared.agents:
        return "y"
    apart = {name for own in found.by_class.values() for name in own.values()}
    apart |= {*declared.agents}
    classes = {*next(iter(found.by_class.values()), ())}
    could = {n: look for n, look in found.open.items() if n not in apart}
    if found.long is not None:
        case = found.looks[found.long[0]].codes
        could = {n: look for n, look in could.items() if is_constant(look, case)}
    few = {n: look for n, look in could.items() if _is_outcome(found, look, classes)}
    called = {n: look for n, look in could.items() if _is_called(look)}
    usual = [n for n in few if n in called or n.lower() in OUTCOMES]
    if not labelled:
        named = usual or [*called]
        return named[0] if len(named) == 1 else None
    if len(usual) == 1:
        return usual[0]
    few |= called  # with a third label, it may be the outcome all the same
    if not (few or classes):  # 1 and 2, or -1 and 1
        few = {n: look for n, look in could.items()
               if look.whole and look.count == 2}  # fmt: skip
    if not few:
        numbers = [m for m, other in could.items() if other.numbers is not None]
        few = {
            n: look
            for n, look in could.items()
            if look.numbers is None
            and look.count <= FEW_LABELS
            and class_columns(numbers, map(str, look.labels(declared.missing)))
        }
    if len(few) == 1:
        return next(iter(few))
    if few:
        return _ask_outcome(found, few)
    fields = {"columns": [*found.open]}
    found.ask("no-outcome", "outcome", ("COLUMN",), free="COLUMN", fields=fields)
    return None


def _is_outcome(found: Inference, look: Look, classes: set[str]) -> bool:
    """Whether a column has the labels of the classes, or two but for a few rows."""
    if look.is_class or look.is_time:
        return False
    if look.numbers is not None and not (look.signed or classes):
        return look.binary and len(np.unique(look.known)) == 2
    counts = one_spelling(look.labels(found.declared.missing))
    if classes:
        own = {*map(str, counts)}
        return len(own & classes) > len(own - classes)  # a word may mean no outcome
    return 2 <= len(counts) <= FEW_LABELS and _most_rows(counts)


def _most_rows(counts: Mapping[Any, float]) -> bool:
    """Whether two of the labels stand in nearly all rows."""
    return sum(sorted(counts.values())[-2:]) >= MOST_ROWS * sum(counts.values())


def _is_called(look: Look) -> bool:
    """Whether a column of a few words is called like an outcome."""
    words = look.name.lower() in OUTCOMES and look.numbers is None
    return words and 2 <= look.count <= FEW_LABELS


def _ask_outcome(found: Inference, few: Mapping[str, Look]) -> str | None:
    """Take the column that has the positive label; else ask for both at once."""
    declared = found.declared
    labels = {n: one_spelling(own.labels(declared.missing)) for n, own in few.items()}
    if declared.positive is not None:
        own = [n for n in few if _match(labels[n], declared.positive) is not None]
        if len(own) == 1:
            return own[0]
    choices = {
        n: [{"outcome": n} | keys for keys in _keys(own, declared.positive) or [{}]]
        for n, own in labels.items()
    }
    about = [
        ", ".join(map(str, [*labels[n]][:3])) for n, own in choices.items() for _ in own
    ]
    every = [keys for own in choices.values() for keys in own]
    found.ask("which-outcome", "outcome", every, about=tuple(about))
    return None


def outcome_labels(
    found: Inference,
    outcome: str | None,
    labels_of: Callable[[str], Mapping[Any, float]] | None,
) -> dict[Any, float]:
    """Labels of the outcome, in the order of the rows, and how many rows have each."""
    if outcome is None:
        return {}
    look = found.looks[outcome]
    counts = labels_of(outcome) if labels_of else look.labels(found.declared.missing)
    if len(counts) > MOST_LABELS:
        found.refuse("many-labels", Cure("name-outcome"), column=outcome)
        return {}
    labels = one_spelling(counts)
    for own in cells.spellings(counts):
        others = [repr(label) for label in own if label not in labels]
        if others:
            label = next(label for label in own if label in labels)
            fields = {"column": outcome, "names": others, "count": len(others)}
            found.notes.append(Note("spellings", {**fields, "label": label}))
    return labels


def one_spelling(counts: Mapping[Any, float]) -> dict[Any, float]:
    """Count labels that differ in case and spaces only as one, by the commonest.

    >>> one_spelling({"yes": 2, "no": 3, "Yes": 1})
    {'yes': 3, 'no': 3}
    """
    return {
        max(own, key=counts.__getitem__): sum(counts[label] for label in own)
        for own in cells.spellings(counts)
    }


def ordered_labels(
    found: Inference, outcome: str, counts: Mapping[Any, float]
) -> list[Any]:
    """Labels in the order of the classes: of two, the positive one is the second."""
    declared = found.declared
    positive, classes = declared.positive, found.classes
    ordered, fault, question = order_labels(counts, positive, classes, outcome)
    if fault is not None:
        found.faults.add(_with_row(fault, found.looks[outcome], declared.missing))
    if question is not None:
        found.questions.append(question)
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


def order_labels(
    labels: Iterable[Any], positive: Any, classes: Sequence[str], outcome: str
) -> tuple[list[Any], Fault | None, Question | None]:
    """Return labels in the order of the classes, and what is wrong or not known.

    Where they are a mapping, it says how many rows have each.

    >>> order_labels([1, 0], None, (), "y")[0]
    [0, 1]
    >>> order_labels(["no", "yes"], None, (), "y")[2].code
    'which-positive'
    >>> order_labels({"N": 7, "?": 1, "Y": 2}, None, (), "y")[2].choices[1]
    {'positive': 'Y', 'missing': ['?']}
    """
    counts = labels if isinstance(labels, Mapping) else dict.fromkeys(labels, 0)
    order = _order_classes if classes else _order_two
    found = order(counts, positive, classes, outcome)
    return (
        found if isinstance(found, list) else [],
        found if isinstance(found, Fault) else None,
        found if isinstance(found, Question) else None,
    )


def _order_two(
    counts: Mapping[Any, float], positive: Any, _: Sequence[str], outcome: str
) -> list[Any] | Fault | Question:
    """Order two labels, of which one may not have occurred yet."""
    labels = [*counts]
    plain = next((own for own in PLAIN if _among(labels, own)), None)
    given = None if positive is None else _match([*labels, *(plain or ())], positive)
    if positive is not None and given is None:
        if len(labels) == 1 and plain is None:
            return [labels[0], positive]  # no case is positive yet
        cures = tuple(Cure("set", "positive", label) for label in labels[:2])
        fields = {"labels": labels}
        return Fault(
            "no-label", column=outcome, found=positive, cures=cures, fields=fields
        )
    if plain is not None:
        first = plain[0] if given is None or given == plain[1] else plain[1]
        return [first, plain[1] if first == plain[0] else plain[0]]
    if not labels:
        return Fault("no-outcomes", column=outcome)
    if len(labels) == 1:
        return Fault("one-label", column=outcome, found=labels[0])
    if len(labels) == 2 and given is not None:
        return [next(label for label in labels if label != given), given]
    choices = _keys(counts, positive)
    if not choices:
        cure = Cure("class-columns" if len(labels) <= SHOWN else "name-outcome")
        fields = {"labels": _first(labels)}
        return Fault("three-labels", column=outcome, cures=(cure,), fields=fields)
    code = "which-positive" if len(labels) == 2 else "which-labels"
    about = tuple(_count(counts, keys.get("positive")) for keys in choices)
    fields = {"labels": labels}
    return Question(
        code, "positive", tuple(choices), column=outcome, about=about, fields=fields
    )


def _keys(counts: Mapping[Any, float], positive: Any) -> list[dict[str, Any]]:
    """Return the ways in which labels can be two: the positive one, and others.

    Words without a letter or a digit are no labels; of three any may be none. Of more,
    the two that stand in nearly all rows are the labels.
    """
    words = [x for x in counts if any(c.isalnum() for c in str(x))]
    if len(words) > 3:
        words = sorted(words, key=lambda x: -counts[x])[:2]
        if not _most_rows(counts) or not any(counts.values()):
            return []
    found = []
    for pair in combinations(words, 2):
        rest = [str(label) for label in counts if label not in pair]
        keys = {"missing": rest} if rest else {}
        known = cells.label_numbers(pair)
        plain = any(_among([known.get(x, x) for x in pair], own) for own in PLAIN)
        given = None if positive is None else _match(pair, positive)
        if plain or given is not None:
            found.append(keys)
        elif positive is None:
            found += [{"positive": label} | keys for label in pair]
    return found


def _count(counts: Mapping[Any, float], label: Any) -> str:
    total = sum(counts.values())
    return f"{counts[label]:,.0f} of {total:,.0f}" if total and label in counts else ""


def _order_classes(
    counts: Mapping[Any, float], positive: Any, classes: Sequence[str], outcome: str
) -> list[Any] | Fault | Question:
    """Order the labels of columns that name the classes."""
    names: list[Any] = [*classes]
    if all(name.isdecimal() for name in names):
        whole = sorted(int(name) for name in names)
        if whole != [*range(len(whole))]:
            return Fault("classes-not-numbered", column=outcome, found=names)
        if all(isinstance(label, int) for label in counts):
            names = [*whole]
    texts = {str(name): name for name in names}
    strange = [label for label in counts if str(label) not in texts]
    if strange:
        cures = (
            Cure("no-outcome", "missing", [str(v) for v in strange]),
            Cure("class-columns"),
        )
        return Fault(
            "label-unknown",
            column=outcome,
            found=strange[0],
            cures=cures,
            fields={"labels": names},
        )
    if len(names) == 2 and names != [0, 1]:
        given = None if positive is None else _match(names, positive)
        if given is None:
            about = tuple(_count(counts, name) for name in names)
            key, choices = "positive", tuple(names)
            return Question("which-positive", key, choices, outcome, about)
        return [next(name for name in names if name != given), given]
    if positive is not None and len(names) > 2:
        unset = Cure("unset", "positive")
        return Fault("positive-of-many", found=positive, cures=(unset,))
    return names


def _first(labels: Sequence[Any]) -> list[Any]:
    """Labels as they are; of many, the first ones and how many more there are."""
    rest = len(labels) - SHOWN
    return [*labels[:SHOWN], f"{rest:,} more"] if rest > 0 else [*labels]


def _among(labels: Sequence[Any], plain: Sequence[Any]) -> bool:
    kinds = {isinstance(label, bool) for label in labels}
    return (
        bool(labels)
        and kinds == {isinstance(plain[0], bool)}
        and all(isinstance(label, int | bool) and label in plain for label in labels)
    )


def _match(labels: Iterable[Any], given: Any) -> Any:
    """Return the label that a user names; None where there is none."""
    own = cells.fold(given)
    return next((x for x in labels if is_meant(x, given) or cells.fold(x) == own), None)
