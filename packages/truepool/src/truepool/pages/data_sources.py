"""Data sets, as tables: which there are, and whether their files are intact."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from truepool.datasets import Dataset
from truepool.pages.grid import Grid


def to_dict(dataset: type[Dataset]) -> dict[str, Any]:
    """Return what is known of a data set, for machines."""
    return {
        "name": dataset.name,
        "rows": dataset.rows,
        "columns": dataset.columns,
        "classes": len(dataset.labels),
        "labels": list(dataset.labels),
        "missing": dataset.missing,
        "found": dataset.location(),
        "source": dataset.source,
        "licence": dataset.licence,
        "cite": dataset.cite,
        "files": [
            {"name": f.name, "sha256": f.sha256, "size": f.size, "address": f.address}
            for f in dataset.files
        ],
    }


def grid(datasets: Collection[type[Dataset]], folders: Mapping[str, Path]) -> Grid:
    """Lay out every data set, one line each."""
    headers = ("name", "rows", "columns", "classes", "found", "source", "licence")
    lines = tuple(
        (
            known["name"],
            f"{known['rows']:,}",
            str(known["columns"]),
            str(known["classes"]),
            known["found"] or "-",
            known["source"],
            known["licence"],
        )
        for known in map(to_dict, datasets)
    )
    searched = [
        f"{kind}: {path}{'' if path.is_dir() else ' (does not exist)'}"
        for kind, path in folders.items()
    ]
    panels = (known.name for known in datasets if known.column_kind == "agent")
    notes = (
        f"Columns are features, or agents in panels: {', '.join(panels)}.",
        *(f"Searched {line}" for line in searched),
        "Data sets not found (-) are downloaded on first use.",
    )
    return Grid(f"{len(lines)} data sets", headers, lines, notes, essential=5)


def file_checks(rows: Iterable[tuple[str, str, str]]) -> Grid:
    """Lay out the verdict on each file of a data set."""
    return Grid("Files and their checksums", ("name", "file", "content"), tuple(rows))
