"""Two public crowds: many workers who each voted on a few cases."""

from io import BytesIO
from pathlib import Path
from typing import ClassVar, final
from zipfile import BadZipFile

import numpy as np

from truepool.core.arrays import Array
from truepool.core.errors import SourceError
from truepool.datasets import Dataset, File
from truepool.datasets.files import content
from truepool.panel.panel import Panel

SURVEY = (
    "Y. Zheng, G. Li, Y. Li, C. Shan, R. Cheng, Truth inference in crowdsourcing: is "
    "the problem solved?, VLDB 2017"
)


def read_arrays(path: Path, names: tuple[str, ...]) -> tuple[Array, ...]:
    """Return these arrays of a file; nothing in it can run code."""
    stream = BytesIO(content(path))
    try:
        with np.load(stream, allow_pickle=False) as stored:
            return tuple(np.asarray(stored[name]) for name in names)
    except (AttributeError, BadZipFile, EOFError, KeyError, ValueError):
        raise SourceError(
            f"{str(path)!r} must be the published file, with the arrays "
            f"{', '.join(names)}; it holds something else. Get it again."
        ) from None


class Crowd(Dataset):
    """Votes of workers; most saw few cases."""

    column_kind: ClassVar[str] = "agent"
    licence: ClassVar[str] = "public"

    @classmethod
    def load(cls) -> Panel:
        """Votes 0 or 1, one column per worker; absent where a worker was not asked."""
        (path,) = cls.paths()
        votes, outcomes = read_arrays(path, ("votes", "y"))
        return Panel(votes.astype(np.float64), outcomes)


@final
class ProductCrowd(Crowd):
    """8,315 pairs of product descriptions, each judged by three of 176 workers."""

    name: ClassVar[str] = "product-crowd"
    rows: ClassVar[int] = 8_315
    columns: ClassVar[int] = 176
    labels: ClassVar[tuple[str, ...]] = ("different", "same")
    source: ClassVar[str] = "CrowdER"
    missing: ClassVar[int] = 8_315 * 173
    cite: ClassVar[str] = (
        "J. Wang, T. Kraska, M. Franklin, J. Feng, CrowdER: crowdsourcing entity "
        f"resolution, VLDB 2012; {SURVEY}"
    )
    files: ClassVar[tuple[File, ...]] = (
        File(
            "product.npz",
            "6d33b75dea233b41c26200626ec30d89b233ea00528d23e7a585b4187f52aa47",
            64_721,
            folder="jury",
        ),
    )


@final
class DuckCrowd(Crowd):
    """108 photographs of birds, each judged by all 39 workers."""

    name: ClassVar[str] = "duck-crowd"
    rows: ClassVar[int] = 108
    columns: ClassVar[int] = 39
    labels: ClassVar[tuple[str, ...]] = ("no", "yes")
    source: ClassVar[str] = "Welinder et al."
    cite: ClassVar[str] = (
        "P. Welinder, S. Branson, S. Belongie, P. Perona, The multidimensional wisdom "
        f"of crowds, NeurIPS 2010; {SURVEY}"
    )
    files: ClassVar[tuple[File, ...]] = (
        File(
            "duck.npz",
            "2d34c37652f63d141529d8603e5bcca86c897af8c04d492376ad9f056fde7016",
            1_428,
            folder="jury",
        ),
    )


product_crowd = ProductCrowd.load
duck_crowd = DuckCrowd.load
