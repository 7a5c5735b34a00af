"""What a data set is: a name, where it comes from, and how it is read."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from truepool.data.features import Features
from truepool.data.panel import Panel
from truepool.datasets.files import File
from truepool.datasets.location import find_local, locate


class Dataset(ABC):
    """One source of rows. A file in this folder with such a class is found by itself.

    `load` reads the data as the paper used them; its settings give other parts of them.
    The other names are facts that ``truepool data list`` shows without reading.
    """

    name: ClassVar[str]
    rows: ClassVar[int]
    """How many there are in full; for a generator, how many it makes if not told."""
    columns: ClassVar[int]
    """Features; of a panel, agents."""
    labels: ClassVar[tuple[str, ...]]
    """What the outcomes 0..K-1 are called."""
    missing: ClassVar[int] = 0
    """How many values are missing in full."""
    source: ClassVar[str]
    licence: ClassVar[str]
    cite: ClassVar[str]
    files: ClassVar[tuple[File, ...]] = ()
    home: ClassVar[str] = ""
    """Where the data come from if not from files: "bundled" or "made"."""

    @classmethod
    @abstractmethod
    def load(cls, *args: Any, **settings: Any) -> Features | Panel:
        """Read or make the data."""

    @classmethod
    def where(cls) -> str | None:
        """Where the data are: a kind of folder, bundled, made, or None if not here."""
        if cls.home:
            return cls.home
        kinds = [there[0] for there in map(find_local, cls.files) if there is not None]
        if len(kinds) < len(cls.files):
            return None
        return "folder" if "folder" in kinds else "cache"

    @classmethod
    def paths(cls) -> tuple[Path, ...]:
        """Paths of the files; those that are nowhere yet are fetched."""
        return tuple(locate(file) for file in cls.files)
