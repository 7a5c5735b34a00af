"""``truepool pool``: fit on one table, pool another."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options
from truepool.cli.options import option

if TYPE_CHECKING:
    from truepool.panel.labels import Labels
    from truepool.pools import Explanation, Pool, PoolResult
    from truepool.tables import TableFormat


@options.with_table
def pool(
    train: Annotated[
        Path,
        typer.Argument(metavar="TRAIN", help="Table with reports and outcomes."),
    ],
    new: Annotated[
        Path,
        typer.Argument(
            metavar="NEW", help="Table with reports of the same agents on new cases."
        ),
    ],
    output: Annotated[
        Path,
        option("--output", "CSV or Parquet file to write; - prints CSV."),
    ],
    *,
    table_format: "TableFormat",
    rule: "Pool",
    capacity: options.Capacity = None,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    json_file: options.Json = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit a pool on TRAIN, then pool and decide the cases in NEW."""
    from truepool.cli.outputs import STDOUT, check_files, write_cases, write_json
    from truepool.cli.screen import clock, print_line
    from truepool.core.files import together
    from truepool.measures.capacity import Capacity
    from truepool.panel.costs import Costs
    from truepool.panel.panel import check_times
    from truepool.panel.report_units import shares_above
    from truepool.pools.unit_doubt import doubt_likeness
    from truepool.render.labels import sentence
    from truepool.tables import file_format, load_reports
    from truepool.tables.summary import describe_repeats

    check_files([train, new], [output, json_file])
    if output != STDOUT:
        file_format(output, "written")
    limit = None if capacity is None else Capacity.parse(capacity)
    _check_id(table_format.id)
    trained_on = _train_format(table_format, train, new)
    panel = options.read_panel(train, trained_on, costs=rule.costs)
    options.check_class_costs(rule.costs, panel.labels)
    options.note_faults(panel)
    check = options.cost_check(rule.costs, decided=True)
    reports = load_reports(new, panel.agents, table_format, panel.labels, check)
    doubt = None
    if table_format.percent:
        above = shares_above(panel.sparse or panel.values)
        doubt = doubt_likeness(panel.agents, table_format, above)
    if doubt is not None:
        doubt.check_reports(reports.layout, reports.summary.signed)
    options.NOTES.extend(f"{new.name}: {line}" for line in reports.summary.notes())
    if repeated := reports.summary.duplicate_ids:
        options.NOTES.append(f"warning: {new.name}: {describe_repeats(repeated)}")
    with clock("Fitting", rule.name):
        rule.fit_panel(panel)
    result = rule.pool(reports.layout, reports.columns)
    if limit is not None:
        costs = (rule.costs or Costs()).resolve(reports.columns, reports.ids)
        result = result.within(limit, costs, check_times(reports.times))
    name = table_format.long[0] if table_format.long else table_format.id or "id"
    ids = {} if reports.ids is None else {name: reports.ids}
    columns = ids | _pooled_columns(result, panel.labels)
    explanation = rule.explain()
    summary = _summary(explanation, result, output)
    counts = panel.counts
    with together():
        write_cases(output, columns, spreadsheet_safe=spreadsheet_safe)
        outcome_labels = {"outcome_labels": panel.labels.to_dict(counts)}
        write_json(json_file, summary | outcome_labels)
    if not quiet and STDOUT not in (json_file, output):
        print_line(sentence(panel.labels, counts))
        _show(explanation, summary, panel.labels)


def _check_id(id: str | None) -> None:
    from truepool.core.errors import SourceError

    if id in ("pooled", "decision"):
        raise SourceError(
            f"the result has a column {id!r} of its own; rename the id column"
        )


def _pooled_columns(result: "PoolResult", labels: "Labels") -> dict[str, Any]:
    """Two classes: that of the positive one, 1 for it. More: each by its name."""
    import numpy as np

    pooled = result.probabilities
    if pooled.shape[1] == 2:
        return {"pooled": pooled[:, 1], "decision": result.decisions}
    columns = {f"pooled:{k}": p for k, p in zip(labels.names, pooled.T, strict=True)}
    return columns | {"decision": np.array(labels.names)[result.decisions]}


def _summary(
    explanation: "Explanation", result: "PoolResult", output: Path
) -> dict[str, Any]:
    import numpy as np

    classes = result.probabilities.shape[1]
    counts = np.bincount(result.decisions, minlength=classes).tolist()
    return {
        "pool": explanation.name,
        "why": explanation.why,
        "weights": explanation.weights,
        "members": explanation.members,
        "scores": explanation.scores,
        "cases": len(result.decisions),
        "decisions": {str(k): count for k, count in enumerate(counts)},
        "output": str(output),
    }


def _show(
    explanation: "Explanation", summary: dict[str, Any], labels: "Labels"
) -> None:
    from truepool.cli.screen import console, print_line
    from truepool.render.tables.weights import explanation_grids

    if explanation.why is not None:
        print_line(f"Why: {explanation.why}.")
    for table in explanation_grids(explanation):
        table.print(console())
    decisions = zip(labels.names, summary["decisions"].values(), strict=True)
    totals = ", ".join(f"{name} in {count:,}" for name, count in decisions)
    print_line(
        f"Pooled {summary['cases']:,} cases with {summary['pool']}. Decided {totals}. "
        f"Wrote {summary['output']}."
    )


def _train_format(table_format: "TableFormat", train: Path, new: Path) -> "TableFormat":
    """Ignore the columns that TRAIN has; NEW must have the others."""
    from truepool.core.errors import SourceError, suggestion
    from truepool.tables import read_column_names
    from truepool.tables.agent_columns import ignored_columns

    if not table_format.ignore or table_format.long:
        return table_format
    there = read_column_names(train, sep=table_format.sep)
    either = [*there, *read_column_names(new, sep=table_format.sep)]
    unknown = [n for n in table_format.ignore if not ignored_columns(either, (n,))]
    if unknown:
        raise SourceError(
            f"neither table has a column {unknown[0]!r}{suggestion(unknown[0], either)}"
        )
    kept = [n for n in table_format.ignore if ignored_columns(there, (n,))]
    return replace(table_format, ignore=tuple(kept))
