"""Verdicts and labels from files: tables, logs of evaluation tools, labels apart."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import (
    OutcomeError,
    SettingError,
    SourceError,
    TruepoolError,
    suggestion,
)
from truepool.panel.panel import Panel
from truepool.panel.report_units import join_patterns
from truepool.tables import (
    ReportTable,
    TableFormat,
    TableSummary,
    load_verdicts,
    read_source,
)
from truepool.tables.numbers import is_empty
from truepool.tables.profile_long import JUDGES, VERDICTS
from truepool.tables.score_range import ScoreRange
from truepool.tables.text_columns import VERDICTS as CURE
from truepool_jury.juries.evaluation_logs import COLUMNS, check_scores, read_log
from truepool_jury.juries.runs import number_runs
from truepool_jury.juries.values import WEIGHT
from truepool_jury.juries.worded_verdicts import has_words, number_words

LONG_NAMES = (
    ("item", "case", "id", "item_id", "question", "sample"),
    JUDGES,
    VERDICTS,
)
"""What evaluation tools call the columns of a long table."""
SWAPPED = r"(.+) swapped \((.+)\)"
"""How truepool agent llm names the column of a pair in the other order."""
QUOTED = r"(?<!\w)'[^']*'(?!\w)|--percent=\S+"
"""A name in quotes, or the names of an option."""
WORDS = {
    "an agent": "a judge",
    "a case": "an item",
    "report": "verdict",
    "agent": "judge",
    "case": "item",
}


@dataclass(frozen=True, eq=False)
class VerdictTable:
    """Verdicts, how they were read, and what `truepool.jury` should know of them.

    ``repeated`` are columns that are one judge which answered more than once,
    ``swapped`` those of one that saw pairs in both orders; ``label_weights`` (n,) are
    None where no column has them. ``id`` is what the column of the items is called.
    """

    verdicts: Panel | ReportTable
    summary: TableSummary
    repeated: Sequence[tuple[str, ...]]
    label_weights: FloatArray | None
    swapped: Sequence[tuple[str, str]] = ()
    id: str = "id"


def read_verdicts(
    source: Any,
    written: TableFormat,
    *,
    tool: str | None = None,
    labels: Path | None = None,
) -> VerdictTable:
    """Read verdicts; from the log of a ``tool``, with ``labels`` of another file.

    Verdicts may be the two labels of the outcome, in words, or any two words beside the
    labels 0 and 1. In a long table without
    times, several answers of one judge to one item are runs of it. The column
    ``weight`` says how many items each label stands for; it is empty for labels drawn
    at random.
    """
    id = "id" if tool is not None else _id_column(written)
    if tool is not None:
        source = read_log(Path(source), tool, written.positive)
        if not (written.scores or written.percent):
            check_scores(source, tool)
        outcome = COLUMNS[3] if labels is None else written.outcome
        written = replace(written, long=COLUMNS[:3], outcome=outcome)
    frame, origin = read_source(source, written)
    if tool is None and not written.long:
        _check_layout(frame)
    repeated: list[tuple[str, ...]] = []
    if written.long and not written.time and "time" not in frame.columns:
        frame, written, repeated = _split_runs(frame, written, written.long)
    if labels is not None:
        frame = _join_labels(frame, written, labels)
    name = written.weight
    _check_weight(name, frame)
    if name is not None:
        kept = (*written.columns, name)
        written = replace(written, weight=None, columns=kept)
    columns = written.long[2:] if written.long else _verdict_columns(frame, written)
    columns = [name for name in columns if name in frame.columns]
    with origin.named_in_errors():
        numbered = number_words(frame, columns, written)
    worded = numbered is not frame
    if worded and not has_words(frame, written):
        written = replace(written, positive=None)  # labels 0 and 1 say it themselves
    frame = numbered
    try:
        with origin.named_in_errors():
            verdicts, summary = load_verdicts(frame, written)
    except TruepoolError as error:
        raise type(error)(in_words_of_a_jury(str(error))) from None
    weights = None
    if name is not None and isinstance(verdicts, Panel):
        weights = _numbers(name, verdicts.columns[name])
    binary = () if worded else summary.binary  # words became 0 and 1
    summary = replace(summary, origin=origin, binary=binary)
    swapped = _both_orders(summary.agents)
    return VerdictTable(verdicts, summary, repeated, weights, swapped, id)


def _check_weight(name: str | None, frame: nw.DataFrame[Any]) -> None:
    """Refuse weights of labels that are not there."""
    if name is not None and name not in frame.columns:
        raise SourceError(
            f"there is no column {name!r} with the weights of labels"
            f"{suggestion(name, frame.columns)}; columns: {', '.join(frame.columns)}. "
            "--label-next writes them: pass its file, with the labels, as --labels, or "
            "name another column (--weight)."
        )


def _id_column(written: TableFormat) -> str:
    return written.long[0] if written.long else written.id or "id"


def _check_layout(frame: nw.DataFrame[Any]) -> None:
    """Refuse a long table that is read as a wide one."""
    named = [
        next((name for name in frame.columns if name.lower() in words), None)
        for words in LONG_NAMES
    ]
    if all(named) and frame[str(named[1])].dtype == nw.String:
        raise SourceError(
            f"a table without --long has one row per item; the columns {named[0]!r}, "
            f"{named[1]!r} and {named[2]!r} look like one row per verdict. Pass --long "
            f"{shlex.join(map(str, named))}."
        )


def _verdict_columns(frame: nw.DataFrame[Any], written: TableFormat) -> list[str]:
    """Columns of a wide table that may hold verdicts."""
    others = {written.id or "id", written.time or "time", written.outcome}
    others |= {*written.ignore, *written.columns}
    names = [name for name in frame.columns if name not in others]
    return [n for n in names if not written.agents or _is_named(n, written.agents)]


def _both_orders(judges: Sequence[str]) -> list[tuple[str, str]]:
    """Columns that truepool agent llm writes for one judge that saw both orders."""
    found = ((re.fullmatch(SWAPPED, name), name) for name in judges)
    pairs = [(f"{m[1]} ({m[2]})", name) for m, name in found if m is not None]
    return [pair for pair in pairs if pair[0] in judges]


def in_words_of_a_jury(sentence: str) -> str:
    """Say judge, item and verdict where any other table has agents and cases."""
    sentence = sentence.replace(CURE, "")
    for word, own in WORDS.items():
        # Not inside quotes, options and names that follow one.
        own_word = rf"(?<!--ignore )(?<![-'\w]){word}(?P<s>s?)(?![-'\w])"
        found = re.finditer(rf"{QUOTED}|{own_word}", sentence)
        for match in reversed([one for one in found if one["s"] is not None]):
            start, end = match.span()
            sentence = f"{sentence[:start]}{own}{match['s']}{sentence[end:]}"
    return re.sub("^pooling needs", "a jury needs", sentence)


def _split_runs(
    frame: nw.DataFrame[Any], written: TableFormat, long: tuple[str, str, str]
) -> tuple[nw.DataFrame[Any], TableFormat, list[tuple[str, ...]]]:
    """Give each run of a judge a name of its own, where a judge answered twice."""
    item, judge, verdict = long
    if not {item, judge, verdict} <= set(frame.columns):
        return frame, written, []  # the reader says which one is missing
    names = [str(name) for name in frame[judge].to_list()]
    answered = np.flatnonzero(~is_empty(frame[verdict]))
    items = frame[item].to_list()
    columns, groups = number_runs(
        [items[row] for row in answered], [names[row] for row in answered]
    )
    if not groups:
        return frame, written, []
    for row, column in zip(answered, columns, strict=True):
        names[row] = column
    if written.agents:
        groups = [group for group in groups if _is_named(group[0], written.agents)]
        more = [run for group in groups for run in group[1:]]
        written = replace(written, agents=(*written.agents, *more))
    if not isinstance(written.percent, bool):
        runs = [
            run for group in groups if written.in_percent(group[0]) for run in group
        ]
        written = replace(written, percent=(*written.percent, *runs))
    written = replace(written, scores=_of_runs(written.scores, groups))
    return frame.with_columns(_series(frame, judge, names)), written, groups


def _of_runs(scores: Sequence[str], groups: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return ranges of scores that name the runs of their judges too."""
    found = []
    for text in scores:
        span = ScoreRange.parse(text)
        runs = [run for group in groups if span.is_of(group[0]) for run in group]
        named = f"{join_patterns(runs)}," if span.agents and runs else ""
        found.append(named + text)
    return tuple(found)


