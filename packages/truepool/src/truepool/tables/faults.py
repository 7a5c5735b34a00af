"""What is wrong with a table, and what it cannot say: values, shown together.

A `Fault` names what must not be, where, and the cures that exist; a `Question` names
the key of `Declared` that answers it; a `Note` says what was done. Words come last.
"""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from truepool.core.arrays import BoolArray, IntArray
from truepool.core.errors import PanelError
from truepool.core.sentences import (
    PYTHON,
    Voice,
    join,
    key_name,
    say,
    setting,
    settings,
)

MOST_SHOWN = 20
"""So many faults of a table are shown; the others are counted."""


@dataclass(frozen=True)
class Place:
    """Where a person finds a row: line 5 of a file, row 5 of a sheet, case 'q1'."""

    unit: str
    number: Any

    def sentence(self, voice: Voice = PYTHON) -> str:
        """Say where it is."""
        return say("place", self.unit, {"number": self.number}, voice)


@dataclass(frozen=True)
class Cure:
    """What can be done about a fault; with a ``key``, what it may be set to."""

    action: str
    key: str = ""
    value: Any = None

    def sentence(self, voice: Voice = PYTHON) -> str:
        """Say what to do."""
        fields = {"key": self.key, "value": self.value}
        if self.key:
            fields["set"] = setting(self.key, self.value, voice)
            fields["name"] = key_name(self.key, voice)
        return say("cure", self.action, fields, voice)


@dataclass(frozen=True)
class Note:
    """What was done with a table, and to how many of its rows, without being asked."""

    code: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    warning: bool = False

    def sentence(self, voice: Voice = PYTHON) -> str:
        """Say what was done."""
        fields = dict(self.fields)
        if "key" in fields:
            fields["set"] = setting(fields["key"], fields.get("value"), voice)
        return say("note", self.code, fields, voice)


@dataclass(frozen=True)
class Fault:
    """What must not be in a table: the first row of its kind, and how many there are.

    ``found`` is the cell as the table has it; ``total`` counts the cells looked at;
    ``fields`` has what is special to the code.
    """

    code: str
    column: str | None = None
    agent: str | None = None
    row: int | None = None
    place: Place | None = None
    found: Any = None
    count: int = 1
    total: int | None = None
    cures: tuple[Cure, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)

    def sentence(self, voice: Voice = PYTHON) -> str:
        """Say what is wrong, where, and how it is cured."""
        place = "" if self.place is None else self.place.sentence(voice)
        own = {
            "place": place,
            "where": f" in {place}" if place else "",
            "column": self.column,
            "agent": self.agent,
            "found": self.found,
            "count": self.count,
            "total": self.total,
            "who": self.column if self.agent is None else self.agent,
        }
        text = say("fault", self.code, {**own, **self.fields}, voice)
        cures = "; ".join(cure.sentence(voice) for cure in self.cures)
        return f"{text}. {cures[:1].upper()}{cures[1:]}." if cures else f"{text}."


@dataclass(frozen=True)
class Question:
    """What a table cannot say: the key that answers, and what may be chosen.

    A choice is a value of the ``key``, or a mapping with the keys that it sets.
    ``about`` says of each choice what it means, or how many rows speak for it. The
    choice ``free``, if there is one, stands for any value, and looks like one.
    """

    code: str
    key: str
    choices: tuple[Any, ...] = ()
    column: str | None = None
    about: tuple[str | Note, ...] = ()
    free: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plain = tuple(
            each[self.key]
            if isinstance(each, Mapping) and [*each] == [self.key]
            else each
            for each in self.choices
        )
        object.__setattr__(self, "choices", plain)

    def sentence(self, voice: Voice = PYTHON) -> str:
        """Ask, and say which keys answer."""
        return f"{self.text(voice)} {self.answer(voice)}"

    def text(self, voice: Voice = PYTHON) -> str:
        """Ask."""
        own = {"column": self.column, "key": self.key, "choices": self.choices}
        return say("question", self.code, {**own, **self.fields}, voice)

    def answer(self, voice: Voice = PYTHON) -> str:
        """Say which keys answer."""
        parts = []
        for keys, about in self.answers(voice)[:MOST_SHOWN]:
            spelled = settings(keys, voice)
            parts.append(f"{spelled} ({about})" if about else spelled)
        return f"{join(parts, 'or')}."

    def answers(self, voice: Voice = PYTHON) -> list[tuple[Mapping[str, Any], str]]:
        """What may be set, and what it means."""
        about = [a.sentence(voice) if isinstance(a, Note) else a for a in self.about]
        about += ["" for _ in self.choices]
        return [
            (choice if isinstance(choice, Mapping) else {self.key: choice}, why)
            for choice, why in zip(self.choices, about, strict=False)
        ]


