"""Heart disease: patients of the Cleveland clinic."""

from typing import ClassVar, final

from truepool.agents.features import Features
from truepool.datasets import Dataset, File
from truepool.datasets.columns import number_column, number_columns, read_columns
from truepool.datasets.sampling import Seed, check_seed, sample_rows

NAMES = (
    "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal"
).split()


@final
class Heart(Dataset):
    """303 patients, 139 of them with heart disease; 6 values are missing."""

    name: ClassVar[str] = "heart"
    rows: ClassVar[int] = 303
    columns: ClassVar[int] = 13
    labels: ClassVar[tuple[str, ...]] = ("healthy", "disease")
    missing: ClassVar[int] = 6
    source: ClassVar[str] = "UCI"
    licence: ClassVar[str] = "CC BY 4.0"
    cite: ClassVar[str] = (
        "A. Janosi, W. Steinbrunn, M. Pfisterer, R. Detrano, Heart Disease, UCI 1988, "
        "DOI 10.24432/C52P4X; R. Detrano et al., American Journal of Cardiology 64, "
        "1989"
    )
    files: ClassVar[tuple[File, ...]] = (
        File(
            "heart_processed.cleveland.data",
            "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",
            18_461,
            "https://archive.ics.uci.edu/ml/machine-learning-databases/heart-disease/"
            "processed.cleveland.data",
        ),
    )

    @classmethod
    def load(cls, rows: int | None = None, seed: Seed = 0) -> Features:
        """Patients of the Cleveland set (Detrano et al. 1989); 1 is heart disease.

        All 13 features are numbers, as in the paper, which fills the missing ones (4 in
        ca, 2 in thal) with medians: `Features.encoder` does, by training rows.

        Parameters
        ----------
        rows : int, optional
            How many to draw without replacement; None takes all.
        seed : int or Generator, optional
            For the draw and the order; None keeps the published order.
        """
        check_seed(seed, rows)
        (path,) = cls.paths()
        table = read_columns(path, [*NAMES, "num"], header=False, missing="?")
        every = Features(
            number_columns(table, NAMES),
            number_column(table, "num") > 0,
            NAMES,
            labels=cls.labels,
            name=cls.name,
        )
        return every.take(sample_rows(rows, len(every), seed))


heart = Heart.load
