"""The manifest of a data set: which parts it has, and which of them are written."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from truepool.core.files import write_text
from truepool.tables.faults import Cure, refusal

NAME = "_manifest.json"
"""Readers of Parquet leave out files whose names begin with an underscore."""
FORMAT = 1
PERIOD = 1.0
"""Seconds between two writes: what is lost to a crash is written again."""


@dataclass(eq=False)
class Manifest:
    """Parts of a data set that is being written.

    ``made_by`` says from what and how the parts are made; ``parts`` has the entry of
    each by its name, in which ``done`` is whether it is complete.
    """

    folder: Path
    made_by: Mapping[str, Any]
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    _saved: float = float("-inf")

    def save(self, *, now: bool = True) -> None:
        """Write the manifest; unless ``now``, only if that was not done just before."""
        if not now and monotonic() - self._saved < PERIOD:
            return
        content = {"truepool": FORMAT, "made_by": self.made_by, "parts": self.parts}
        write_text(self.folder / NAME, json.dumps(content, indent=1) + "\n")
        self._saved = monotonic()


def load(folder: Path) -> Manifest | None:
    """Return the manifest of a folder, None where it has none."""
    path = folder / NAME
    if not path.exists():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        parts = {str(name): dict(entry) for name, entry in content["parts"].items()}
        if content["truepool"] != FORMAT:
            raise ValueError(content["truepool"])
        return Manifest(folder, dict(content["made_by"]), parts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise refusal("manifest-damaged", path, Cure("remove-manifest")) from None


def check_complete(folder: Path, names: Collection[str]) -> None:
    """Refuse a folder that lacks parts of its manifest, if it has one."""
    listed = load(folder)
    if listed is None:
        return
    parts = listed.parts
    undone = [name for name, entry in parts.items() if not entry.get("done")]
    if undone:
        raise refusal(
            "parts-unfinished",
            folder,
            Cure("finish-parts"),
            found=undone[0],
            count=len(undone),
            total=len(parts),
        )
    lost = [n for n, entry in parts.items() if n not in names and entry.get("rows")]
    if lost:
        raise refusal(
            "parts-lost", folder, Cure("restore-parts"), found=lost[0], count=len(lost)
        )
