"""What the columns of a table are: what the user declares, and one look at the rows.

What the rows show beyond doubt is taken. What they cannot say, such as which of two
labels is positive, is a question; all questions are asked at once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core.arrays import FloatArray, IntArray
from truepool.panel.labels import is_meant
from truepool.tables import cells
from truepool.tables.decode import SUM_EDGE
from truepool.tables.faults import Cure, Fault, FaultList, Note, Question
from truepool.tables.schema import (
    EVERY,
    PROBABILITY,
    TIME_WEIGHTED,
    Declared,
    Schema,
    Unit,
    is_chosen,
)
from truepool.tables.source import INDEXES, Source, column_fault

OUTCOMES = ("y", "outcome", "label", "target", "truth", "class", "result")
"""What a column is called that is the outcome, where several could be."""
MOST_LABELS = 1_000
"""So many different values are no labels."""
FEW_LABELS = 20
"""A column of text with more values says what cases have in common."""
PLAIN = ([0, 1], [False, True])
"""Labels that say themselves which of them is positive."""
LOOKED_AT = 1_000
"""Cells that say whether a column of text holds numbers or times."""
NUMERIC = r"^[-+]?(?:\d+|\d{1,3}(?:[.,]\d{3})+)?(?:[.,]\d+)?(?:[eE][-+]?\d+)?\s*%?$"
JOINTS = (" ", "_", ".", "-")
"""What may join an agent and a class in the name of a column, beside a colon."""
FEWEST_JOINED = 3
"""Classes from which such names are looked for: of two, agents give one number."""
ID_ROWS = 20
"""So many different whole numbers are ids, or the like."""
MOST_SCORE, FEWEST_SCORES = 10, 5
"""Whole numbers and halves up to the first are more often scores than percentages, if
there are as many as the second."""
ID = "id"
"""What the column of ids is called, whatever it looks like."""
SHOWN = 5
"""So many labels that are too many are named."""
LONG = ("case", "agent", "report")
"""What the columns of a long table are called where several could be meant."""


@dataclass(frozen=True, eq=False)
class Look:
    """What one column holds; ``numbers`` are there if half of its cells are."""

    name: str
    column: pa.Array
    numbers: cells.Numbers | None = None

    @cached_property
    def text(self) -> pa.Array | None:
        """Cells as text, None where they have a type."""
        return cells.trim(self.column) if cells.is_text(self.column) else None

    @cached_property
    def known(self) -> FloatArray:
        """The numbers that there are."""
        values = np.zeros(0) if self.numbers is None else self.numbers.values
        gone = np.isnan(values)
        return values[~gone] if gone.any() else values

    @cached_property
    def distinct(self) -> list[Any]:
        """Different values, in the order of the rows."""
        column = self.column if self.text is None else self.text
        if pa.types.is_nested(column.type):
            return []
        return pc.unique(column).drop_null().to_pylist()  # type: ignore[no-any-return]

    @property
    def rows(self) -> int:
        """Number of rows, T."""
        return len(self.column)

    @cached_property
    def complete(self) -> bool:
        """Whether no cell is empty."""
        return not cells.is_empty(self.column).any()

    @cached_property
    def whole(self) -> bool:
        """Whether the numbers are whole."""
        first, n = self.known[:LOOKED_AT], self.known
        if not len(n) or (first != np.floor(first)).any():
            return False
        return bool((n == np.floor(n)).all())

    @cached_property
    def binary(self) -> bool:
        """Whether the numbers are 0 and 1, and no other."""
        n = self.known
        return bool(len(n) and n.min() >= 0 and n.max() <= 1 and self.whole)

    @cached_property
    def signed(self) -> bool:
        """Whether numbers carry a percent sign."""
        return self.numbers is not None and bool(
            self.numbers.signed is not None and self.numbers.signed.any()
        )

    @cached_property
    def is_key(self) -> bool:
        """Whether every row has a value of its own: text, or a whole number."""
        if not self.complete or self.is_time or pa.types.is_nested(self.column.type):
            return False
        if self.numbers is not None and not (self.whole and self.rows >= ID_ROWS):
            return False
        if len(self.distinct) != self.rows:
            return False
        return self.text is None or self.numbers is not None or self._is_name

    @property
    def _is_name(self) -> bool:
        """Whether text is neither amounts nor, but for a few cells, times."""
        first = self.distinct[:LOOKED_AT]
        found = cells.amounts(pa.array(first, pa.string()))
        most = np.count_nonzero(np.isnan(found.values)) > len(first) / 2
        return bool(most) and not cells.likely_formats(first)

    @cached_property
    def is_class(self) -> bool:
        """Whether a cell holds one number per class."""
        return bool(pa.types.is_nested(self.column.type))

    @cached_property
    def is_report(self) -> bool:
        """Whether these are probabilities, or percentages with their sign.

        At least half of the numbers lie in [0, 1]. Counts do not, as whole numbers
        above 1 show, and a number for each row is an id.
        """
        if self.numbers is None or self.is_key or not len(self.known):
            return self.is_class
        if self.signed:
            return True
        inside = np.count_nonzero((self.known >= 0) & (self.known <= 1))
        counts = self.whole and self.known.max() > 1
        return bool(not counts and 2 * inside >= len(self.known))

    @cached_property
    def has_unit(self) -> bool:
        """Whether the numbers may be reports in a unit that nobody has declared."""
        if self.numbers is None or self.is_key or self.is_report or not len(self.known):
            return False
        return bool(self.known.min() >= 0 and self.known.max() <= 100)

    @cached_property
    def formats(self) -> tuple[str, ...]:
        """Ways in which every cell can be read as a time; "" has none to choose."""
        if cells.is_time_type(self.column):
            return ("",)
        if self.text is None or self.numbers is not None:
            return ()
        first = self.text.drop_null()[:LOOKED_AT].to_pylist()
        if not first or not cells.time_formats(first):
            return ()
        return cells.time_formats(self.distinct)

    @cached_property
    def is_time(self) -> bool:
        """Whether all cells are times."""
        return bool(self.formats) and not cells.is_empty(self.column).any()

    @cached_property
    def codes(self) -> IntArray:
        """The number of each row's value, -1 where there is none."""
        column = self.column if self.text is None else self.text
        coded = pc.dictionary_encode(column)
        return np.asarray(pc.fill_null(coded.indices, -1), dtype=np.int64)

    def labels(self, missing: Sequence[str]) -> list[Any]:
        """Return the labels that the cells are, at most `MOST_LABELS` of them."""
        if self.is_class or cells.is_time_type(self.column):
            return []
        found = pc.unique(cells.labels(self.column, missing)).drop_null()
        return found[: MOST_LABELS + 1].to_pylist()  # type: ignore[no-any-return]


