"""Credit card payments, a few of them fraud."""

from typing import ClassVar, final

from truepool.agents.features import Features
from truepool.datasets import Dataset, File
from truepool.datasets.columns import number_column, number_columns, read_columns
from truepool.datasets.sampling import Seed, check_seed, sample_by_class, sample_rows

NAMES = ("Time", *(f"V{i}" for i in range(1, 29)), "Amount")


@final
class CreditCard(Dataset):
    """Payments of two days in September 2013; 492 of 284,807 are fraud."""

    name: ClassVar[str] = "credit-card"
    rows: ClassVar[int] = 284_807
    columns: ClassVar[int] = 30
    labels: ClassVar[tuple[str, ...]] = ("genuine", "fraud")
    source: ClassVar[str] = "ULB"
    licence: ClassVar[str] = "DbCL 1.0"
    cite: ClassVar[str] = (
        "A. Dal Pozzolo, O. Caelen, R. Johnson, G. Bontempi, Calibrating Probability "
        "with Undersampling for Unbalanced Classification, IEEE CIDM 2015"
    )
    files: ClassVar[tuple[File, ...]] = (
        File(
            "creditcard.csv",
            "76274b691b16a6c49d3f159c883398e03ccd6d1ee12d9d8ee38f4b4b98551a89",
            150_828_752,
            "https://www.kaggle.com/api/v1/datasets/download/mlg-ulb/creditcardfraud"
            "?datasetVersionNumber=3",
            zipped=True,
        ),
    )

    @classmethod
    def load(cls, rows: int | None = 50_000, seed: Seed = 0) -> Features:
        """Payments of the ULB data set (Dal Pozzolo et al. 2015); 1 is fraud.

        Parameters
        ----------
        rows : int, optional
            How many to keep: all 492 frauds and, for the rest, genuine payments drawn
            without replacement. 50,000 as in the paper, 0.98 % fraud; None takes all
            284,807, 0.17 % fraud.
        seed : int or Generator, optional
            For the draw and the order; None with ``rows=None`` keeps the order of time.
        """
        check_seed(seed, rows)
        (path,) = cls.paths()
        table = read_columns(path, [*NAMES, "Class"])
        every = Features(
            number_columns(table, NAMES),
            number_column(table, "Class"),
            NAMES,
            labels=cls.labels,
            name=cls.name,
            copy=False,
        )
        if rows is None:
            if seed is None:
                return every  # without a second copy of the largest data set here
            return every.take(sample_rows(None, len(every), seed))
        frauds = int(every.outcomes.sum())
        wanted = [rows - frauds, frauds]
        return every.take(sample_by_class(every.outcomes, wanted, seed, cls.labels))


credit_card = CreditCard.load
