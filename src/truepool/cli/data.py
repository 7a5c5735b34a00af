"""``truepool data``: real data sets, where they lie, and whether they are whole."""

import json
from typing import Annotated

import typer

from truepool.cli import options

app = typer.Typer(
    help="Real data sets: what there is, where it lies, whether it is whole.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def every(as_json: options.Json = False) -> None:
    """Every data set: size, where found, source and licence."""
    from truepool import datasets
    from truepool.cli.screen import out
    from truepool.datasets.location import folders
    from truepool.render.tables import data_sources as tables

    known = datasets.every().values()
    if as_json:
        print(json.dumps([tables.to_dict(dataset) for dataset in known], indent=2))
    else:
        tables.grid(known, folders()).print(out())


@app.command("path")
def path(
    name: Annotated[str, typer.Argument(help="Which data set.")],
) -> None:
    """Paths of the files of NAME, fetched if they are not here."""
    from truepool import datasets
    from truepool.core.errors import SourceError

    dataset = datasets.find(name)
    if not dataset.files:
        raise SourceError(f"data set {name!r} is {dataset.home}; it has no file")
    for place in dataset.paths():
        print(place)


@app.command("verify")
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Which data sets; all that are found if left out."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check the content of files against the published sha256 sums."""
    from truepool import datasets
    from truepool.cli.screen import out, watched
    from truepool.core.errors import SourceError
    from truepool.datasets.verification import ABSENT, verify
    from truepool.render.tables import data_sources as tables

    chosen = [datasets.find(name) for name in names or datasets.every()]
    files = [(dataset, file) for dataset in chosen for file in dataset.files]
    rows = []
    with watched("Verifying") as progress:
        for done, (dataset, file) in enumerate(files):
            progress(file.name, done, len(files))
            rows.append(verify(dataset, file))
    if as_json:
        print(json.dumps([row.to_dict() for row in rows], indent=2))
    else:
        tables.file_checks((r.dataset, r.file, r.verdict) for r in rows).print(out())
    for row in rows:
        if row.fault and (names or row.verdict != ABSENT):
            raise SourceError(row.fault)
