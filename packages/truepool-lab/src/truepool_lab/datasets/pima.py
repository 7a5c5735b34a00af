"""Diabetes among Pima women."""

from typing import ClassVar, final

import numpy as np

from truepool.agents.features import Features
from truepool.datasets import Dataset, File
from truepool.datasets.columns import number_column, number_columns, read_columns
from truepool.datasets.sampling import Seed, check_seed, sample_rows

NAMES = (
    "Pregnancies Glucose BloodPressure SkinThickness Insulin BMI "
    "DiabetesPedigreeFunction Age"
).split()
ZERO_MEANS_MISSING = ("Glucose", "BloodPressure", "SkinThickness", "Insulin", "BMI")
"""Nobody alive has a 0 here: it was written where nothing was measured."""


@final
class Pima(Dataset):
    """768 women, 268 of them with diabetes within five years."""

    name: ClassVar[str] = "pima"
    rows: ClassVar[int] = 768
    columns: ClassVar[int] = 8
    labels: ClassVar[tuple[str, ...]] = ("healthy", "diabetes")
    missing: ClassVar[int] = 652
    source: ClassVar[str] = "NIDDK"
    licence: ClassVar[str] = "CC0"
    cite: ClassVar[str] = (
        "J. W. Smith et al., Using the ADAP learning algorithm to forecast the onset "
        "of diabetes mellitus, 1988"
    )
    files: ClassVar[tuple[File, ...]] = (
        File(
            "pima_diabetes.csv",
            "b78029447fae2743b3218bb2b76ef0d04afe8d7e55ce2faf4d1ec82d8f8ae8ac",
            23_105,
            "https://raw.githubusercontent.com/npradaschnor/"
            "Pima-Indians-Diabetes-Dataset/977a0ba62e05286f4b27c7ab6a85eb033a3b5d8e/"
            "diabetes.csv",
        ),
    )

    @classmethod
    def load(
        cls, rows: int | None = None, seed: Seed = 0, *, zeros: bool = False
    ) -> Features:
        """Women of the Pima set (Smith et al. 1988); 1 is diabetes.

        A 0 in glucose, blood pressure, skin thickness, insulin or BMI means that it was
        not measured, and becomes NaN (652 values); the paper fills those with medians:
        `Features.encoder` does, by training rows.

        Parameters
        ----------
        rows : int, optional
            How many to draw without replacement; None takes all.
        seed : int or Generator, optional
            For the draw and the order; None keeps the published order.
        zeros : bool
            Leave the zeros as they were published.
        """
        check_seed(seed, rows)
        (path,) = cls.paths()
        table = read_columns(path, [*NAMES, "Outcome"])
        values = number_columns(table, NAMES)
        if not zeros:
            measured = [NAMES.index(name) for name in ZERO_MEANS_MISSING]
            part = values[:, measured]
            values[:, measured] = np.where(part == 0, np.nan, part)
        every = Features(
            values,
            number_column(table, "Outcome"),
            NAMES,
            labels=cls.labels,
            name=cls.name,
        )
        return every.take(sample_rows(rows, len(every), seed))


pima = Pima.load
