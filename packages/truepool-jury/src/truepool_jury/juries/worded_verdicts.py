"""Verdicts in words: yes and no, pass and fail, as the labels of the outcome say."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from truepool.core.formatting import is_number
from truepool.tables import Cure, Declared, Fault, Question, TableFaults, cells
from truepool.tables.faults import FaultList
from truepool.tables.outcome import order_labels
from truepool.tables.read import Answer
from truepool.tables.source import Source

PAIRS = (
    ("no", "yes"), ("n", "y"), ("false", "true"), ("fail", "pass"),
    ("failed", "passed"), ("incorrect", "correct"), ("wrong", "right"), ("bad", "good"),
)  # fmt: skip
"""Words that a column of verdicts is known by where no label says what they are."""
MIN_JUDGES = 2
"""So many columns of numbers are a jury, so that one in words has the labels."""


@dataclass(frozen=True, eq=False)
class Text:
    """A column of text: its cells, and how often each word that is no number occurs.

    Words are in lower case; ``spelled`` has each as it is first written.
    """

    cells: list[str | None]
    counts: Counter[str]
    spelled: Mapping[str, str]

    @classmethod
    def of(cls, column: Any, missing: Sequence[str]) -> "Text | None":
        """Return a column of text that has words; None of any other."""
        plain = cells.plain(column)
        if not cells.is_text(plain):
            return None
        text = cells.trim(plain, missing)
        found = text.to_pylist()
        if cells.truth_values(text) is not None:
            return None
        words = [cell for cell in found if cell is not None and not _is_number(cell)]
        counts = Counter(word.casefold() for word in words)
        spelled: dict[str, str] = {}
        for word in words:
            spelled.setdefault(word.casefold(), word)
        return cls(found, counts, spelled) if words else None

    def mostly(self, words: Iterable[str]) -> bool:
        """Whether at least half of the cells are such words."""
        known = sum(cell is not None for cell in self.cells)
        return 2 * sum(self.counts[word.casefold()] for word in words) >= known

    def one_of_each(self, items: Sequence[Any]) -> bool:
        """Whether an item has the same word in all rows, gaps aside."""
        pairs = zip(items, self.cells, strict=True)
        told = {(item, cell.casefold()) for item, cell in pairs if cell is not None}
        return len(told) == len({item for item, _ in told})


def _is_number(cell: str) -> bool:
    return is_number(cell.rstrip("%").replace(",", "."))


@dataclass(frozen=True, eq=False)
class NumberedWords:
    """Rows with 1 and 0 for words, what is wrong with them and what is not known."""

    rows: pa.Table
    declared: Declared
    faults: tuple[Fault, ...] = ()
    questions: tuple[Question, ...] = ()


def number_words(
    source: Source,
    rows: pa.Table,
    declared: Declared,
    columns: Sequence[str],
    answer: Answer,
) -> NumberedWords:
    """Write 1 and 0 for the two labels, where verdicts are words.

    The positive one is 1. The words are the labels of the outcome or, where these are
    numbers or there are none, the two that the verdicts are. The ``columns`` may hold
    verdicts, and do where the user says so.
    """
    long = isinstance(declared.long, tuple)
    named = long or bool(declared.agents)
    missing, outcome = declared.missing, declared.outcome
    texts = {name: Text.of(rows.column(name), missing) for name in columns}
    labels = None
    if outcome is not None and outcome in rows.column_names:
        labels = Text.of(rows.column(outcome), missing)
    known = [*labels.spelled.values()] if labels else []
    found = {name: text for name, text in texts.items() if text is not None}
    pairs = _usual_pairs(found, known, declared.positive)
    worded = {
        name: text for name, text in found.items()
        if any(map(text.mostly, pairs)) or (named and text.mostly(text.counts))
    }  # fmt: skip
    if not worded:
        return NumberedWords(rows, declared)
    pair = _pair(source, worded, str(outcome), known)
    about = str(outcome) if labels else next(iter(worded))
    declared, ordered, questions = _order(source, pair, about, declared, answer)
    faults = FaultList()
    for name, text in worded.items():
        column = _numbers(name, text, ordered, faults, wide=not long)
        rows = rows.set_column(rows.column_names.index(name), name, column)
    # Labels 0 and 1 say themselves which one is positive.
    declared = replace(declared, positive=ordered[1] if labels else None)
    return NumberedWords(rows, declared, faults.placed(source.place), questions)


def find_labels(
    rows: pa.Table, declared: Declared, verdicts: Sequence[str], others: Sequence[str]
) -> str | None:
    """Column of the labels where nobody names it: the only one in words of verdicts.

    In a wide table, it stands beside two columns of numbers or more; in a long one it
    is one of the ``others``, and has one word for each item.
    """
    long = declared.long if isinstance(declared.long, tuple) else None
    if long and long[0] not in rows.column_names:
        return None  # the fault comes later
    texts = {n: Text.of(rows.column(n), declared.missing) for n in (*verdicts, *others)}
    found = {name: text for name, text in texts.items() if text is not None}
    usual: list[str] = []
    if long:
        usual = [w for name in verdicts if name in found for w in found[name].counts]
        items = cells.plain(rows.column(long[0])).to_pylist()
        found = {name: text for name, text in found.items()
                 if name in others and text.one_of_each(items)}  # fmt: skip
    elif len(texts) - len(found) < MIN_JUDGES:
        return None
    pairs = _usual_pairs(found, usual, declared.positive)
    labels = [name for name, text in found.items()
              if len(text.counts) == 2 and any(map(text.mostly, pairs))]  # fmt: skip
    return labels[0] if len(labels) == 1 else None


def _usual_pairs(
    texts: Mapping[str, Text], labels: Sequence[str], positive: Any
) -> list[Iterable[str]]:
    """Return the words that columns of verdicts are known by.

    They are the labels, the usual pairs, and two words of which one is positive.
    """
    sign = str(positive).strip().casefold()
    own = {word for text in texts.values() for word in text.counts
           if sign in text.counts and len(text.counts) == 2}  # fmt: skip
    return [words for words in (labels, own, *PAIRS) if words]


def _pair(
    source: Source, worded: Mapping[str, Text], outcome: str, labels: list[str]
) -> list[str]:
    """Return the words that stand for the two labels, as they are written."""
    if len(labels) > 1:
        for name, text in worded.items():
            if not text.counts.keys() & {label.casefold() for label in labels}:
                raise TableFaults([
                    Fault("words-differ", column=name, found=[*text.spelled.values()],
                          cures=(Cure("same-words"),),
                          fields={"other": outcome, "labels": labels})
                ], table=source.name)  # fmt: skip
        return labels
    found = {label.casefold(): label for label in labels}
    for text in worded.values():
        found = {**text.spelled, **found}
    usual = next((p for p in PAIRS if {*p} <= {*found} or {*found} <= {*p}), None)
    if usual is not None:
        return [found.get(word, word) for word in usual]
    if len(found) != 2:
        name, words = next(iter(worded)), [*found.values()]
        raise TableFaults([
            Fault("many-words", column=name, found=words,
                  cures=(Cure("no-report", "missing", words[2:] or words),))
        ], table=source.name)  # fmt: skip
    return [*found.values()]


def _order(
    source: Source, pair: list[str], column: str, declared: Declared, answer: Answer
) -> tuple[Declared, list[str], tuple[Question, ...]]:
    """Return the negative and the positive word; where nobody says, the question."""
    sign = str(declared.positive).strip().casefold()
    meant = next((word for word in pair if word.casefold() == sign), declared.positive)
    ordered, fault, question = order_labels(pair, meant, (), column)
    if question is not None:
        replies = answer((question,))
        if "positive" not in replies:
            return declared, pair, (question,)
        return _order(source, pair, column, declared.with_keys(replies), answer)
    if fault is not None:
        raise TableFaults((fault,), table=source.name)
    return declared, ordered, ()


def _numbers(
    name: str, text: Text, ordered: Sequence[str], faults: FaultList, *, wide: bool
) -> pa.Array:
    """Return a column with 0 and 1 for the words; note what is another word."""
    values = {word.casefold(): str(k) for k, word in enumerate(ordered)}
    cell_words = [cell if cell is None or _is_number(cell) else cell.casefold()
                  for cell in text.cells]  # fmt: skip
    other = [word for word in text.counts if word not in values]
    cures = [
        Cure("fix"),
        Cure("no-report", "missing", [text.spelled[w] for w in other]),
    ]
    if wide:
        cures.append(Cure("leave-out", "ignore", [name]))
    wrong = np.array([word is not None and word in other for word in cell_words])
    faults.add_rows("word-unknown", wrong, lambda t: text.cells[t], column=name,
                    fields={"words": [*ordered]}, cures=tuple(cures))  # fmt: skip
    refused = {*other}  # once is enough
    numbers = [None if word is None or word in refused else values.get(word, word)
               for word in cell_words]  # fmt: skip
    return pa.array(numbers, pa.string())
