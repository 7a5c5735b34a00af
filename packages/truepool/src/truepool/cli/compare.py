"""``truepool compare``: every pool side by side."""

from typing import TYPE_CHECKING, Annotated

from truepool.cli import options
from truepool.cli.keys import LOSSES, key, option
from truepool.cli.run import LEFT_OUT, Run, unrelated_outcome

if TYPE_CHECKING:
    from truepool.panel.costs import Costs
    from truepool.panel.panel import Panel
    from truepool.tables import Declared


MANY_ROWS = 2_000
"""Above so many rows of cases split by updates, it is said that fitting takes long."""


@options.verb()
def compare(
    panel: options.Table = None,
    *,
    declared: "Declared",
    costs: "Costs",
    threshold: options.Threshold = None,
    loss: Annotated[str, key("loss", f"Loss to rank the pools by: {LOSSES}.")] = "cost",
    pool: Annotated[
        list[str] | None,
        option(
            "pool",
            "Only these pools, separated by commas. Repeatable. Default: all but "
            "crowd and the neural ones (mlp-2, mlp-4, deep-sets, attention), which "
            "must be named.",
        ),
    ] = None,
    folds: Annotated[int, key("folds", "Folds of the cross-validation.", "NUMBER")] = 5,
    capacity: options.Capacity = None,
    by: options.By = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    engine: options.EngineName = "local",
    address: options.Address = None,
    json_file: options.Json = None,
    markdown: options.Markdown = None,
    quiet: options.Quiet = False,
    run: Run,
) -> None:
    """Compare every pool on PANEL, side by side.

    Each pool is tested on cases that it was not fitted on, by cross-validation.
    """
    from truepool.cli.costs import check_class_costs
    from truepool.cli.engines import opened
    from truepool.cli.outputs import STDOUT, check_files, print_files, write_json
    from truepool.cli.screen import console, print_line, progress_bar
    from truepool.comparison import compare as rank
    from truepool.core.engine import make_engine
    from truepool.core.files import together, write_text
    from truepool.pages import labels
    from truepool.pages.comparison import grid, groups
    from truepool.pages.grid import plain

    check_files([panel], [json_file, markdown])
    where = make_engine(engine, address)
    cases = run.panel_or_example(
        panel,
        declared,
        pending=LEFT_OUT if capacity is None else "used for the capacity only",
        seed=seed,
        costs=costs,
    )
    check_class_costs(costs, cases.labels)
    run.note_faults(cases, outcome=False)  # said first, below
    if pool is None and not quiet:
        _print_size(cases)
    with opened(where), progress_bar("Comparing pools") as progress:
        result = rank(
            cases,
            costs=costs,
            threshold=threshold,
            loss=loss,
            pools=None if pool is None else [n for p in pool for n in p.split(",")],
            cv=folds,
            capacity=capacity,
            by=by,
            level=level,
            seed=seed,
            progress=progress,
            engine=where,
        )
    shown = [grid(result), *([groups(result)] if result.groups else [])]
    heading = labels.sentence(cases.labels, cases.counts)
    outcome_labels = {"outcome_labels": cases.labels.to_dict(cases.counts)}
    values = result.to_dict() | outcome_labels
    tables = "\n\n".join(table.to_markdown() for table in shown)
    doubt = _doubt(cases, costs)
    first = "" if doubt is None else f"{plain(doubt)}\n\n"
    text = f"{first}{plain(heading)}\n\n{tables}\n"
    with together():
        write_json(json_file, values)
        if markdown is not None:
            write_text(markdown, text)
    run.print_notes()
    if not (quiet or json_file == STDOUT):
        if doubt is not None:
            print_line(doubt)
        print_line(heading)
        for table in shown:
            table.print(console())
        if pool is None:
            print_line(_others())
        print_files(json_file, markdown)


def _print_size(panel: "Panel") -> None:
    """Say before the wait that updates make many rows, and how to have fewer."""
    from truepool.cli.outputs import print_note

    if panel.questions is not None and len(panel) > MANY_ROWS:
        print_note(
            f"{panel.size:,} cases have {len(panel):,} rows, one for each time a "
            "report changed; fitting every pool to them may take minutes. Faster: "
            "--pool mean,log-odds,platt, or --set updates=last."
        )


def _doubt(panel: "Panel", costs: "Costs") -> str | None:
    """Say that the outcome may be the wrong one, and what deciding blindly costs."""
    from truepool.core.sentences import TERMINAL, say

    found = unrelated_outcome(panel, costs)
    return found and say("warning", "unrelated", {"found": found}, TERMINAL)


def _others() -> str:
    """Say which pools are compared only if they are named, and how."""
    from truepool.pools import every

    others = [name for name, pool in every().items() if not pool.by_default]
    return (
        f"Only compared if named: {', '.join(others)}. For one of them: truepool "
        f"compare --pool {others[0]}; the baselines are always included."
    )
