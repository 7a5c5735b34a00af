"""What a data set is: a name, where it comes from, and how it is read."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from truepool.agents.features import Features
from truepool.datasets.files import File
from truepool.datasets.location import find_local, locate
from truepool.panel.panel import Panel


class Dataset(ABC):
    """One source of rows. A file in this folder with such a class is found by itself.

    `load` reads the data as the paper used them; its settings give other parts of them.
    The other names are facts that ``truepool data list`` shows without reading.
    """

    name: ClassVar[str]
    rows: ClassVar[int]
    """How many there are in full; for a generator, how many it makes by default."""
    columns: ClassVar[int]
    column_kind: ClassVar[str] = "feature"
    """What a column is: "feature", or "agent" where `load` returns a panel."""
    labels: ClassVar[tuple[str, ...]]
    """What the outcomes 0..K-1 are called."""
    missing: ClassVar[int] = 0
    """How many values are missing in full."""
    source: ClassVar[str]
    licence: ClassVar[str]
    cite: ClassVar[str]
    files: ClassVar[tuple[File, ...]] = ()
    home: ClassVar[str] = "made"
    """Where data without files come from: "made" (simulated) or "bundled"."""

    @classmethod
    @abstractmethod
    def load(cls, *args: Any, **settings: Any) -> Features | Panel:
        """Read or simulate the data."""

    @classmethod
    def location(cls) -> str | None:
        """Kind of folder, bundled, simulated, or None if not on this machine."""
        if not cls.files:
            return cls.home
        kinds = [found[0] for found in map(find_local, cls.files) if found is not None]
        if len(kinds) < len(cls.files):
            return None
        return "folder" if "folder" in kinds else "cache"

    @classmethod
    def paths(cls) -> tuple[Path, ...]:
        """Paths of the files; missing ones are downloaded."""
        return tuple(locate(file) for file in cls.files)