def _is_named(judge: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(judge, pattern) for pattern in patterns)


def _join_labels(
    frame: nw.DataFrame[Any], written: TableFormat, path: Path
) -> nw.DataFrame[Any]:
    """Put the labels of a file beside the verdicts, by the ids of the items.

    Its column of ids has the name that the table of verdicts gives it, or ``id``.
    """
    key = _id_column(written)
    id, missing = written.id or key, written.missing
    given, _ = read_source(path, TableFormat(written.outcome, id=id, missing=missing))
    names = list(dict.fromkeys([id, key, "id"]))
    own = next((name for name in names if name in given.columns), names[0])
    called = " or ".join(map(repr, names))
    for who, table, name, cure in (
        ("the table of verdicts", frame, key, "Name the column that has them (--id)."),
        (f"{path}", given, own, f"Call the column that has them {called}."),
        (
            f"{path}",
            given,
            written.outcome,
            "Add it, with the label of each item, or name another one (--outcome).",
        ),
    ):
        if name not in table.columns:
            raise SourceError(
                f"labels are matched by the ids of items; {who} has no column {name!r}"
                f"{suggestion(name, table.columns)}; columns: "
                f"{', '.join(table.columns)}. {cure}"
            )
    if not written.weight:
        _check_chosen(given, path)
    items = [str(value) for value in frame[key].to_list()]
    columns = [written.outcome, *([written.weight] if written.weight else [])]
    rows = np.flatnonzero(~is_empty(given[written.outcome]))
    ids = [str(value) for value in given[own].to_list()]
    unknown = next((ids[row] for row in rows if ids[row] not in set(items)), None)
    if unknown is not None:
        raise SourceError(
            f"every label must belong to an item; {path} labels {unknown!r}, which the "
            "table of verdicts does not have. Correct its id or leave it out."
        )
    for name in columns:
        if name in given.columns:
            values = given[name].to_list()
            known = _by_item(name, [(ids[row], values[row]) for row in rows])
            frame = frame.with_columns(_merge(frame, name, items, known))
    return frame


