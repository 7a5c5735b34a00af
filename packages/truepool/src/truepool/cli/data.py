"""``truepool data``: real data sets, where they are, and whether they are intact."""

from typing import TYPE_CHECKING, Annotated

import typer

from truepool.cli import options

if TYPE_CHECKING:
    from truepool.datasets import Dataset

app = typer.Typer(
    help="List, locate and verify data sets.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_datasets(json_file: options.Json = None) -> None:
    """List every data set: size, location, source and licence."""
    from truepool import datasets
    from truepool.cli.outputs import STDOUT, check_files, print_files, write_json
    from truepool.cli.screen import console
    from truepool.datasets.location import folders
    from truepool.pages import data_sources as tables

    check_files([], [json_file])
    known = datasets.every().values()
    write_json(json_file, [tables.to_dict(dataset) for dataset in known])
    if json_file != STDOUT:
        tables.grid(known, folders()).print(console())
        print_files(json_file)


@app.command("path")
def print_paths(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which data set.")],
) -> None:
    """Print where a data set is; download it if needed."""
    for path in _with_files(name).paths():
        print(path)


@app.command("verify")
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME...",
            help="Which data sets (default: all that are on this machine).",
        ),
    ] = None,
    json_file: options.Json = None,
) -> None:
    """Compare files with their published sha256 checksums."""
    from truepool import datasets
    from truepool.cli.outputs import STDOUT, check_files, print_files, write_json
    from truepool.cli.screen import console, progress_bar
    from truepool.core.errors import SourceError
    from truepool.datasets.verification import ABSENT, verify
    from truepool.pages import data_sources as tables

    check_files([], [json_file])
    chosen = list(map(_with_files, names)) if names else datasets.every().values()
    files = [(dataset, file) for dataset in chosen for file in dataset.files]
    rows = []
    with progress_bar("Verifying") as progress:
        for done, (dataset, file) in enumerate(files):
            progress(file.name, done, len(files))
            rows.append(verify(dataset, file))
    write_json(json_file, [row.to_dict() for row in rows])
    if json_file != STDOUT:
        checks = ((row.dataset, row.file, row.verdict) for row in rows)
        tables.file_checks(checks).print(console())
        print_files(json_file)
    for row in rows:
        if row.fault and (names or row.verdict != ABSENT):
            raise SourceError(row.fault)


def _with_files(name: str) -> type["Dataset"]:
    """Return the data set of that name; one without files is refused."""
    from truepool import datasets
    from truepool.core.errors import SourceError

    dataset = datasets.find(name)
    if not dataset.files:
        raise SourceError(
            f"data set {name!r} is {dataset.home}, not read from files; "
            f"in Python, truepool.datasets.load({name!r}) returns it"
        )
    return dataset
