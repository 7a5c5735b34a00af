"""Labels: what the user calls the outcomes, and the class number each of them has.

Inside truepool an outcome is a class number 0..K-1. With two classes, 1 is the
*positive* class: the one that reports are probabilities of and that ``fn`` is the cost
of missing. Labels 0/1 and False/True say which one that is. For any other two labels
the user has to: the wrong one would invert every report.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import Array, IntArray
from truepool.core.errors import OutcomeError, suggestion
from truepool.core.formatting import pluralize
from truepool.core.sentences import PYTHON, Voice, join, setting
from truepool.panel.row_names import case_name

USUAL = (
    ("-1", "1"),
    ("0", "1"),
    ("absent", "present"),
    ("alive", "dead"),
    ("benign", "attack"),
    ("benign", "malicious"),
    ("benign", "malignant"),
    ("false", "true"),
    ("genuine", "fraud"),
    ("good", "bad"),
    ("ham", "spam"),
    ("healthy", "disease"),
    ("healthy", "sick"),
    ("legit", "fraud"),
    ("legitimate", "fraud"),
    ("n", "y"),
    ("neg", "pos"),
    ("negative", "positive"),
    ("no", "yes"),
    ("normal", "abnormal"),
    ("normal", "anomaly"),
    ("normal", "attack"),
    ("repaid", "default"),
)
"""Pairs of labels whose second is usually the positive one: offered, never assumed.

