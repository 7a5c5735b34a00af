"""Whether the files on this machine are those that were published."""

from dataclasses import asdict, dataclass
from typing import Any

from truepool.core.errors import ChecksumError, SourceError
from truepool.datasets.files import File, verify_checksum
from truepool.datasets.interface import Dataset
from truepool.datasets.location import find_local

VERIFIED, ABSENT = "verified", "not on this machine"
DIFFERS, DAMAGED = "differs", "damaged"


@dataclass(frozen=True)
class Verification:
    """Result for one file; ``fault`` says in a sentence what is wrong with it."""

    dataset: str
    file: str
    path: str | None
    verdict: str
    fault: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, ready for JSON."""
        return asdict(self)


def verify(dataset: type[Dataset], file: File) -> Verification:
    """Check one file of a data set; nothing is downloaded."""
    found = find_local(file)
    if found is None:
        absent = (
            f"data set {dataset.name!r} needs {file.name!r}, which is not on this "
            f"machine. `truepool data path {dataset.name}` downloads it."
        )
        return Verification(dataset.name, file.name, None, ABSENT, absent)
    verdict, fault = VERIFIED, None
    try:
        verify_checksum(file, found[1])
    except SourceError as error:
        verdict = DIFFERS if isinstance(error, ChecksumError) else DAMAGED
        fault = str(error)
    return Verification(dataset.name, file.name, str(found[1]), verdict, fault)
