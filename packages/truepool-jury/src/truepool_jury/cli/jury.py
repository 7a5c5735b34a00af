"""``truepool jury``: which judges to keep, what to decide, what to send to a person."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import options
from truepool.cli.options import option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truepool.panel.panel import Panel
    from truepool.tables import TableFormat
    from truepool_jury.juries import VerdictTable


@partial(options.with_table, refused=("group", "propensity"))
def jury(
    panel: options.Table = None,
    *,
    table_format: "TableFormat",
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
            "items, the outcome and, for items chosen by --label-next, --weight.",
        ),
    ] = None,
    pool: Annotated[
        str,
        option(
            "--pool",
            "How verdicts are pooled without labels: log-odds, or crowd for many "
            "judges with few verdicts per item.",
        ),
    ] = "log-odds",
    swapped: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A=B",
            help="Columns A and B are one judge that saw each pair in both orders; "
            "both give the probability that the same item is better. Repeatable.",
        ),
    ] = None,
    repeated: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A=B",
            help="Columns A and B are one judge that was asked twice; A=B=C, three "
            "times. Repeatable.",
        ),
    ] = None,
    cost_fn: Annotated[
        str,
        option("--cost-fn", "Cost of a missed item: a number.", metavar=options.NUMBER),
    ] = "1",
    cost_fp: options.ConstantFp = "1",
    currency: Annotated[str | None, option("--currency")] = None,
    max_error: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Largest share of errors among items decided without a person.",
        ),
    ] = "10%",
    confidence: Annotated[
        str,
        typer.Option(metavar="SHARE", help="Confidence that --max-error holds."),
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
        option("--output", "CSV or Parquet file with one row per item; - prints CSV."),
    ] = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    json_file: options.Json = None,
    markdown: options.Markdown = None,
    html: options.Html = None,
    quiet: options.Quiet = False,
    spreadsheet_safe: options.SpreadsheetSafe = False,
) -> None:
    """Analyse a jury of judges, with few labels or none.

    PANEL has one row per item and one column of verdicts per judge. The outcome is the
    label that a person gave; it is empty where there is none.
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
    from truepool_jury.juries import jury as run
    from truepool_jury.render.page import html as page
    from truepool_jury.render.tables import show

    if output == json_file == STDOUT:
        raise SettingError(
            "standard output takes either the items or JSON; got both. Name a file for "
            "one of them (-o FILE)."
        )
    check_files([panel, labels], [output, json_file, markdown, html])
    if output is not None and output != STDOUT:
        file_format(output, "written")
    shares = [
        options.parse_share(name, text)
        for name, text in (("--max-error", max_error), ("--confidence", confidence))
    ]
    pairs = [_columns("--swapped", text, most=2) for text in swapped or ()]
    runs = [_columns("--repeated", text) for text in repeated or ()]
    costs = Costs(
        options.parse_cost(cost_fn),
        options.parse_cost(cost_fp),
        currency=currency or "",
    )
    options.check_constant_costs(costs, "the items of a jury share their costs")
    scores = _shared_range(table_format)
    read = _read(panel, table_format, tool, labels)
    result = run(
        read.verdicts,
        costs=costs,
        pool=pool,
        scores=scores,
        label_weights=read.label_weights,
        swapped=[*pairs, *_new_pairs(read.swapped, [*pairs, *runs])],
        repeated=[*runs, *read.repeated],
        max_error=shares[0],
        confidence=shares[1],
        budget=budget,
        label_next=label_next,
        empty_items=read.summary.empty_cases,
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
    if not (quiet or STDOUT in (json_file, output)):
        show(result, console())
        print_files(json_file, markdown, html, output)


def _shared_range(written: "TableFormat") -> tuple[float, float] | None:
    """Return the range of scores that all judges share; None where there is none."""
    from truepool.tables.score_range import ScoreRange

    shared = [span for span in map(ScoreRange.parse, written.scores) if not span.agents]
    return (shared[0].zero, shared[0].one) if shared else None


def _read(
    panel: Path | None,
    table_format: "TableFormat",
    tool: str | None,
    labels: Path | None,
) -> "VerdictTable":
    """Read the verdicts, with their labels where there are any."""
    from truepool.tables import ReportTable, TableSummary
    from truepool_jury.juries import VerdictTable, read_verdicts
    from truepool_jury.juries.verdict_table import in_words_of_a_jury

    plain = replace(table_format, weight=None)
    options.check_unweighted(plain, "truepool jury counts")
    if panel is None:
        example = options.panel_or_example(panel, table_format)
        options.NOTES[:] = map(in_words_of_a_jury, options.NOTES)
        return VerdictTable(example, TableSummary(), (), None)
    found = read_verdicts(panel, table_format, tool=tool, labels=labels)
    options.note(found.summary, "Judges", in_words_of_a_jury)
    if isinstance(found.verdicts, ReportTable):
        options.NOTES.append(
            f"No item has a label in column {table_format.outcome!r}. If the labels "
            "are in another one, name it (--outcome)."
        )
    else:
        _note_dead_judges(found, found.verdicts)
    return found


def _note_dead_judges(found: "VerdictTable", verdicts: "Panel") -> None:
    """Warn of judges that no longer answer, or only repeat themselves, by the audit."""
    from truepool.audits.topics.feeds import dead_feeds
    from truepool.core.formatting import join_names
    from truepool.tables.agent_columns import removal_options

    runs = {name for judge in found.repeated for name in judge}
    feeds = [feed for feed in dead_feeds(verdicts) if feed.agent not in runs]
    if feeds:
        gone = [feed.agent for feed in feeds]
        removal = removal_options(gone, verdicts.agents)
        out = f", or leave {join_names(gone)} out ({removal})" if removal else ""
        said = " ".join(feed.sentence for feed in feeds)
        options.NOTES.append(f"warning: {said} Get these verdicts again{out}.")


def _new_pairs(
    found: "Sequence[tuple[str, str]]", given: list[list[str]]
) -> list[tuple[str, str]]:
    """Return the pairs that no option names, and note them."""
    named = {name for group in given for name in group}
    pairs = [pair for pair in found if not named & {*pair}]
    options.NOTES.extend(
        f"{one} and {other} are one judge that saw each pair in both orders."
        for one, other in pairs
    )
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
        raise SettingError(
            f'{name} must name two columns, as in {name} "A=B"; got {text!r}'
        )
    return found