def look_at(
    table: pa.Table, missing: Sequence[str], decimal: str | None = None
) -> tuple[dict[str, Look], str | None]:
    """Look at every column of a table, and find its decimal mark where it has one."""
    columns = {
        n: cells.plain(c)
        for n, c in zip(table.column_names, table.columns, strict=True)
        if n not in INDEXES
    }
    mark = decimal or decimal_mark(table, missing)
    looks = {}
    for name, column in columns.items():
        given = None
        if name != ID and (
            cells.is_number_type(column) or _is_numeric(column, missing)
        ):
            given = cells.numbers(column, mark or ".", missing)
            if cells.is_text(column) and np.isnan(given.values).all():
                given = None  # amounts with a currency
        looks[name] = Look(name, column, given)
    return looks, mark


def decimal_mark(table: pa.Table, missing: Sequence[str]) -> str | None:
    """Return the decimal mark that most columns of text show; None where none does.

    Columns of plain numbers, with a point or none, are read by either mark.
    """
    columns = (
        cells.plain(c)
        for n, c in zip(table.column_names, table.columns, strict=True)
        if n != ID and not cells.is_number_type(c)
    )
    texts = [c for c in columns if cells.is_text(c) and _is_numeric(c, missing)]
    texts = [c for c in texts if not cells.is_plain(c, missing)]
    votes = Counter(filter(None, (_usual_mark(cells.bare(c, missing)) for c in texts)))
    return votes.most_common(1)[0][0] if votes else None


def _usual_mark(text: pa.Array) -> str | None:
    """Return the decimal mark that a column shows, of two the one of more cells."""
    marks = sorted(cells.decimal_marks(text) - {"?"}, reverse=True)
    last = [pc.match_substring_regex(text, rf"[{m}]\d*\s*%?$") for m in marks]
    counts = [pc.sum(each).as_py() or 0 for each in last]
    return marks[int(np.argmax(counts))] if marks else None


def _is_numeric(column: pa.Array, missing: Sequence[str]) -> bool:
    """Whether at least half of the first cells of text are numbers."""
    if not cells.is_text(column):
        return False
    text = cells.bare(column[:LOOKED_AT], missing).drop_null()
    if len(text) < LOOKED_AT < len(column):  # some of the first are empty
        text = cells.bare(column, missing).drop_null()[:LOOKED_AT]
    fits = pc.sum(pc.match_substring_regex(text, NUMERIC)).as_py() or 0
    return bool(len(text)) and 2 * fits >= len(text)


