"""``truepool init``: write a config file after a look at a table."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options
from truepool.cli.options import option

if TYPE_CHECKING:
    from truepool.tables.profile import TableProfile
    from truepool.tables.question import Question

FILE = Path("pool.toml")


def init(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="CSV, TSV, Excel, Parquet or JSON lines table with reports and "
            "outcomes: one row per case and one column per agent, or one row per "
            "report.",
        ),
    ],
    output: Annotated[
        Path | None,
        option("--output", f"File to write; - is standard output (default: {FILE})."),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Inspect TABLE and write a config file.

    What the table cannot say, such as which label is positive, is left for you to fill
    in.
    """
    from truepool.cli.outputs import STDOUT, check_files
    from truepool.core.errors import SourceError
    from truepool.core.files import missing_file, write_text
    from truepool.render.config import config_text
    from truepool.tables.profile import profile_table

    if not table.exists():
        raise SourceError(missing_file(table))
    if output is None and FILE.exists():
        raise SourceError(
            f"{str(FILE)!r} already exists; to overwrite it, name it (-o {FILE})"
        )
    place = output or FILE
    check_files([table], [place])
    profile = profile_table(table)
    text = config_text(profile, table.name)
    if place == STDOUT:
        typer.echo(text, nl=False)
    else:
        write_text(place, text)
    if not quiet:
        _show(profile, table, place, err=place == STDOUT)


def _show(profile: "TableProfile", table: Path, place: Path, *, err: bool) -> None:
    """Print what was found, what to fill in, and the next command."""
    from truepool.cli.outputs import print_note
    from truepool.cli.screen import print_line
    from truepool.core.formatting import pluralize
    from truepool.panel.labels import format_names
    from truepool.render.config import cost_matrix
    from truepool.tables.question import join_answers
    from truepool.tables.summary import GUESSED_ENCODING

    lines = [f"{table.name}: {pluralize(profile.rows, 'row')}."]
    if profile.encoding is not None:
        lines.append(f"  {GUESSED_ENCODING}")
    for name, value in profile.options.items():
        shown = format_names(value) if isinstance(value, list) else value
        lines.append(f"  {name}: {'yes' if value is True else shown} "
                     f"({profile.reasons[name]})")  # fmt: skip
    if profile.unused:
        lines.append(f"  not used: {format_names(list(profile.unused))}")
    lines += [f"warning: {text}" for text in profile.warnings]
    verb = "jury" if profile.jury else "audit"
    command = shlex.join(["truepool", verb, str(table), "--config", str(place)])
    for question in profile.questions:
        lines.append(f"{question.heading}: {question.sentence}{_choices(question)}")
        if question.required:
            command += f" {_words(question)}"
    if joined := join_answers(profile.questions):
        sure = {value for q in profile.questions if q.likely for value, _ in q.choices}
        sure.update(profile.options.get("agents", ()))
        new = [name for name in joined["agents"] if name not in sure]
        lines.append(
            f"To check: if all of {format_names(new)} are agents, add "
            f"{_all_options(joined)} instead, with one --agents for all of them."
        )
    if len(profile.classes) > 2:
        lines.append(
            "If you like: what do errors cost? One row per true class and one column "
            f"per decision, in the order {', '.join(profile.classes)}, as in "
            f"--cost-matrix '{cost_matrix(len(profile.classes))}'."
        )
    if profile.problem is not None:
        lines.append(f"The table cannot be read yet: {profile.problem}")
    if not err:
        when = "Next" if profile.problem is None else "Once it can be read"
        lines += [f"Wrote {place}.", f"{when}: {command}"]
    for line in lines:
        (print_note if err else print_line)(line)


def _words(question: "Question") -> str:
    """Return the option that answers a question, with its value where it is known."""
    from truepool.panel.report_units import join_patterns, percent_option

    flag = f"--{question.option}"
    if question.option in ("missing", "scores"):
        return shlex.join([word for v, _ in question.choices for word in (flag, v)])
    some = [v for v, _ in question.choices if v is not True]
    if question.option == "percent" and some:  # the others look like fractions
        return percent_option(some[0])
    value = options.SPELLINGS[flag].value
    if question.option == "agents" and question.likely:
        names = join_patterns([str(name) for name, _ in question.choices])
        return f"{flag} {shlex.quote(names)}"
    return flag if value.startswith("[") else f"{flag} {value}"


def _all_options(answer: Mapping[str, Any]) -> str:
    """Return an answer of several options as the command line takes it."""
    from truepool.tables import TableFormat

    named = {name.replace("-", "_"): value for name, value in answer.items()}
    return " ".join(TableFormat(**named).options())


def _choices(question: "Question") -> str:
    """Return what an option could be, or the option that answers the question."""
    from truepool.panel.labels import format_names
    from truepool.panel.report_units import percent_option

    if question.if_so:
        answer = f"{question.condition}, add {_all_options(question.if_so)}"
        if question.if_percent:
            answer = (
                f"If these are percentages, add {_all_options(question.if_percent)}; "
                f"if scores, add {_all_options(question.if_so)}"
            )
        return (
            f" {question.reasons} {answer}, or use the lines that the file has for it."
        )
    if question.option in ("missing", "scores", "cost-fp"):  # named already
        return ""
    if question.option == "ignore":
        cure = [part for name, _ in question.choices for part in ("--ignore", name)]
        return (
            f" {question.reasons} If not, add {shlex.join(cure)}, or remove the # of "
            "the ignore line in the file."
        )
    if question.option == "percent" and question.choices[0][0] is not True:
        ((names, why),) = question.choices
        return f" They go {why}. If so, pass {percent_option(names)}."
    if question.option == "percent":
        some = [percent_option(names) for names, _ in question.choices[1:]]
        return "".join(f" All (--percent), or some ({option})." for option in some)
    choices = [
        f"{value!r} ({why})" if question.option == "positive" else repr(value)
        for value, why in question.choices
    ]
    shown = f" {format_names(choices)}." if choices else ""
    if question.option == "agents" and question.likely:
        shown += " Leave out those that are none."
    return shown