Pass and fail are not among them: a test looks for failures, a jury for what passes."""


MAX_SHOWN = 6
"""So many labels are shown where there are more than two."""


class PositiveUnknownError(OutcomeError):
    """Two labels, of which nobody says which one is positive.

    ``both`` labels have a probability, so that it only says which misses cost fn.
    """

    def __init__(self, first: Any, second: Any, both: bool) -> None:
        self.choices, self.both = (first, second), both
        super().__init__(first, second, both)

    def lines(self, voice: Voice) -> list[str]:
        """Ask, and say how the answer is given."""
        usual = {frozenset(pair): pair[1] for pair in USUAL}
        likely = usual.get(frozenset(str(x).casefold() for x in self.choices))
        labels = sorted(self.choices, key=lambda x: str(x).casefold() != likely)
        what = "do the reports give the probability of"
        if self.both:
            what = "is the positive one, the one whose misses cost fn"
        hint = "" if likely is None else f"; {labels[0]!r} is more likely"
        ways = join((setting("positive", label, voice) for label in labels), "or")
        asked = join(map(repr, self.choices), "or")
        return [f"Which label {what}, {asked}? Pass {ways}{hint}."]

    def __str__(self) -> str:
        return self.lines(PYTHON)[0]


@dataclass(frozen=True)
class Labels:
    """The label of each class 0..K-1; of two, the second is the positive one.

    >>> labels = Labels.from_outcomes(["genuine", "fraud", "genuine"], positive="fraud")
    >>> labels.positive, labels.negative
    ('fraud', 'genuine')
    >>> labels.encode(["fraud", "genuine"])
    array([1, 0])
    """

    names: tuple[Any, ...]

    @classmethod
    def from_count(cls, classes: int) -> Self:
        """Return the labels of classes that are called by their numbers.

        >>> Labels.from_count(3)
        Labels(names=(0, 1, 2))
        """
        return cls(tuple(range(classes)))

    @classmethod
    def from_outcomes(cls, outcomes: ArrayLike, positive: Any = None) -> Self:
        """Return the labels of known outcomes; more than two are put in order.

        >>> Labels.from_outcomes([True, False]).positive
        True
        >>> Labels.from_outcomes([1, 2, 1], positive="2").names
        (1, 2)
        >>> Labels.from_outcomes(["b", "c", "a"]).names
        ('a', 'b', 'c')
        """
        found = np.unique(check_labels(outcomes)).tolist()
        if len(found) == 2:
            return cls.of_two(found[0], found[1], positive)
        if positive is None:
            return cls(tuple(found))
        if not found or not any(is_meant(label, positive) for label in found):
            raise _unknown(positive, found)
        if len(found) == 1:
            raise one_class_error("a positive label", found[0])
        raise OutcomeError(
            "a positive label requires two labels; there are "
            f"{len(found)}: {format_labels(found)}. Leave it out."
        )

    @classmethod
    def of_two(
        cls, first: Any, second: Any, positive: Any = None, both: bool = False
    ) -> Self:
        """Return two labels, the negative one first.

        Where the reports are probabilities of ``both``, the question which is positive
        is about costs.

        >>> Labels.of_two("fraud", "genuine", "fraud").names
        ('genuine', 'fraud')
        """
        if positive is None:
            if (first, second) != (0, 1):
                raise PositiveUnknownError(first, second, both)
            return cls((first, second))
        if is_meant(second, positive):
            return cls((first, second))
        if is_meant(first, positive):
            return cls((second, first))
        raise _unknown(positive, (first, second))

    @property
    def positive(self) -> Any:
        """The label that reports are probabilities of; None for K > 2 classes."""
        return self.names[1] if len(self.names) == 2 else None

    @property
    def negative(self) -> Any:
        """The other one of two labels; None for K > 2 classes."""
        return self.names[0] if len(self.names) == 2 else None

    @property
    def plain(self) -> bool:
        """Whether the labels are the class numbers themselves."""
        return self.names == tuple(range(len(self.names)))

    def encode(self, outcomes: ArrayLike) -> IntArray:
        """Class number of each label, (T,); a label that is none of these is named.

        >>> Labels(("no", "yes")).encode(["no", "ja"])
        Traceback (most recent call last):
        truepool.core.errors.OutcomeError: a label must be 'no' or 'yes'; got 'ja' ...
        """
        given = check_labels(outcomes)
        known = np.asarray(self.names)
        if (known.dtype.kind == "U") != (given.dtype.kind == "U"):
            strange = np.ones(len(given), dtype=bool)
        else:
            order = np.argsort(known)
            places = np.searchsorted(known, given, sorter=order)
            numbers = order[np.minimum(places, len(known) - 1)]
            strange = known[numbers] != given
        if strange.any():
            t = int(np.argmax(strange))
            raise OutcomeError(
                f"a label must be {format_choice(self.names)}; got "
                f"{given[t].item()!r} in {case_name(t)}"
            )
        return np.asarray(numbers if len(given) else given, dtype=np.int64)

    def to_dict(self, cases: Sequence[int] = ()) -> dict[str, Any]:
        """Return the labels, and how many cases have which, ready for JSON.

        >>> Labels(("no", "yes")).to_dict([3, 2])
        {'positive': 'yes', 'negative': 'no', 'labels': ['no', 'yes'], 'cases': [3, 2]}
        """
        return {
            "positive": self.positive,
            "negative": self.negative,
            "labels": list(self.names),
            "cases": list(cases) or None,
        }

    def check(self, positive: Any) -> None:
        """Refuse another positive label than this one.

        >>> Labels(("genuine", "fraud")).check("genuine")
        Traceback (most recent call last):
        truepool.core.errors.OutcomeError: the positive label here is 'fraud'; ...
        """
        if positive is None or (
            len(self.names) == 2 and is_meant(self.positive, positive)
        ):
            return
        if len(self.names) != 2 or not is_meant(self.negative, positive):
            raise _unknown(positive, self.names)
        raise OutcomeError(
            f"the positive label here is {self.positive!r}; got {positive!r}"
        )


def encode_outcomes(
    outcomes: ArrayLike, classes: int, positive: Any = None
) -> tuple[IntArray, Labels]:
    """Class numbers of the outcomes of reports on K classes, and their labels.

    >>> encode_outcomes([2, 1, 1], 2, positive=2)
    (array([1, 0, 0]), Labels(names=(1, 2)))
    """
    given = check_labels(outcomes)
    if classes > 2:
        return _numbered(given, classes, positive)
    if given.dtype.kind in "bui" and positive is None and given.size:
        if given.min() >= 0 and given.max() <= 1:  # the usual labels, at full speed
            names = (False, True) if given.dtype.kind == "b" else (0, 1)
            return given.astype(np.int64, copy=False), Labels(names)
    found = np.unique(given).tolist()
    if len(found) == 1:
        labels = _with_other(found[0], positive)
        return labels.encode(given), labels
    if len(found) > 2:
        raise OutcomeError(
            "reports of one probability per agent need two outcome labels; there are "
            f"{len(found)}: {format_labels(found)}. Leave the outcome "
            "empty where it is not known yet, merge the labels into two, or give one "
            "probability per class."
        )
    labels = Labels.from_outcomes(given, positive)
    return labels.encode(given), labels


def _numbered(given: Array, classes: int, positive: Any) -> tuple[IntArray, Labels]:
    if positive is not None:
        raise OutcomeError(
            f"a positive label requires two classes; got {positive!r} with reports "
            f"of {classes} classes. Leave it out."
        )
    numbers = given if given.dtype.kind in "bui" else np.full(len(given), -1)
    wrong = (numbers < 0) | (numbers >= classes)
    if wrong.any():
        t = int(np.argmax(wrong))
        raise OutcomeError(
            f"an outcome must be one of the whole numbers 0..{classes - 1}, because "
            f"the reports are of {classes} classes; got {given[t].item()!r} in case "
            f"{t}. Number the labels in the order of the reports."
        )
    return numbers.astype(np.int64, copy=False), Labels.from_count(classes)


def check_labels(outcomes: ArrayLike) -> Array:
    """Labels as whole numbers, booleans or text, none of them missing.

    >>> check_labels(np.array(["no", "yes"], dtype=object))
    array(['no', 'yes'], dtype='<U3')
    >>> check_labels([1.0, 0.0])
    array([1, 0])
    """
    try:
        labels = np.asarray(outcomes)
    except ValueError:
        raise OutcomeError(
            "there must be one label per case; got rows of different lengths"
        ) from None
    if labels.ndim != 1:
        raise OutcomeError(
            f"there must be one label per case; got an array of shape {labels.shape}"
        )
    if labels.dtype.kind in "TO":
        gaps = np.array([v is None or v != v for v in labels.tolist()], dtype=bool)
        labels = labels if gaps.any() else _of_one_kind(labels.tolist())
    else:
        gaps = np.isnan(labels) if labels.dtype.kind == "f" else np.array([False])
    if gaps.any():
        raise OutcomeError(
            f"every case needs a label; {case_name(int(np.argmax(gaps)))} has none. "
            "Leave out the cases whose outcome is not known yet."
        )
    if labels.dtype.kind == "f":
        return _whole(labels)
    if labels.dtype.kind == "S":
        return _decode(labels)
    if labels.dtype.kind not in "buiU" and len(labels):
        raise OutcomeError(
            "a label must be a whole number or text; got "
            f"{labels.tolist()[0]!r:.60} in {case_name(0)}"
        )
    return labels


def _decode(labels: Array) -> Array:
    try:
        return np.char.decode(labels, "utf-8")
    except UnicodeDecodeError as error:
        raise OutcomeError(
            f"a label must be UTF-8 text; got {error.object!r:.60}. Save the table as "
            "UTF-8."
        ) from None


def _of_one_kind(labels: list[Any]) -> Array:
    """Labels of a list as an array; numpy alone would turn numbers among text."""
    text = [isinstance(label, str) for label in labels]
    if any(text) and not all(text):
        t = text.index(not text[0])
        raise OutcomeError(
            "labels must be all text or all numbers; got "
            f"{labels[0]!r} in {case_name(0)} and {labels[t]!r} in {case_name(t)}"
        )
    return np.asarray(labels)


def _whole(labels: Array) -> Array:
    """Whole numbers that arrived as floats."""
    exact = np.abs(labels) < 2**53  # beyond, neighbours share a number
    wrong = ~exact | (labels != np.floor(labels))
    if wrong.any():
        t = int(np.argmax(wrong))
        raise OutcomeError(
            f"a label must be a whole number or text; got {labels[t].item()!r:.60} in "
            f"{case_name(t)}. Name the column of outcomes (outcome), not one of "
            "reports."
        )
    return labels.astype(np.int64)


def one_class_error(user: str, label: Any) -> OutcomeError:
    """Return the refusal of outcomes that are all the same."""
    return OutcomeError(
        f"{user} needs cases of at least two classes; every outcome is {label!r}. Add "
        "cases with another outcome."
    )


def _with_other(only: Any, positive: Any) -> Labels:
    """Labels where one of two occurs: the other is 0 or 1, or named as positive.

    A name close to the one that occurs is taken for a mistake in writing.
    """
    wanted = positive
    if not isinstance(only, str) and isinstance(positive, str):
        wanted = int(positive) if positive.lstrip("-").isdecimal() else None
    usual = (False, True) if isinstance(only, bool) else (0, 1)
    if only in usual and (wanted in usual or isinstance(only, bool)):
        return Labels.of_two(*usual, positive)
    if wanted is None or is_meant(only, wanted):
        raise OutcomeError(
            f"both of two outcome labels must be known; every outcome is {only!r}, and "
            "the other label is unknown. Add cases with the other outcome, or call the "
            "labels 0 and 1."
        )
    if suggestion(str(wanted), [str(only)]):
        raise _unknown(positive, [only])
    return Labels((only, wanted))


def format_labels(labels: Iterable[Any]) -> str:
    """Name labels as code writes them; of very many, the first ones.

    >>> format_labels([1, 2]), format_labels(range(9))
    ('1, 2', '0, 1, 2, 3, 4, 5 and 3 others')
    """
    return format_names([repr(label) for label in labels])


def format_names(names: Sequence[str]) -> str:
    """List names as they are; of very many, the first ones.

    >>> format_names(["rf", "gbm"]), format_names(list("abcdefg"))
    ('rf, gbm', 'a, b, c, d, e, f and 1 other')
    """
    rest = len(names) - MAX_SHOWN
    first = ", ".join(names[:MAX_SHOWN])
    return f"{first} and {pluralize(rest, 'other')}" if rest > 0 else first


def format_choice(labels: Iterable[Any]) -> str:
    """Name what a label may be.

    >>> format_choice(["no", "yes"]), format_choice([0, 1, 2])
    ("'no' or 'yes'", 'one of 0, 1, 2')
    """
    known = list(labels)
    return (
        " or ".join(map(repr, known))
        if len(known) == 2
        else f"one of {format_labels(known)}"
    )


def is_meant(label: Any, wanted: Any) -> bool:
    """Whether this label is meant; the command line knows text only."""
    if isinstance(label, str):
        return bool(label == str(wanted))
    if isinstance(wanted, str):
        if isinstance(label, bool) and wanted.casefold() == str(label).casefold():
            return True
        try:
            return bool(float(wanted) == label)
        except ValueError:
            return False
    return bool(label == wanted)


def _unknown(positive: Any, labels: Sequence[Any]) -> OutcomeError:
    hint = suggestion(str(positive), map(str, labels))
    return OutcomeError(
        f"the positive label must be {format_choice(labels)}; got {positive!r}{hint}"
    )
