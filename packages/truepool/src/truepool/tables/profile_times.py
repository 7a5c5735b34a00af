"""The times of an unknown table: which columns date what, and how they are written."""

from truepool.core.formatting import pluralize
from truepool.tables.column_profile import ColumnProfile
from truepool.tables.profile_findings import Findings
from truepool.tables.question import Question
from truepool.tables.times import BETWEEN, ISO, parse_formatted


def find_time(look: Findings) -> None:
    """Find the column that dates the cases; of several, ask."""
    times = ["time"] if "time" in look.times else look.times
    if len(times) > 1:
        choices = ((name, f"as in {look.open[name].distinct[0]!r}") for name in times)
        look.offer("time", "which column dates the cases?", *choices)
    elif times:
        set_time(look, times[0], "dates the cases")
    else:
        _ask_for_nearly_times(look)


def set_time(look: Findings, name: str, reason: str) -> None:
    """Take a column for the time, and ask how it is written if that is not clear."""
    column = look.open[name]
    look.set("time", name, reason, name)
    example = f"as in {column.distinct[0]!r}"
    if len(column.time_formats) > 1:
        choices = ((written, example) for written in column.time_formats)
        look.ask("time-format", "how are the times written?", *choices)
    elif column.time_formats[0]:
        look.set("time-format", column.time_formats[0], example)


def find_times_of_reports(look: Findings, moving: list[str], ends: list[str]) -> None:
    """Find when reports were made and, per case, the time before which they count."""
    if len(moving) != 1:
        find_time(look)
        return
    made, times = look.open[moving[0]], {name: look.open[name] for name in ends}
    set_time(look, moving[0], "when each report was made")
    later = {name: _earlier_reports(made, column) for name, column in times.items()}
    if len(ends) == 1 and later[ends[0]] * 2 > made.rows:
        _add_format(look, ends[0])
        reason = (
            f"{later[ends[0]]:,} of {made.rows:,} reports are earlier, and only these "
            "count; leave it out if it is no time of a decision"
        )
        look.set("decision-time", ends[0], reason, *ends)
    elif ends:
        choices = (
            (name, f"{count:,} of {made.rows:,} reports are earlier")
            for name, count in later.items()
        )
        sentence = (
            "is one of these when a case was decided? Only earlier reports count."
        )
        look.offer("decision-time", sentence, *choices)


def _earlier_reports(made: ColumnProfile, end: ColumnProfile) -> int:
    """Count the reports that were made before a time of their cases."""
    if made.numbers is not None or end.numbers is not None:
        return int((made.by_row < end.by_row).sum())
    first, second = (
        parse_formatted(column.distinct, column.time_formats[0])[column.codes]
        for column in (made, end)
    )
    return int((first < second).sum())


def _add_format(look: Findings, name: str) -> None:
    """Add the format of a second column of times, where it is another one."""
    column, first = look.open[name], look.options.get("time-format")
    if any(question.option == "time-format" for question in look.questions):
        return  # the answer may fit both
    forms = [f or ISO[0] for f in column.time_formats]
    if column.dated or first in forms or (first is None and "" in column.time_formats):
        return
    both = forms[0] if first is None else f"{first} {BETWEEN} {forms[0]}"
    if len(forms) == 1:
        look.set("time-format", both, f"{name} as in {column.distinct[0]!r}")


def _ask_for_nearly_times(look: Findings) -> None:
    """Ask about a column that holds dates but for a cell or two."""
    found = {n: c.nearly_times for n, c in look.open.items() if c.nearly_times}
    for name, (formats, others) in found.items():
        column = look.open[name]
        answer = {"time": name} | ({"time-format": formats[0]} if formats[0] else {})
        those = "it, or remove its row" if others == 1 else "them, or remove their rows"
        sentence = f"does {name!r} date the cases?"
        reason = (
            f"all but {pluralize(others, 'cell')} of {column.rows:,} are dates; first "
            f"correct {those}"
        )
        choices = ((name, reason),)
        look.questions.append(
            Question("time", sentence, choices, required=False, if_so=answer)
        )
        return