@dataclass(eq=False)
class Inference:
    """A schema in the making: columns that are still open, notes, questions, faults."""

    declared: Declared
    looks: dict[str, Look]
    table: str
    open: dict[str, Look] = field(init=False)
    notes: list[Note] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    faults: FaultList = field(default_factory=FaultList)

    def __post_init__(self) -> None:
        self.open = dict(self.looks)

    def take(self, *names: str | None) -> None:
        """Give columns a role, so that they can have no other."""
        for name in names:
            self.open.pop(name or "", None)

    def name_usual(self, key: str) -> str | None:
        """Take the column that is named for a role, or is called like it."""
        name: str | None = vars(self.declared)[key]
        if name is None and key in self.open:
            name = key
        self.take(name)
        return name if name in self.looks else None

    def ask(self, code: str, key: str, choices: Iterable[Any], **settings: Any) -> None:
        """Ask about a key."""
        self.questions.append(Question(code, key, tuple(choices), **settings))

    def refuse(self, code: str, **settings: Any) -> None:
        """Note a fault."""
        self.faults.add(Fault(code, **settings))

    def has(self, *codes: str) -> bool:
        """Whether one of these faults was noted."""
        return any(fault.code in codes for fault in self.faults.found.values())


def infer(
    source: Source,
    declared: Declared,
    table: pa.Table | None = None,
    *,
    labelled: bool = True,
    labels_of: Callable[[str], list[Any]] | None = None,
) -> tuple[Schema, Inference]:
    """Find out what the columns are; ``labelled`` tables must have an outcome.

    Of others only a column that is named, or has a usual name, is one; it may be empty.
    Where the rows are not all there are, ``labels_of`` returns the labels of a column.
    The schema is complete only where there are neither faults nor questions.
    """
    rows = source.table() if table is None else table
    looks, mark = look_at(rows, declared.missing, declared.decimal)
    found = Inference(declared, looks, source.name)
    _check_roles(found)
    found.take(*(n for n in source.keys if not is_chosen(n, declared.agents)))
    formats: dict[str, str] = {}
    id, time = (found.name_usual(key) for key in ("id", "time"))
    if id is not None and found.looks[id].is_class:
        found.refuse("plain-values", column=id, cures=(Cure("name-other"),))
    by_class, long = _class_columns(found), None
    if declared.long is not False and not by_class:
        long = _long(found)
    if declared.decision_time and long is None and not found.questions:
        found.refuse("not-long", cures=(Cure("name-columns", "long"),))
    if not {*(long or ())} <= {*looks}:
        return Schema(), found  # nothing else can be said
    found.take(*(long or ()))
    outcome = _outcome(found, by_class, long, labelled=labelled)
    found.take(outcome)
    labels = _labels(found, outcome, labels_of)
    by_class = by_class or _joined_columns(found, labels)
    agents, reports, classes = _agents(found, by_class, labels, long)
    for own in reports.values():
        found.take(*own)
    id = None if long else id or _id(found)
    time = time or _time(found, long)
    found.take(id, time)
    for name in (time, declared.decision_time):
        _format(found, name, formats)
    _ask_late(found, long, time, formats)
    units = _units(found, agents, reports, long)
    wrong = not agents or found.has("many-labels", "classes-differ")
    if outcome is not None and (labels or labelled) and not wrong:
        labels = _order(found, outcome, labels, classes)
        if classes and labels:
            place = [[*classes].index(str(label)) for label in labels]
            reports = {
                a: own if len(own) == 1 else tuple(own[k] for k in place)
                for a, own in reports.items()
            }
            classes = tuple(classes[k] for k in place)
    schema = Schema(
        agents,
        reports,
        classes,
        units,
        outcome,
        tuple(labels),
        id,
        time,
        declared.weight,
        declared.group,
        declared.propensity,
        declared.columns,
        long,
        declared.decision_time,
        declared.updates,
        declared.missing,
        mark,
        formats,
        tuple(found.open),
        _signed(found, reports, long, agents),
    )
    return schema, found


def infer_asking(
    look: Callable[[Declared], tuple[Schema, Inference]],
    declared: Declared,
    answer: Callable[[Sequence[Question]], Mapping[str, Any]],
) -> tuple[Schema, Inference]:
    """Find out what the columns are, and ask as long as answers lead to new questions.

    Which column is the outcome must be known before its positive label is asked for.
    """
    schema, found = look(declared)
    while found.questions and not found.faults and (more := answer(found.questions)):
        asked, declared = found.questions, declared.with_keys(more)
        schema, found = look(declared)
        if found.questions == asked:
            break
    return schema, found


