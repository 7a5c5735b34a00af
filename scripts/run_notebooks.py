#!/usr/bin/env python
"""Execute the notebooks of the documentation and keep what they print: make notebooks.

Names of notebooks may be given; without any, all are executed.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
SECONDS = 600
"""How long a cell may take."""


def run(path: Path) -> None:
    """Execute a notebook in an empty folder, and write it without what varies."""
    notebook: Any = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook, timeout=SECONDS, resources={"metadata": {"path": folder}}
        )
        client.execute()
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell["metadata"] = {}
    notebook["metadata"] = {"language_info": {"name": "python"}}
    nbformat.write(notebook, path)


def main() -> None:
    """Execute the notebooks that are named, or all."""
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    for name in names:
        run(FOLDER / f"{name}.ipynb")
        print(f"Executed {name}.")


if __name__ == "__main__":
    main()