def _check_chosen(given: nw.DataFrame[Any], path: Path) -> None:
    """Refuse labels of chosen items that would count as drawn at random."""
    if WEIGHT in given.columns and not is_empty(given[WEIGHT]).all():
        raise SourceError(
            f"labels that were chosen count by their weights; {path} has the column "
            f"{WEIGHT!r}, which --label-next wrote. Pass --weight {WEIGHT}, or take "
            "the column out if the labels were drawn at random."
        )


def _by_item(name: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item, value in pairs:
        if found.setdefault(item, value) != value:
            raise _contradiction(name, item, found[item], value)
    return found


def _merge(
    frame: nw.DataFrame[Any], name: str, items: list[str], known: dict[str, Any]
) -> nw.Series[Any]:
    """Return the column with what is known of each item; what is there must agree."""
    merged = [known.get(item) for item in items]
    if name in frame.columns:
        empty, values = is_empty(frame[name]), frame[name].to_list()
        for row, value in enumerate(values):
            if empty[row]:
                continue
            if merged[row] is not None and str(merged[row]) != str(value):
                raise _contradiction(name, items[row], value, merged[row])
            merged[row] = value
    if len({type(value) for value in merged if value is not None}) > 1:
        merged = [None if value is None else str(value) for value in merged]
    return _series(frame, name, merged)


def _contradiction(name: str, item: str, one: Any, other: Any) -> OutcomeError:
    return OutcomeError(
        f"an item must have one {name}; item {item!r} has {one!r} and {other!r}. "
        "Correct one."
    )


def _series(frame: nw.DataFrame[Any], name: str, values: list[Any]) -> nw.Series[Any]:
    return nw.new_series(name, values, backend=frame.implementation)


def _numbers(name: str, column: Any) -> FloatArray:
    """Weights of labels, NaN where there is none."""
    found = []
    for value in column:
        empty = value is None or str(value).strip() in ("", "nan")
        try:
            found.append(np.nan if empty else float(value))
        except ValueError:
            raise SettingError(
                f"a label weight must be a number, or empty for labels drawn at "
                f"random; column {name!r} has {value!r} (--weight)"
            ) from None
    return np.array(found, dtype=np.float64)