def _signed(
    found: Inference,
    reports: Mapping[str, Sequence[str]],
    long: tuple[str, str, str] | None,
    agents: Sequence[str],
) -> tuple[str, ...]:
    """Agents whose reports carry percent signs."""
    if long is not None:
        look = found.looks.get(long[2])
        return tuple(agents) if look is not None and look.signed else ()
    return tuple(
        a
        for a, own in reports.items()
        if any(n in found.looks and found.looks[n].signed for n in own)
    )


def _check_roles(found: Inference) -> None:
    """Refuse columns that are declared and not there, or for two things."""
    declared, names = found.declared, [*found.looks]
    roles = declared.roles()
    for key, name in roles.items():
        if name not in names:
            found.faults.add(column_fault(key, name, names))
    for name in declared.columns:
        if name not in names:
            found.faults.add(column_fault("columns", name, names))
        elif found.looks[name].is_class:
            found.refuse("plain-values", column=name, cures=(Cure("name-other"),))
    twice = Counter(roles.values())
    for name, count in twice.items():
        if count > 1:
            keys = [key for key, own in roles.items() if own == name]
            found.refuse(
                "two-roles",
                column=name,
                fields={"keys": keys},
                cures=(Cure("name-other"),),
            )
    for name in declared.agents:
        if name in roles.values() or name in declared.columns:
            key = next((key for key, own in roles.items() if own == name), "columns")
            found.refuse(
                "two-roles",
                column=name,
                fields={"keys": ["agents", key]},
                cures=(Cure("name-other"),),
            )
    found.take(*roles.values(), *declared.columns)
    if not declared.long:
        named = {*declared.agents}
        found.take(
            *(
                n
                for n in names
                if n in declared.ignore
                or (n not in named and is_chosen(n, declared.ignore))
            )
        )
    if declared.updates == TIME_WEIGHTED and not declared.decision_time:
        found.refuse("no-decision-time", cures=(Cure("name-column", "decision-time"),))
    if declared.updates == TIME_WEIGHTED and declared.weight:
        found.refuse(
            "two-weights", column=declared.weight, cures=(Cure("unset", "weight"),)
        )


def _class_columns(found: Inference) -> dict[str, dict[str, str]]:
    """Columns ``agent:class`` by agent and class, where all agents have the same."""
    agents: dict[str, dict[str, str]] = {}
    for name, look in found.open.items():
        agent, colon, label = name.rpartition(":")
        if colon and agent.strip() and label.strip() and look.numbers is not None:
            agents.setdefault(agent.strip(), {})[label.strip()] = name
    several = {agent: own for agent, own in agents.items() if len(own) > 1}
    if not several or len(several) < len(agents):
        return {}
    apart = {name for own in several.values() for name in own.values()}
    plain = [
        n
        for n, look in found.open.items()
        if n not in apart and look.is_report and not (look.binary or look.is_class)
    ]
    if plain and not found.declared.agents:
        _check_one_each(found, several, plain[0])
        return {}
    usual = Counter(frozenset(own) for own in several.values()).most_common(1)[0][0]
    if not all(usual & {*own} for own in several.values()):
        return {}
    for agent, own in several.items():
        if {*own} != usual:
            fields = {
                "own": [f"{agent}:{label}" for label in own],
                "wanted": [f"{agent}:{label}" for label in sorted(usual)],
            }
            found.refuse(
                "classes-differ", agent=agent, cures=(Cure("rename"),), fields=fields
            )
    order = next(own for own in several.values() if {*own} == usual)
    return {a: {k: own.get(k, "") for k in order} for a, own in several.items()}


def _check_one_each(
    found: Inference, agents: Mapping[str, Mapping[str, str]], plain: str
) -> None:
    """Refuse two columns of one agent that sum to 1, beside agents with one column."""
    for agent, own in agents.items():
        numbers = [found.looks[name].numbers for name in own.values()]
        total = np.sum([n.values for n in numbers if n is not None], axis=0)
        if len(own) == 2 and np.nanmax(np.abs(total - 1), initial=0.0) <= SUM_EDGE:
            found.refuse(
                "one-or-classes",
                agent=agent,
                fields={"other": plain},
                found=[*own.values()],
                cures=(Cure("leave-out-class", "ignore", [[*own.values()][1]]),),
            )


