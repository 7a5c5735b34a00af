"""``truepool pool``: fit on one table, score another, in one go."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options
from truepool.cli.fit import learn
from truepool.cli.keys import option
from truepool.cli.run import Run
from truepool.cli.score import score_table

if TYPE_CHECKING:
    from truepool.pools import Explanation, Pool
    from truepool.scoring.scorer import Tally
    from truepool.tables import Declared, TableFaults


@options.verb()
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
        option(
            "output", "CSV, Excel, Parquet or JSON-lines file to write; - prints CSV."
        ),
    ],
    *,
    declared: "Declared",
    rule: "Pool",
    capacity: options.Capacity = None,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    json_file: options.Json = None,
    quiet: options.Quiet = False,
    run: Run,
) -> None:
    """Fit a pool on TRAIN and score the cases in NEW."""
    from truepool.cli.outputs import STDOUT, check_files, write_json
    from truepool.core.engine import make_engine
    from truepool.core.files import together
    from truepool.scoring import Scoring
    from truepool.tables import TableFaults, file_format

    check_files([train, new], [output, json_file])
    if output != STDOUT:
        file_format(output, batches=True)
    learn(rule, train, declared, run, make_engine("local", None))
    how = Scoring(capacity=capacity)
    with together():
        try:
            safe = spreadsheet_safe
            tally = score_table(rule, new, output, how, run, safe=safe)
        except TableFaults as faults:
            raise _of_new(faults) from None
        explanation = rule.explain()
        summary = _summary(explanation, tally, output)
        labels = rule.labels_.to_dict(rule.training_.counts)
        write_json(json_file, summary | {"outcome_labels": labels})
    run.print_notes()
    if not quiet and STDOUT not in (json_file, output):
        _show(rule, explanation, tally, output)


def _of_new(faults: "TableFaults") -> "TableFaults":
    """Leave out the keys that would cure NEW: they are about TRAIN.

    Words that mean no report are the same in both.
    """
    from truepool.tables import TableFaults

    found = []
    for fault in faults.faults:
        cures = [cure for cure in fault.cures if cure.key in ("", "missing")]
        found.append(replace(fault, cures=tuple(cures)))
    return TableFaults(found, faults.questions, faults.table)


def _summary(
    explanation: "Explanation", tally: "Tally", output: Path
) -> dict[str, Any]:
    return {
        "pool": explanation.name,
        "why": explanation.why,
        "weights": explanation.weights,
        "members": explanation.members,
        "scores": explanation.scores,
        "cases": tally.cases,
        "empty": tally.empty,
        "decisions": {str(k): tally.decisions[k] for k in sorted(tally.decisions)},
        "output": str(output),
    }


def _show(
    rule: "Pool", explanation: "Explanation", tally: "Tally", output: Path
) -> None:
    from truepool.cli.score import summary
    from truepool.cli.screen import console, print_line
    from truepool.pages.labels import sentence
    from truepool.pages.weights import explanation_grids

    print_line(sentence(rule.labels_, rule.training_.counts))
    if explanation.why is not None:
        print_line(f"Why: {explanation.why}.")
    for table in explanation_grids(explanation):
        table.print(console())
    names = rule.labels_.names
    totals = ", ".join(
        f"{names[k]} in {tally.decisions[k]:,}" for k in range(len(names))
    )
    print_line(f"{summary(tally, rule, output)} Decided {totals}.")
