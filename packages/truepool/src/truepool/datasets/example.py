"""The bundled panel: five models reading breast biopsies."""

from importlib.resources import as_file, files
from typing import ClassVar, final

from truepool.datasets.interface import Dataset
from truepool.panel.panel import Panel
from truepool.tables import read_panel


@final
class Example(Dataset):
    """569 biopsies, 212 of them malignant; one of five models often gives no report."""

    name: ClassVar[str] = "example"
    rows: ClassVar[int] = 569
    columns: ClassVar[int] = 5
    column_kind: ClassVar[str] = "agent"
    labels: ClassVar[tuple[str, ...]] = ("benign", "malignant")
    missing: ClassVar[int] = 36
    source: ClassVar[str] = "scikit-learn"
    licence: ClassVar[str] = "BSD-3"
    cite: ClassVar[str] = (
        "W. Wolberg, O. Mangasarian, N. Street, W. Street, Breast Cancer Wisconsin "
        "(Diagnostic), UCI 1993"
    )
    home: ClassVar[str] = "bundled"

    @classmethod
    def load(cls) -> Panel:
        """569 biopsies, five models that each see a few features; 1 is malignant.

        Made by ``scripts/make_example_panel.py`` from the Wisconsin diagnostic data set
        that ships with scikit-learn. Every report was made by a model that had not seen
        the case.

        >>> Example.load()  # doctest: +ELLIPSIS
        Panel(569 cases, 5 agents (logistic, forest, tree, bayes, neighbours), 2 ...)
        """
        with as_file(files("truepool.datasets") / "example.csv") as path:
            return read_panel(path, "malignant")


example = Example.load