def class_columns(names: Iterable[str], labels: Iterable[str]) -> dict[str, str]:
    """Return the names ``agent:class`` of columns ``rf_urgent`` or ``rf urgent``.

    Two or more agents must have a column for each of the same three or more labels.

    >>> names = ["id", "rf_low", "rf_mid", "rf_top", "nb_low", "nb_mid", "nb_top"]
    >>> found = class_columns(names, ["low", "mid", "top"])
    >>> found["nb_top"], len(found)
    ('nb:top', 6)
    """
    names, words = [*names], sorted(labels, key=len, reverse=True)
    if len(words) < FEWEST_JOINED or any(word.isdecimal() for word in words):
        return {}
    every = []
    for joint in JOINTS:
        agents: dict[str, list[str]] = {}
        own: dict[str, str] = {}
        for name in names:
            word = next((word for word in words if name.endswith(joint + word)), "")
            agent = name.removesuffix(joint + word)
            if word and agent:
                agents.setdefault(agent, []).append(word)
                own[name] = f"{agent}:{word}"
        classes = {frozenset(labels) for labels in agents.values()}
        if len(agents) > 1 and len(classes) == 1 and len(*classes) >= FEWEST_JOINED:
            every.append(own)
    return every[0] if len(every) == 1 else {}


def _joined_columns(
    found: Inference, labels: Sequence[Any]
) -> dict[str, dict[str, str]]:
    """Columns such as ``rf_urgent`` by agent and class."""
    numbers = [n for n, look in found.open.items() if look.numbers is not None]
    named = class_columns(numbers, [str(label) for label in labels])
    agents: dict[str, dict[str, str]] = {}
    for name, joined in named.items():
        agent, _, label = joined.rpartition(":")
        agents.setdefault(agent, {})[label] = name
    if named:
        name, joined = next(iter(named.items()))
        agent, _, label = joined.rpartition(":")
        found.notes.append(
            Note("class-columns", {"column": name, "agent": agent, "label": label})
        )
    order = next(iter(agents.values()), {})
    return {a: {k: own[k] for k in order} for a, own in agents.items()}


def _long(found: Inference) -> tuple[str, str, str] | None:
    """Columns of the case, the agent and the report; None of a wide table."""
    declared = found.declared
    if isinstance(declared.long, tuple):
        for name in declared.long:
            if name not in found.looks:
                found.faults.add(column_fault("long", name, [*found.looks]))
        return declared.long
    reports = [
        n
        for n, look in found.open.items()
        if look.is_report and not (look.binary or look.is_class)
    ]
    if len(reports) > 1 or declared.agents:
        return None
    pairs = _pairs(found, reports)
    # Of a column of two words, such as the outcome, a pair is the second choice.
    pairs = [p for p in pairs if len(found.looks[p[1]].distinct) > 2] or pairs
    named = [own for own in pairs if own == LONG]
    if len(pairs) > 1 and not named:
        found.ask("which-long", "long", pairs)
        return None
    return next(iter((*named, *pairs)), None)


def _pairs(found: Inference, reports: Sequence[str]) -> list[tuple[str, str, str]]:
    """Columns that could be the case, the agent and the report.

    Each case has two reports on average, or more. Where nothing looks like
    probabilities, numbers in another unit may be the reports, of agents in text.
    """
    keys = {
        n: look
        for n, look in found.open.items()
        if n not in reports
        and look.complete
        and not look.is_time
        and (look.numbers is None or look.whole)
        and not look.is_class
        and 2 <= len(look.distinct) < look.rows
    }
    possible = reports or [n for n, look in found.open.items() if look.has_unit]
    named = (found.declared.time, "time")
    times = [k for n, k in found.looks.items() if n in named or k.is_time]
    return [
        (case, agent, report)
        for report in possible
        for case, each in keys.items()
        for agent, other in keys.items()
        if case != report != agent
        and 2 * len(each.distinct) <= each.rows
        and len(each.distinct) > len(other.distinct)
        and (other.text is not None if not reports else not other.binary)
        and _are_keys([each, other], times)
    ]


def _are_keys(keys: Sequence[Look], times: Sequence[Look]) -> bool:
    """Whether two columns, or they and a time, tell the rows apart."""
    first, second = (look.codes for look in keys)
    pair = first * (second.max() + 1) + second
    rows = len(pair)
    if len(np.unique(pair)) == rows:
        return True
    if len(np.unique(pair)) <= len(np.unique(first)):
        return False
    return any(
        len(np.unique(pair * (time.codes.max() + 1) + time.codes)) == rows
        for time in times
    )


