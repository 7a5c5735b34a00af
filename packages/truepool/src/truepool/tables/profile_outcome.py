"""The outcome of an unknown table: its column, its labels, what is asked of them."""

from collections.abc import Mapping, Sequence

from truepool.core.formatting import pluralize
from truepool.panel.labels import no_outcome_words
from truepool.tables.column_profile import (
    MOST_WORDS,
    ColumnProfile,
    format_mean,
    largest_by_agent,
)
from truepool.tables.doubtful_columns import name_parts
from truepool.tables.profile_findings import Findings
from truepool.tables.question import Question

OUTCOMES = (
    "y", "outcome", "label", "target", "class", "truth", "resolved", "resolution",
    "result", "fraud", "attack", "default", "churn",
)  # fmt: skip
"""Of several columns with two values, one of such a name is the outcome."""

MOST_LABELS = 4
"""A column of such a name with three labels, or four, may be the outcome as well."""

PLAIN = ({"0", "1"}, {"0.0", "1.0"}, {"false", "true"})
"""Labels that say themselves which one is positive."""


def find_outcome(look: Findings, columns: Mapping[str, ColumnProfile]) -> None:
    """Find the column of the outcome, or ask for it; and for its positive label."""
    fit = [column for column in columns.values() if _fits(column, look.classes)] or [
        column for column in columns.values() if _nearly_fits(column, look.classes)
    ]
    usual = [column for column in fit if has_usual_name(column)]
    chosen = usual if len(fit) > 1 else fit
    plain = not (usual or look.classes)
    third = [
        column for column in columns.values() if plain and _has_third_label(column)
    ]
    if len(chosen) != 1 or third:
        none = " None has two different values." if not fit else ""
        if third:
            words = ", ".join(f"{k!r} ({n:,})" for k, n in third[0].counts.items())
            none = (
                f" {third[0].name!r} is called like one, and has the labels {words}: "
                "if one of them means that there is no outcome (yet), pass it as "
                "--missing LABEL too."
            )
        fit = third + fit
        choices = tuple((column.name, column.describe()) for column in fit)
        sentence = f"which column holds the outcome?{none}"
        labels = {
            c.name: outcome_labels(c) for c in fit if _needs_positive(outcome_labels(c))
        }
        look.questions.append(Question("outcome", sentence, choices, labels=labels))
        return
    column = chosen[0]
    rest = " and ".join(repr(other.name) for other in fit if other is not column)
    also = f"; {rest} could be one too" if rest else ""
    set_outcome(look, column, also)


def set_outcome(look: Findings, column: ColumnProfile, also: str = "") -> None:
    """Take a column for the outcome, and ask what its labels do not say."""
    counts = ", ".join(f"{k!r} in {n:,} rows" for k, n in column.counts.items())
    look.set("outcome", column.name, counts + also, column.name)
    labels = outcome_labels(column)
    look.labels = tuple(labels)
    words = no_outcome_words([w for w in column.distinct if w not in labels])
    if look.classes:
        words += [label for label in labels if label not in look.classes]
    for word in words:
        count = pluralize(column.counts[word], "row")
        reason = f"no outcome ({count} of {column.name!r})"
        look.missing.setdefault(word, []).append(reason)
    if not _needs_positive(labels):
        return
    if {*labels} == {*look.classes}:  # the columns say what they are probabilities of
        first, second = look.classes
        rare = first if column.counts[first] < column.counts[second] else second
        tie = column.counts[first] == column.counts[second]
        why = "the second class" if tie else "the rarer class"
        reason = f"{why}; a missed case (--cost-fn) is one of these"
        look.set("positive", rare, reason)
    else:
        sentence = "which label are the reports probabilities of?"
        choices = ((label, _mean_report(look, column, label)) for label in labels)
        look.ask("positive", sentence, *choices)


def _needs_positive(labels: Sequence[str]) -> bool:
    """Whether there are two labels that do not say which one is positive."""
    return len(labels) == 2 and {label.casefold() for label in labels} not in PLAIN


def may_be_outcome(column: ColumnProfile) -> bool:
    """Whether a column has two labels, or is called like an outcome and has a few."""
    return _has_two_labels(column) or _has_third_label(column)


def _has_two_labels(column: ColumnProfile) -> bool:
    """Whether a column has two labels, beside words that may mean none."""
    return len(outcome_labels(column)) == 2


def has_usual_name(column: ColumnProfile) -> bool:
    """Whether a column is called as outcomes are."""
    return any(part in OUTCOMES for part in name_parts(column.name))


def _has_third_label(column: ColumnProfile) -> bool:
    """Whether a column is called like an outcome and has a label or two too many."""
    return has_usual_name(column) and 2 < len(outcome_labels(column)) <= MOST_LABELS


def _fits(column: ColumnProfile, classes: Sequence[str]) -> bool:
    if not classes:
        return _has_two_labels(column)
    return bool(column.distinct) and {*outcome_labels(column)} <= {*classes}


def _nearly_fits(column: ColumnProfile, classes: Sequence[str]) -> bool:
    """Whether most rows have a class, of two at least, and few labels are none."""
    strange = [label for label in outcome_labels(column) if label not in classes]
    named = [label for label in outcome_labels(column) if label in classes]
    if len(named) < 2 or len(strange) > MOST_WORDS:
        return False
    return sum(map(column.counts.__getitem__, named)) > column.rows / 2


def outcome_labels(column: ColumnProfile) -> list[str]:
    """Labels in their most common spelling; words for none where two others are left.

    The reader refuses two spellings in one sentence, so that a column with two of a
    label is an outcome that has to be corrected.
    """
    if len(column.distinct) == 2 and not column.spelled_alike:
        return [*column.distinct]
    spelled: dict[str, str] = {}
    for label in sorted(column.distinct, key=lambda label: -column.counts[label]):
        spelled.setdefault(label.casefold(), label)
    wanted = set(spelled.values())
    known = [label for label in column.distinct if label in wanted]
    words = no_outcome_words(known)
    rest = [label for label in known if label not in words]
    return rest if len(rest) >= 2 else known


def _mean_report(look: Findings, outcome: ColumnProfile, label: str) -> str:
    """Say what agents report on average where this label was the outcome."""
    rows = outcome.codes == outcome.distinct.index(label)
    reports = [c for c in look.reports if not look.classes or c.name.endswith(label)]
    mean = format_mean([column.by_row[rows] for column in reports], reports)
    if look.owner is not None and reports:
        tops = largest_by_agent(reports[0].by_row, look.owner).values()
        if any(0 < top <= 1 for top in tops) and max(tops) > 1:
            mean = ""  # agents of a long table report in two units
    count = f"{outcome.counts[label]:,} rows"
    return f"{count}; the mean report there is {mean}" if mean else count