class TableFaults(PanelError):  # noqa: N818 - several
    """A table that cannot be read: every fault that was found, and what is not known.

    >>> error = TableFaults([Fault("no-rows", place=Place("file", "a.csv"))])
    >>> print(error)
    the table has no row below its header in a.csv.
    """

    voice: Voice | None = None
    """What is called a case, an agent and a report, where they have other names."""

    def __init__(
        self,
        faults: Iterable[Fault] = (),
        questions: Iterable[Question] = (),
        table: str = "",
    ) -> None:
        self.faults, self.questions = tuple(faults), tuple(questions)
        self.table = table
        super().__init__(self.faults, self.questions, table)

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the faults and of the questions, in the order they are shown."""
        faults = tuple(fault.code for fault in self.faults)
        return (*faults, *(question.code for question in self.questions))

    def in_words_of(self, voice: Voice) -> Self:
        """Return the refusal in which cases, agents and reports have other names."""
        found = copy(self)
        found.voice = voice
        return found

    def lines(self, voice: Voice = PYTHON) -> list[str]:
        """Say what is wrong and what is asked, one sentence each."""
        if self.voice is not None:
            voice = replace(self.voice, dialect=voice.dialect)
        shown = [fault.sentence(voice) for fault in self.faults[:MOST_SHOWN]]
        more = len(self.faults) - len(shown)
        if more:
            shown.append(say("note", "more-faults", {"count": more}, voice))
        shown += [question.sentence(voice) for question in self.questions]
        return shown

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(eq=False)
class FaultList:
    """Faults of a table while it is read: one of a kind, with its count.

    Rows are numbers until the table is known to the end; `raise_all` names them.
    """

    found: dict[tuple[Any, ...], Fault] = field(default_factory=dict)

    def add(self, fault: Fault) -> None:
        """Add a fault; one of the same kind only counts."""
        kind = fault.code, fault.column if fault.agent is None else fault.agent
        known = self.found.get(kind)
        if known is None:
            self.found[kind] = fault
        else:
            total = None if known.total is None else known.total + (fault.total or 0)
            count = known.count + fault.count
            self.found[kind] = replace(known, count=count, total=total)

    def refuse(self, code: str, *cures: Cure, **settings: Any) -> None:
        """Add a fault by its code and cures."""
        self.add(Fault(code, cures=cures, **settings))

    def add_rows(
        self,
        code: str,
        wrong: BoolArray,
        found: Callable[[int], Any],
        first: int | IntArray = 0,
        total: int | None = None,
        **settings: Any,
    ) -> None:
        """Add a fault of the rows that are ``wrong`` (T,).

        ``first`` is the number of the first one, or has that of each.
        """
        count = int(np.count_nonzero(wrong))
        if count:
            row = int(np.argmax(wrong))
            number = first + row if isinstance(first, int) else int(first[row])
            self.add(
                Fault(
                    code,
                    row=number,
                    found=found(row),
                    count=count,
                    total=total,
                    **settings,
                )
            )

    def __bool__(self) -> bool:
        return bool(self.found)

    def placed(self, place: Callable[[int], Place]) -> tuple[Fault, ...]:
        """Return the faults with the places of their rows."""
        return tuple(
            fault
            if fault.row is None or fault.place is not None
            else replace(fault, place=place(fault.row))
            for fault in self.found.values()
        )

    def raise_all(
        self,
        place: Callable[[int], Place],
        table: str = "",
        questions: Iterable[Question] = (),
    ) -> None:
        """Refuse the table if anything is wrong with it, or asked."""
        questions = tuple(questions)
        if self.found or questions:
            raise TableFaults(self.placed(place), questions, table)


def refusal(code: str, path: Path | str, *cures: Cure, **settings: Any) -> TableFaults:
    """Return the refusal of a file; what no fault has is special to the code."""
    own = {n: v for n, v in settings.items() if n in Fault.__dataclass_fields__}
    fields = {n: v for n, v in settings.items() if n not in own}
    place = Place("file", str(path))
    fault = Fault(code, place=place, cures=cures, fields=fields, **own)
    return TableFaults([fault], table=Path(path).name)