def _outcome(
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
        could = {n: look for n, look in could.items() if _is_constant(look, case)}
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


def _is_constant(look: Look, case: IntArray) -> bool:
    """Whether a column has one value per case; gaps aside."""
    known = look.codes >= 0
    pairs = np.unique(case[known] * (look.codes.max() + 1) + look.codes[known])
    return len(pairs) == len(np.unique(case[known]))


def _labels(
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


def _agents(
    found: Inference,
    by_class: Mapping[str, Mapping[str, str]],
    labels: Sequence[Any],
    long: tuple[str, str, str] | None,
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Agents, the columns of each, and the classes where there is one for each."""
    declared = found.declared
    if long is not None:
        owner = found.looks.get(long[1])
        if owner is not None:
            _check_spelling(found, owner)
        every = sorted({str(name) for name in owner.distinct}) if owner else []
        _check_patterns(found, [*every, *found.looks])
        chosen = [
            n
            for n in every
            if not is_chosen(n, declared.ignore)
            and (not declared.agents or is_chosen(n, declared.agents))
        ]
        return tuple(chosen), {}, ()
    _check_patterns(found, [*found.looks, *by_class])
    if by_class:
        own = {
            a: c
            for a, c in by_class.items()
            if not is_chosen(a, declared.ignore)
            and (not declared.agents or is_chosen(a, declared.agents))
        }
        classes = tuple(next(iter(own.values()), ()))
        _few_agents(found, [*own])
        return tuple(own), {a: tuple(c.values()) for a, c in own.items()}, classes
    if declared.agents:
        names = [n for n in found.open if is_chosen(n, declared.agents)]
    else:
        names = [
            n
            for n, look in found.open.items()
            if look.is_report or look.has_unit or _is_declared(look, declared)
        ]
    nested = [n for n in names if found.looks[n].is_class]
    if nested and len(nested) < len(names):
        other = next(n for n in names if n not in nested)
        found.refuse(
            "one-or-classes",
            agent=nested[0],
            fields={"other": other},
            found=nested[:1],
            cures=(Cure("write-alike"),),
        )
    classes = tuple(str(k) for k in sorted(labels, key=str)) if nested else ()
    sure = [
        n
        for n in names
        if declared.agents
        or not found.looks[n].has_unit
        or declared.unit(n) is not None
    ]
    if len(names) < 2 or not sure:
        _few_agents(found, sure)
    return tuple(names), {name: (name,) for name in names}, classes


def _is_declared(look: Look, declared: Declared) -> bool:
    """Whether a column has a declared unit, by its name or as its numbers fit."""
    unit = declared.unit(look.name)
    if unit in (None, PROBABILITY) or look.numbers is None:
        return False
    percent = declared.percent if isinstance(declared.percent, tuple) else ()
    if is_chosen(look.name, [p for p in (*declared.scores, *percent) if p != EVERY]):
        return True
    inside = np.count_nonzero((look.known >= unit.low) & (look.known <= unit.high))
    return bool(not look.is_key and 2 * inside >= len(look.known) > 0)


def _check_patterns(found: Inference, names: Sequence[str]) -> None:
    """Refuse agents that are named and not there."""
    declared = found.declared
    for key, patterns in (("agents", declared.agents), ("ignore", declared.ignore)):
        for pattern in patterns:
            if not any(is_chosen(name, (pattern,)) for name in names):
                found.faults.add(column_fault(key, pattern, names, several=True))


def _few_agents(found: Inference, agents: Sequence[str]) -> None:
    """Refuse a table with less than two agents; ask about what could be one."""
    possible = [n for n, look in found.open.items() if look.has_unit]
    faults = [fault.fields for fault in found.faults.found.values()]
    if any("agents" in (each.get("key"), *each.get("keys", ())) for each in faults):
        return
    if any(question.key == "long" for question in found.questions):
        return  # then a column has the agents
    if len(agents) < 2 and not (possible and not found.declared.agents):
        columns = {n: _kind(look) for n, look in found.open.items() if n not in agents}
        found.refuse(
            "few-agents",
            found=[*agents],
            cures=(Cure("name-agents", "agents"),),
            fields={"columns": [f"{n} ({kind})" for n, kind in columns.items()]},
        )


def _kind(look: Look) -> str:
    if look.is_time:
        return "times"
    return "text" if look.numbers is None else "numbers"


def _check_spelling(found: Inference, owner: Look) -> None:
    """Note agents whose names differ in upper and lower case only."""
    spelled: dict[str, list[str]] = {}
    for name in owner.distinct:
        spelled.setdefault(str(name).casefold(), []).append(str(name))
    alike = [" and ".join(map(repr, own)) for own in spelled.values() if len(own) > 1]
    if alike:
        found.notes.append(
            Note("agents-alike", {"column": owner.name, "names": alike}, warning=True)
        )


def _id(found: Inference) -> str | None:
    """Column that names the cases: the only one that tells them apart."""
    keys = [name for name, look in found.open.items() if look.is_key]
    return keys[0] if len(keys) == 1 else None


def _time(found: Inference, long: tuple[str, str, str] | None) -> str | None:
    """Column that dates the cases, or the reports: the only one that holds dates.

    Of several in a long table it is the one that differs among reports on a case.
    """
    dates = [name for name, look in found.open.items() if look.is_time]
    if long is not None and len(dates) > 1:
        case = found.looks[long[0]].codes
        dates = [n for n in dates if not _is_constant(found.open[n], case)]
    return dates[0] if len(dates) == 1 else None


def _ask_late(
    found: Inference,
    long: tuple[str, str, str] | None,
    time: str | None,
    formats: Mapping[str, str],
) -> None:
    """Ask whether reports count that were made when a case may have been decided."""
    made = found.looks.get(time or "")
    if long is None or made is None or found.declared.decision_time is not None:
        return
    case, usual = found.looks[long[0]].codes, formats.get(made.name, "")
    for name, look in found.open.items():
        ignored = name in found.declared.ignore
        if ignored or not (look.is_time and _is_constant(look, case)):
            continue
        form = usual if usual in look.formats else look.formats[0]
        first, ends = cells.times(made.column, usual), cells.times(look.column, form)
        if first.zoned != ends.zoned or first.values.dtype.kind != "M":
            continue
        late = int(np.count_nonzero(first.values >= ends.values))
        if 0 < late < look.rows:
            choices = (("decision-time", name), ("ignore", [name]))
            fields = {"count": late, "total": look.rows}
            found.ask(
                "late-reports", "decision-time", choices, column=name, fields=fields
            )


def _format(found: Inference, name: str | None, formats: dict[str, str]) -> None:
    """Find how times are written; ask where day and month may be exchanged."""
    look = found.looks.get(name or "")
    if look is None or look.text is None or not look.distinct:
        return
    declared = found.declared.formats
    if look.numbers is not None and not declared:
        return
    texts = look.distinct
    fits: Sequence[str] = cells.distinct_formats(texts, declared)
    if declared and not fits:
        fits = [max(declared, key=lambda form: cells.count_times(texts, form))]
    fits = fits or look.formats or cells.likely_formats(texts)
    if len(fits) > 1:
        found.ask(
            "which-format", "time-format", fits, column=name, fields={"found": texts[0]}
        )
    elif fits and fits[0]:
        formats[look.name] = fits[0]


def _units(
    found: Inference,
    agents: Sequence[str],
    reports: Mapping[str, Sequence[str]],
    long: tuple[str, str, str] | None,
) -> dict[str, Unit]:
    """Units of agents that report no probabilities; ask for those that nobody says."""
    declared = found.declared
    _check_named_units(found, agents)
    columns = {
        a: [found.looks[n] for n in own if n in found.looks]
        for a, own in reports.items()
    }
    if long is not None and long[2] in found.looks:
        return _long_units(found, agents, found.looks[long[2]], found.looks[long[1]])
    units: dict[str, Unit] = {}
    unknown: dict[str, tuple[float, float]] = {}
    for agent, looks in columns.items():
        unit = declared.unit(agent, signed=any(look.signed for look in looks))
        if unit is None and any(look.has_unit for look in looks):
            known = np.concatenate([look.known for look in looks])
            if known.min() >= 0 and known.max() <= 100:
                unknown[agent] = float(known.min()), float(known.max())
        elif unit not in (None, PROBABILITY):
            units[agent] = unit
    _check_percent(
        found, {a: own for a, own in columns.items() if declared.in_percent(a)}
    )
    _ask_units(found, unknown, agents)
    return units


def _check_percent(found: Inference, looks: Mapping[str, Sequence[Look]]) -> None:
    """Refuse declared percentages that look like probabilities, or like scores.

    ``looks`` are those of the agents that are declared so.
    """
    bare = {
        agent: np.concatenate([look.known for look in own])
        for agent, own in looks.items()
        if not any(look.signed for look in own)
    }
    bare = {agent: known for agent, known in bare.items() if len(known) > 1}
    for agent, n in bare.items():
        if 0 < n.max() <= 1:
            cures = (
                Cure("leave-out-percent"),
                Cure("real-percent", f"scores.{agent}", "0-100"),
            )
            found.refuse(
                "percent-up-to-one", agent=agent, found=float(n.max()), cures=cures
            )
        elif found.declared.percent is True and _like_scores(n):
            span = f"{n.min():g}-{n.max():g}"
            cures = (
                Cure("scores", f"scores.{agent}", span),
                Cure("real-percent", f"scores.{agent}", "0-100"),
            )
            found.refuse("percent-or-scores", agent=agent, found=span, cures=cures)


def _like_scores(numbers: FloatArray) -> bool:
    """Whether numbers are rather scores than percentages: small, whole or halves."""
    return bool(
        len(numbers) >= FEWEST_SCORES
        and (numbers % 0.5 == 0).all()
        and 1 < numbers.max() <= MOST_SCORE
    )


def _long_units(
    found: Inference, agents: Sequence[str], reports: Look, owner: Look
) -> dict[str, Unit]:
    """Units of the agents of a long table, whose reports stand in one column."""
    declared, numbers = found.declared, reports.numbers
    if numbers is None:
        return {}
    units: dict[str, Unit] = {}
    unknown: dict[str, tuple[float, float]] = {}
    looks: dict[str, Look] = {}
    place = {str(name): code for code, name in enumerate(owner.distinct)}
    order = np.argsort(owner.codes, kind="stable")
    ends = np.searchsorted(owner.codes[order], np.arange(len(owner.distinct) + 1))
    for agent in agents:
        rows = order[ends[place[agent]] : ends[place[agent] + 1]]
        own = cells.Numbers(
            numbers.values[rows],
            None,
            None if numbers.signed is None else numbers.signed[rows],
        )
        look = looks[agent] = Look(agent, pa.nulls(len(rows)), own)
        unit = declared.unit(agent, signed=look.signed)
        known = look.known
        if unit not in (None, PROBABILITY):
            units[agent] = unit
        elif unit is None and len(known) and known.min() >= 0 and known.max() <= 100:
            inside = np.count_nonzero(known <= 1)
            if 2 * inside < len(known) or (look.whole and known.max() > 1):
                unknown[agent] = float(known.min()), float(known.max())
    _check_percent(
        found, {a: [look] for a, look in looks.items() if declared.in_percent(a)}
    )
    _ask_units(found, unknown, agents)
    return units


def _ask_units(
    found: Inference,
    unknown: Mapping[str, tuple[float, float]],
    agents: Sequence[str],
) -> None:
    """Ask about agents that may have one unit: percentages, or small scores."""
    for small in (False, True):
        alike = {
            name: ends
            for name, ends in unknown.items()
            if (ends[1] <= MOST_SCORE) == small
        }
        if alike:
            _ask_unit(found, alike, agents)


def _ask_unit(
    found: Inference,
    unknown: Mapping[str, tuple[float, float]],
    agents: Sequence[str],
) -> None:
    names = [*unknown]
    every = len(names) == len(agents)
    low = min(low for low, _ in unknown.values())
    high = max(high for _, high in unknown.values())
    span = f"{low:g}-{high:g}" if low < high else f"0-{high:g}"
    sure = every and all(high > MOST_SCORE for _, high in unknown.values())
    choices: list[Any] = [("percent", True if sure else names)]
    shared = every and all(high <= MOST_SCORE for _, high in unknown.values())
    choices.append(
        ("scores", span)
        if shared
        else (f"scores.{names[0]}", span)
        if len(names) == 1
        else ("scores", dict.fromkeys(names, span))
    )
    if len(agents) - len(names) > 1:
        choices.append(("ignore", names))
    fields = {
        "names": names,
        "span": span,
        "low": low,
        "high": high,
        "count": len(names),
    }
    found.ask("unit", "percent", choices, fields=fields)


def _check_named_units(found: Inference, agents: Sequence[str]) -> None:
    """Refuse agents with a declared unit that no agent has."""
    declared = found.declared
    percent = declared.percent if isinstance(declared.percent, tuple) else ()
    known = [*agents, *declared.ignore, *found.open]
    if not declared.long:
        known += [name for name in found.looks if is_chosen(name, declared.ignore)]
    for key, patterns in (("percent", percent), ("scores", [*declared.scores])):
        for pattern in patterns:
            if pattern != EVERY and not any(is_chosen(n, (pattern,)) for n in known):
                found.faults.add(column_fault(key, pattern, agents, several=True))


def _order(
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
