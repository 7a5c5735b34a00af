"""A config file in TOML, with the reason for every line."""

import json
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from truepool.core.formatting import join_names
from truepool.tables.profile import TableProfile
from truepool.tables.question import Question, join_answers

HEADINGS = {
    "What the columns mean": (
        "outcome", "positive", "agents", "ignore", "long", "id", "time", "time-format",
        "decision-time", "propensity", "group", "by",
    ),
    "How the table is written": ("sep", "decimal", "missing", "percent", "scores"),
}  # fmt: skip
COSTS = (
    "# What errors cost, in any unit; both are 1 by default",
    "# cost-fn = 10  # a missed case",
    "# cost-fp = 1  # a false alarm",
    "# cost-tp = 1  # a case that is found, if its review costs; 0 by default",
)
WIDTH = 88
"""Lists that are longer than a line have one value per line."""


def config_text(profile: TableProfile, source: str) -> str:
    """Return the text of a config file for a table."""
    lines = [
        f"# Options for truepool, after a look at {source!r} ({profile.rows:,} rows).",
        "# A key is an option without its dashes; the command line wins.",
    ]
    for heading, options in HEADINGS.items():
        part: list[str] = []
        for option in options:
            if option in profile.options:
                part += [f"{_line(option, profile.options[option])}  "
                         f"# {profile.reasons[option]}"]  # fmt: skip
            for question in profile.questions:
                if question.option == option:
                    part += [*_question(question, profile.options), ""]
        if part:
            lines += ["", f"# {heading}", *_single_gaps(part)]
    if joined := join_answers(profile.questions):
        lines += ["", *_answer("If all of these are agents", joined, profile.options)]
    lines += ["", *_costs(profile)]
    if profile.unused:
        lines += ["", "# Not used"]
        lines += [f"# {name!r}: {what}" for name, what in profile.unused.items()]
    return "\n".join(lines) + "\n"


def _costs(profile: TableProfile) -> list[str]:
    """Lines about costs: of the errors or, for more than two classes, of each."""
    K = len(profile.classes)
    costs = ("cost-fn", "cost-fp") if len(profile.amounts) > 1 else ("cost-fn",)
    amounts = [f"# {_line(cost, name)}  # or the amount of each case"
               for cost in costs for name in profile.amounts]  # fmt: skip
    if K < 3:
        found = [f"# {_line('cost-fp', value)}  # or {why}"
                 for question in profile.questions if question.option == "cost-fp"
                 for value, why in question.choices]  # fmt: skip
        return [*COSTS, *found, *amounts]
    return [
        "# What errors cost: one row per true class and one column per decision, both",
        f"# in the order {', '.join(profile.classes)}",
        f"# {_line('cost-matrix', cost_matrix(K))}",
    ]


def cost_matrix(classes: int) -> str:
    """Return the matrix in which every error costs 1, as the command line writes it.

    >>> cost_matrix(3)
    '0,1,1; 1,0,1; 1,1,0'
    """
    K = range(classes)
    return "; ".join(",".join("0" if k == y else "1" for k in K) for y in K)


def _single_gaps(lines: Sequence[str]) -> list[str]:
    """Return lines with one empty line where there are several, and none at the end."""
    before = ["", *lines]
    kept = [now for last, now in zip(before, lines, strict=False) if last or now]
    return kept if kept[-1] else kept[:-1]


def _answer(
    condition: str, answer: Mapping[str, Any], found: Mapping[str, Any]
) -> list[str]:
    """Return the lines of an answer, for use instead of those that were found."""
    above = [option for option in answer if option in found]
    instead = f" instead of {join_names(above)} above" if above else ""
    lines = (f"# {_line(*each)}".replace("\n", "\n# ") for each in answer.items())
    return [f"# {condition}, use these lines{instead}:", *lines]


def _question(question: Question, found: Mapping[str, Any]) -> list[str]:
    start = f"# {question.heading}: {question.sentence}"
    if question.if_so:
        lines = _answer(question.condition, question.if_so, found)
        if question.if_percent:
            lines = [
                *_answer("If these are percentages", question.if_percent, found),
                *_answer("If these are scores", question.if_so, found),
            ]
        return ["", start, f"# {question.reasons}", *lines]
    reasons = [f"# {value!r}: {reason}" for value, reason in question.choices]
    values = [value for value, _ in question.choices]
    if question.option == "agents":
        listed = _line("agents", values).replace("\n", "\n# ")
        return ["", f"{start} Leave out the others.", *reasons, f"# {listed}"]
    last = f"# {question.option} = {_value(values)}"
    ranges = question.option == "scores" and "=" in values[0]
    if question.option == "missing" or ranges:
        return ["", f"{start} Remove the # of the last line.", *reasons, last]
    if question.option == "ignore":
        cure = "# If not, remove the # of the next line."
        return ["", start, f"# {question.reasons}", cure, last]
    choices = question.choices or (("", "name it"),)
    answers: list[str] = []
    for value, reason in choices:
        line = _line(question.option, value, width=inf)  # one # to remove
        answers.append(f"# {line}  # {reason}")
        answers += [
            f"# {_line('positive', label)}  # if {value} is the outcome: of which "
            "label the reports are probabilities"
            for label in question.labels.get(str(value), ())
        ]
    cure = " Remove the # of one line" + (
        ", and of one line with the positive label below it."
        if question.labels
        else "."
    )
    return ["", f"{start}{cure}", *answers]


def _line(option: str, value: Any, width: float = WIDTH) -> str:
    line = f"{option} = {_value(value)}"
    if option not in ("agents", "percent") or value is True:
        return line
    # One text of agents is split at commas; a question mark stands for any character.
    names = [_value(name.replace(",", "?")) for name in value]
    line = f"{option} = [{', '.join(names)}]"
    if len(line) <= width or not names:
        return line
    return f"{option} = [\n    " + ",\n    ".join(names) + ",\n]"


def _value(value: Any) -> str:
    """Return a value in TOML; its texts are written as in JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
