"""``truepool agent``: train agents or ask models, collect reports, export agents."""

from pathlib import Path
from typing import Annotated, Any

import typer

from truepool.cli import options
from truepool.cli.keys import key, option

app = typer.Typer(
    help="Train agents or ask language models, collect reports, export agents.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Table = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, Excel, Parquet or JSON lines table with one row per case and "
        "one column per feature.",
    ),
]


@app.command("train")
def train(
    table: Table,
    output: Annotated[
        Path,
        option("output", "A .joblib file for one agent, a folder for several."),
    ],
    model: Annotated[
        list[str] | None,
        option(
            "model",
            "Kind of model (default: lightgbm). Repeatable; 'paper' stands for the "
            "five models of the paper.",
        ),
    ] = None,
    outcome: Annotated[str, option("outcome", "Column with the outcome.")] = "y",
    positive: options.Positive = None,
    id: options.Id = None,
    time: options.Time = None,
    ignore: options.Ignore = None,
    features: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Share of the features that each agent sees."
        ),
    ] = None,
    disjoint: Annotated[
        bool,
        typer.Option(
            "--disjoint", help="Train each agent on a separate part of the cases."
        ),
    ] = False,
    calibration: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Calibrate on held-out cases: platt, isotonic or temperature.",
        ),
    ] = None,
    unseen: Annotated[
        str,
        key(
            "unseen",
            "How agents handle a category that TABLE does not have: 'refuse' it, "
            "or treat it as 'missing'.",
            "NAME",
        ),
    ] = "refuse",
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    force: options.Force = False,
    json_file: options.Json = None,
) -> None:
    """Train agents on TABLE and save them."""
    from truepool import agents
    from truepool.cli.outputs import (
        check_files,
        check_own_files,
        print_summary,
        record_own_files,
        write_summary,
    )
    from truepool.cli.screen import progress_bar
    from truepool.core.files import together

    kinds = _kinds(model)
    files = _files(output, kinds)
    check_files([table], [json_file])
    names = [path.name for path in files.values() if path != output]
    if names and output.is_dir():
        check_own_files(output, names, force=force)
    frame = _frame(table, id)
    _check_columns(frame, outcome=outcome, id=id, time=time, ignore=ignore)
    excluded = {outcome, id or "id", time or "time", *(ignore or ())}
    features_of = [name for name in frame.columns if name not in excluded]
    with progress_bar("Training") as progress:
        trained = agents.train(
            frame.select(features_of).to_native(),
            frame[outcome].to_numpy(),
            kinds,
            positive=positive,
            features=features,
            cases="disjoint" if disjoint else None,
            calibration=calibration,
            seed=seed,
            unseen=unseen,  # type: ignore[arg-type]
            n_jobs=jobs,
            cache=False,
            progress=progress,
        )
    if output.suffix != ".joblib":
        output.mkdir(exist_ok=True)
    saved = {name: str(path) for name, path in files.items()}
    where = ", ".join(saved.values())
    summary = {
        "cases": len(frame),
        "classes": trained.classes_.tolist(),
        "agents": saved,
    }
    known = trained.labels, trained.labels.encode(frame[outcome].to_numpy())
    with together():
        for name, path in files.items():
            agents.save(trained[name], path)
        write_summary(summary, json_file, *known)
    if names:
        record_own_files(output, names)
    print_summary(
        f"Trained {', '.join(saved)} on {len(frame):,} cases. Wrote {where}.",
        json_file,
        *known,
    )


