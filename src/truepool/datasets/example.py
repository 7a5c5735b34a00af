"""The bundled panel: five models reading breast biopsies."""

from importlib.resources import as_file, files

from truepool.panel import Panel
from truepool.tables import read_panel


def example() -> Panel:
    """569 biopsies, five models that each see a few features; 1 is malignant.

    Made by ``scripts/make_example_panel.py`` from the Wisconsin diagnostic data set
    that ships with scikit-learn. Every report was made by a model that had not seen
    the case.

    >>> example()  # doctest: +ELLIPSIS
    Panel(569 cases, 5 agents (logistic, forest, tree, bayes, neighbours), 2 ...)
    """
    with as_file(files("truepool.datasets") / "example.csv") as path:
        return read_panel(path, "malignant")
