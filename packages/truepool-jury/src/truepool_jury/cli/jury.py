"""``truepool jury``: which judges to keep, what to decide, what to send to a person."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from truepool.cli import options
from truepool.cli.costs import check_constant_costs
from truepool.cli.keys import NUMBER, key, option
from truepool.cli.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truepool.panel.panel import Panel
    from truepool.tables import Declared, ReportTable
    from truepool_jury.juries import VerdictTable


Verdicts: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="PANEL",
        help="CSV, TSV, Excel, Parquet or JSON lines table of verdicts: one row per "
        "item and one column per judge, or one row per verdict (default: the bundled "
        "example).",
    ),
]


@options.verb(
    keys=("agents", "time", "cost_fn", "cost_fp"), refused=("group", "propensity")
)
def jury(
    panel: Verdicts = None,
    *,
    declared: "Declared",
    tool: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="PANEL is the log of this evaluation tool: promptfoo, openai-evals, "
            "inspect or deepeval.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table with the labels, where PANEL has none or not all: the ids of "
            "items, the outcome and, for items chosen by --label-next, their weight.",
        ),
    ] = None,
    pool: Annotated[
        str,
        option(
            "pool",
            "How verdicts are pooled without labels: log-odds, or crowd for many "
            "judges with few verdicts per item.",
        ),
    ] = "log-odds",
    swapped: Annotated[
        list[str] | None,
        key(
            "swapped",
            "Columns A and B are one judge that saw each pair in both orders; "
            "both give the probability that the same item is better. Repeatable.",
            "A=B",
        ),
    ] = None,
    repeated: Annotated[
        list[str] | None,
        key(
            "repeated",
            "Columns A and B are one judge that was asked twice; A=B=C, three "
            "times. Repeatable.",
            "A=B",
        ),
    ] = None,
    cost_fn: Annotated[
        str,
        option("cost-fn", "Cost of a missed item: a number.", metavar=NUMBER),
    ] = "1",
    cost_fp: options.ConstantFp = "1",
    currency: Annotated[str | None, key("currency")] = None,
    max_error: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Largest share of errors among items decided without a person.",
        ),
    ] = "10%",
    confidence: Annotated[
        str,
        key("confidence", "Confidence that --max-error holds.", "SHARE"),
    ] = "90%",
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Number of items that go to a person, by expected cost (default: "
            "all that may not be decided without one).",
        ),
    ] = None,
    label_next: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Choose this many items to label next."),
    ] = None,
    output: Annotated[
        Path | None,
        option("output", "CSV or Parquet file with one row per item; - prints CSV."),
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    json_file: options.Json = None,
    markdown: options.Markdown = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    run: Run,
) -> None:
    """Analyse a jury of judges, with few labels or none.

    A verdict is a probability, a vote, a score or a word. The outcome is the label that
    a person gave; it is empty where there is none.
    """
    from truepool.cli.outputs import (
        STDOUT,
        check_files,
        print_files,
        write_cases,
        write_json,
    )
    from truepool.cli.screen import console
    from truepool.core.errors import SettingError
    from truepool.core.files import together, write_text
    from truepool.panel.costs import Costs
    from truepool.tables import file_format
    from truepool_jury.juries import jury as analyse
    from truepool_jury.render.page import html as page
    from truepool_jury.render.tables import show

    if output == json_file == STDOUT:
        raise SettingError(
            "standard output takes either the items or JSON; got both. Name a file for "
            "one of them (-o FILE)."
        )
    check_files([panel, labels], [output, json_file, markdown, html])
    if output is not None and output != STDOUT:
        file_format(output)
    shares = [
        options.parse_share(name, text)
        for name, text in (("--max-error", max_error), ("confidence", confidence))
    ]
    pairs = [_columns("swapped", text, most=2) for text in swapped or ()]
    runs = [_columns("repeated", text) for text in repeated or ()]
    costs = Costs(
        options.parse_cost(cost_fn),
        options.parse_cost(cost_fp),
        currency=currency or "",
    )
    check_constant_costs(costs, "the items of a jury share their costs")
    read = _read(panel, declared, tool, labels, run)
    result = analyse(
        read.verdicts,
        costs=costs,
        pool=pool,
        scores=read.scores,
        label_weights=read.label_weights,
        swapped=[*pairs, *_new_pairs(read.swapped, [*pairs, *runs], run)],
        repeated=[*runs, *read.repeated],
        max_error=shares[0],
        confidence=shares[1],
        budget=budget,
        label_next=label_next,
        empty_items=read.empty_items,
        level=level,
        seed=seed,
    )
    pages = [
        (path, render(result))
        for path, render in ((markdown, type(result).to_markdown), (html, page))
        if path is not None
    ]
    with together():
        write_json(json_file, result.to_dict())
        for path, text in pages:
            write_text(path, text)
        if output is not None:
            items = result.columns(read.id)
            write_cases(output, items, spreadsheet_safe=spreadsheet_safe)
    if label_next is not None:
        _note_chosen_items(read, output, run)
    run.print_notes()
    if not (quiet or STDOUT in (json_file, output)):
        show(result, console())
        print_files(json_file, markdown, html, output)


def _read(
    panel: Path | None,
    declared: "Declared",
    tool: str | None,
    labels: Path | None,
    run: Run,
) -> "VerdictTable":
    """Read the verdicts, with their labels where there are any."""
    from truepool.tables import ReportTable
    from truepool_jury.juries import VerdictTable, read_verdicts
    from truepool_jury.juries.verdict_table import JURY

    run.voice = replace(JURY, dialect="terminal")
    run.check_unweighted(replace(declared, weight=None), "truepool jury counts")
    if panel is None:
        return VerdictTable(run.panel_or_example(panel, declared))
    found = read_verdicts(panel, declared, tool=tool, labels=labels, answer=run.answer)
    if found.table is not None:
        run.note(run.reading(found.table, _items(found.verdicts)), first=True)
        run.tell(found.table.notes)
    if isinstance(found.verdicts, ReportTable):
        run.note(
            f"No item has a label. If a column has them{_voters(found.verdicts)}, name "
            "it (--outcome); labels of another table are added with --labels."
        )
    else:
        _note_dead_judges(found, found.verdicts, run)
    return found


def _voters(verdicts: "ReportTable") -> str:
    """Name judges that only say 0 and 1, as labels do, beside others that do not."""
    import numpy as np

    named = [
        name for name, own in zip(verdicts.agents, verdicts.values.T, strict=True)
        if (np.isnan(own) | np.isin(own, (0, 1))).all()
    ]  # fmt: skip
    some = 0 < len(named) < len(verdicts.agents)
    return f" (perhaps {', '.join(named)})" if some else ""


def _items(verdicts: "Panel | ReportTable") -> int:
    """Return the number of items, with a label or without."""
    from truepool.panel.panel import Panel

    waiting = verdicts.pending if isinstance(verdicts, Panel) else None
    return len(verdicts) + (0 if waiting is None else len(waiting))


def _note_dead_judges(found: "VerdictTable", verdicts: "Panel", run: Run) -> None:
    """Warn of judges that no longer answer, or only repeat themselves, by the audit."""
    from truepool.audits.checks.feeds import dead_feeds
    from truepool.core.formatting import join_names
    from truepool.core.sentences import leaving_out, say
    from truepool.pages.wording import sentence

    runs = {name for judge in found.repeated for name in judge}
    feeds = [feed for feed in dead_feeds(verdicts) if feed.agent not in runs]
    if feeds:
        gone = [feed.agent for feed in feeds]
        removal = leaving_out(gone, verdicts.agents)
        out = f", or leave {join_names(gone)} out ({removal})" if removal else ""
        said = " ".join(
            sentence(
                say("dead", feed.code, {**feed.facts, "agent": feed.agent}),
                [feed.agent],
            )
            for feed in feeds
        )
        run.warn(f"{said} Get these verdicts again{out}.")


def _note_chosen_items(read: "VerdictTable", output: Path | None, run: Run) -> None:
    """Say how labels of the items that were chosen come back."""
    from truepool.cli.outputs import STDOUT
    from truepool.core.sentences import TERMINAL, setting
    from truepool_jury.juries.values import WEIGHT

    if output is None:
        run.note(
            f"The table of items (-o FILE) says which ones were chosen: their {WEIGHT}."
        )
        return
    outcome = None if read.table is None else read.table.schema.outcome
    column = "a column" if outcome is None else f"the column {outcome!r}"
    file = "FILE" if output == STDOUT else shlex.quote(str(output))
    run.note(
        f"Add {column} with labels of the items that have a {WEIGHT}, and give them "
        "back: the same command with "
        f"--labels {file} {setting('weight', WEIGHT, TERMINAL)}."
    )


def _new_pairs(
    found: "Sequence[tuple[str, str]]", given: list[list[str]], run: Run
) -> list[tuple[str, str]]:
    """Return the pairs that no option names, and note them."""
    named = {name for group in given for name in group}
    pairs = [pair for pair in found if not named & {*pair}]
    for one, other in pairs:
        run.note(f"{one} and {other} are one judge that saw each pair in both orders.")
    return pairs


def _columns(name: str, text: str, most: int | None = None) -> list[str]:
    """Return the columns that an option names."""
    from truepool.core.errors import SettingError

    found = [part.strip() for part in text.split("=")]
    if (
        not all(found)
        or len(set(found)) < max(2, len(found))
        or (most is not None and len(found) > most)
    ):
        raise SettingError(f'{name} must name two columns, as in "A=B"; got {text!r}')
    return found