@app.command("report")
def report(
    table: Table,
    agent: Annotated[
        list[Path],
        typer.Argument(metavar="AGENT...", help="Agents: .joblib or .onnx files."),
    ],
    output: Annotated[
        Path,
        option("output", "CSV or Parquet file to write; - prints CSV."),
    ],
    outcome: Annotated[str, option("outcome", "Column with the outcome.")] = "y",
    positive: options.Positive = None,
    id: options.Id = None,
    time: options.Time = None,
    trust: options.Trust = False,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    json_file: options.Json = None,
) -> None:
    """Collect the reports of agents on TABLE, ready to be pooled."""
    from truepool.agents.report_table import report_columns
    from truepool.cli.outputs import (
        STDOUT,
        check_files,
        print_summary,
        write_cases,
        write_summary,
    )
    from truepool.cli.screen import progress_bar
    from truepool.core.files import together
    from truepool.core.formatting import pluralize
    from truepool.tables import file_format

    if output != STDOUT:
        file_format(output)
    check_files([table, *agent], [output, json_file])
    frame = _frame(table, id)
    _check_columns(frame, id=id, time=time)
    copied = {"id": id or "id", "time": time or "time"}
    with progress_bar("Collecting reports") as progress:
        columns, known = report_columns(
            frame, agent, outcome, copied, progress, positive=positive, trust=trust
        )
    summary = {"cases": len(frame), "agents": len(agent), "output": str(output)}
    with together():
        write_cases(output, columns, spreadsheet_safe=spreadsheet_safe)
        write_summary(summary, json_file, known, columns.get(outcome))
    if output == STDOUT and json_file is None:
        return
    print_summary(
        f"{pluralize(len(agent), 'agent')} reported on "
        f"{pluralize(len(frame), 'case')}. Wrote {output}.",
        json_file,
        known,
        columns.get(outcome),
    )


@app.command("export")
def export(
    agent: Annotated[
        Path,
        typer.Argument(
            metavar="AGENT", help="A .joblib file that `truepool agent train` wrote."
        ),
    ],
    output: Annotated[Path, option("output", "The .onnx file to write.")],
    check_on: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="Also compare on the cases of this table."),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Largest difference in probability that is accepted.",
        ),
    ] = None,
    trust: options.Trust = False,
    json_file: options.Json = None,
) -> None:
    """Export AGENT to ONNX and check that both give the same reports."""
    from truepool import agents
    from truepool.cli.outputs import check_files, print_summary, write_summary
    from truepool.core.files import together

    check_files([agent, check_on], [output, json_file])
    table = None if check_on is None else _frame(check_on).to_native()
    with together():
        found = agents.export(agents.load(agent, trust=trust), output, table, tolerance)
        summary = {
            "output": str(found.path),
            "cases": found.cases,
            "gap": found.gap,
            "missing_gap": found.missing_gap,
        }
        write_summary(summary, json_file)
    missing = (
        "it takes no missing values"
        if found.missing_gap is None
        else f"{found.missing_gap:.1e} with missing values"
    )
    print_summary(
        f"Wrote {output}: probabilities differ by at most {found.gap:.1e} on "
        f"{found.cases:,} cases; {missing}.",
        json_file,
    )


def _frame(table: Path, id: str | None = None) -> Any:
    """Read the columns of a table as they are; ids keep their zeros."""
    import narwhals as nw

    from truepool.tables import open_source
    from truepool.tables.source import Dialect

    text = tuple(name for name in (id or "id",) if name)
    return nw.from_native(open_source(table, Dialect(text=text)).table())


def _kinds(model: list[str] | None) -> list[str]:
    from truepool.agents import zoo

    names = model or ["lightgbm"]
    kinds = [k for name in names for k in (zoo.PAPER if name == "paper" else (name,))]
    for kind in kinds:
        zoo.make(kind)  # an unknown one is refused before the table is read
    return list(dict.fromkeys(kinds))


def _files(output: Path, kinds: list[str]) -> dict[str, Path]:
    from truepool.cli.outputs import check_folder
    from truepool.core.errors import SourceError

    if output.suffix == ".joblib":
        if len(kinds) > 1:
            raise SourceError(
                f"{len(kinds)} agents need a folder; {str(output)!r} is a single file"
            )
        return {kinds[0]: output}
    check_folder(output)
    return {kind: output / f"{kind}.joblib" for kind in kinds}


def _check_columns(frame: Any, **named: str | list[str] | None) -> None:
    """Refuse keys that name columns which are not there, all at once."""
    from truepool.tables import TableFaults
    from truepool.tables.source import column_fault

    faults = [
        column_fault(key, name, frame.columns, several=isinstance(value, list))
        for key, value in named.items()
        for name in (value if isinstance(value, list) else [value])
        if name is not None and name not in frame.columns
    ]
    if faults:
        raise TableFaults(faults)
