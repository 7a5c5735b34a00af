"""``truepool agent``: train agents on a table of features, ask them, export them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truepool.cli import options

if TYPE_CHECKING:
    from truepool.data.labels import Labels

app = typer.Typer(
    help="Train agents on features, ask them for reports, export them to ONNX.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Table = Annotated[Path, typer.Argument(help="CSV or Parquet table of features.")]
Saved = Annotated[Path, typer.Argument(help="Agent: a .joblib file of agent train.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to write to.")]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Load .joblib files, which can run any code, from this source."
    ),
]


@app.command("train")
def train(
    table: Table,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="A .joblib file for one agent, else a folder."
        ),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(help="Kind of model; may be repeated. 'paper' is its five."),
    ] = None,
    outcome: options.Outcome = "y",
    positive: options.Positive = None,
    id: options.Id = None,
    time: options.Time = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Column that is no feature; repeatable.")
    ] = None,
    features: Annotated[
        float | None, typer.Option(help="Share of the features each agent sees.")
    ] = None,
    disjoint: Annotated[
        bool, typer.Option("--disjoint", help="Each agent learns from its own rows.")
    ] = False,
    calibration: Annotated[
        str | None, typer.Option(help="platt, isotonic or temperature.")
    ] = None,
    unseen: Annotated[
        str, typer.Option(help="Categories not in TABLE: 'refuse' or 'missing'.")
    ] = "refuse",
    jobs: Annotated[int, typer.Option(help="Agents trained at once; -1: all.")] = 1,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Train agents on TABLE and save them."""
    from truepool import agents
    from truepool.cli.screen import watched
    from truepool.core.errors import OutcomeError, suggestion
    from truepool.data.tables import read_frame

    kinds = _kinds(model)
    files = _files(output, kinds)
    frame = read_frame(table, id)
    if outcome not in frame.columns:
        raise OutcomeError(
            f"the table needs an outcome column; there is no {outcome!r}"
            f"{suggestion(outcome, frame.columns)}; columns: {', '.join(frame.columns)}"
        )
    with watched("Training") as progress:
        trained = agents.train(
            _features(frame, outcome, id, time, ignore or []),
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
    for name, path in files.items():
        agents.save(trained[name], path)
    kept = {name: str(path) for name, path in files.items()}
    where = ", ".join(kept.values())
    told = {"rows": len(frame), "classes": trained.classes_.tolist(), "agents": kept}
    _say(
        f"Trained {', '.join(kept)} on {len(frame):,} rows; wrote {where}.",
        told,
        as_json,
        trained.labels,
        trained.labels.encode(frame[outcome].to_numpy()),
    )


@app.command("report")
def report(
    table: Table,
    agent: Annotated[
        list[Path], typer.Argument(help="Agents: .joblib or .onnx files.")
    ],
    output: Output,
    outcome: options.Outcome = "y",
    positive: options.Positive = None,
    id: options.Id = None,
    trust: Trust = False,
    as_json: options.Json = False,
) -> None:
    """Ask agents about the rows of TABLE; write a table that can be pooled."""
    from truepool.agents.report_table import report_columns
    from truepool.cli.screen import watched
    from truepool.core.errors import SourceError
    from truepool.data.tables import check_writable, read_frame, write_table

    check_writable(output)
    if output.resolve() == table.resolve():
        raise SourceError(f"{output} is read from; write the result to another file")
    frame = read_frame(table, id)
    with watched("Asking agents") as progress:
        columns, known = report_columns(
            frame, agent, outcome, id or "id", progress, positive=positive, trust=trust
        )
    write_table(output, columns)
    told = {"rows": len(frame), "agents": len(agent), "output": str(output)}
    _say(
        f"{len(agent)} agents reported on {len(frame):,} rows; wrote {output}.",
        told,
        as_json,
        known,
        columns.get(outcome),
    )


@app.command("export")
def export(
    agent: Saved,
    output: Output,
    rows: Annotated[
        Path | None, typer.Option(help="Table with more rows to compare on.")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Largest difference of a probability.")
    ] = None,
    trust: Trust = False,
    as_json: options.Json = False,
) -> None:
    """Write AGENT as an ONNX file, if that says what the agent says."""
    from truepool import agents
    from truepool.data.tables import read_frame

    table = None if rows is None else read_frame(rows).to_native()
    found = agents.export(agents.load(agent, trust=trust), output, table, tolerance)
    told = {
        "output": str(found.path),
        "rows": found.cases,
        "gap": found.gap,
        "missing_gap": found.missing_gap,
    }
    holes = (
        "takes no missing values"
        if found.missing_gap is None
        else f"{found.missing_gap:.1e} with missing values"
    )
    text = f"Wrote {output}: max |dp| {found.gap:.1e} on {found.cases:,} rows, {holes}."
    _say(text, told, as_json)


def _kinds(model: list[str] | None) -> list[str]:
    from truepool.agents import zoo

    asked = model or ["lightgbm"]
    every = [k for kind in asked for k in (zoo.PAPER if kind == "paper" else (kind,))]
    for kind in every:
        zoo.make(kind)  # says so before the table is read
    return list(dict.fromkeys(every))


def _files(output: Path, kinds: list[str]) -> dict[str, Path]:
    from truepool.core.errors import SourceError

    if output.suffix == ".joblib":
        if len(kinds) > 1:
            raise SourceError(
                f"{len(kinds)} agents need a folder; {str(output)!r} is one file"
            )
        return {kinds[0]: output}
    if output.is_file() or not output.parent.is_dir():
        raise SourceError(
            f"agents are saved as a .joblib file or in a folder; {str(output)!r} is "
            "neither"
        )
    return {kind: output / f"{kind}.joblib" for kind in kinds}


def _features(
    frame: Any, outcome: str, id: str | None, time: str | None, ignore: list[str]
) -> Any:
    from truepool.core.errors import SourceError, suggestion

    for name in [*ignore, *filter(None, (id, time))]:
        if name not in frame.columns:
            raise SourceError(
                f"there is no column {name!r}{suggestion(name, frame.columns)}; "
                f"columns: {', '.join(frame.columns)}"
            )
    apart = {outcome, id or "id", time or "time", *ignore}
    return frame.select([n for n in frame.columns if n not in apart]).to_native()


def _say(
    text: str,
    told: dict[str, Any],
    as_json: bool,
    known: "Labels | None" = None,
    outcomes: Any = None,
) -> None:
    """Print what was done, after the labels and how many rows have which."""
    import numpy as np

    from truepool.cli.screen import say
    from truepool.render import labels

    counts: list[int] = []
    if known is not None and outcomes is not None:
        counts = np.bincount(outcomes, minlength=len(known.names)).tolist()
    if as_json:
        if known is not None:
            told = told | {"outcome_labels": known.to_dict(counts)}
        print(json.dumps(told, indent=2))
        return
    if known is not None:
        say(labels.sentence(known, counts))
    say(text)
