"""Whether the files that are here are the ones that were published."""

from dataclasses import asdict, dataclass
from typing import Any

from truepool.core.errors import ChecksumError, SourceError
from truepool.datasets.files import File, check_sum
from truepool.datasets.interface import Dataset
from truepool.datasets.location import find_local

AS_PUBLISHED, ABSENT = "as published", "not here"
DIFFERS, DAMAGED = "differs", "damaged"


@dataclass(frozen=True)
class Verification:
    """What became of one file; ``fault`` says in a sentence what is wrong with it."""

    dataset: str
    file: str
    path: str | None
    verdict: str
    fault: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, for machines."""
        return asdict(self)


def verify(dataset: type[Dataset], file: File) -> Verification:
    """Check one file of a data set; nothing is fetched."""
    there = find_local(file)
    if there is None:
        absent = (
            f"data set {dataset.name!r} needs {file.name!r}, which is in no folder "
            f"here. `truepool data path {dataset.name}` fetches it."
        )
        return Verification(dataset.name, file.name, None, ABSENT, absent)
    verdict, fault = AS_PUBLISHED, None
    try:
        check_sum(file, there[1])
    except SourceError as error:
        verdict = DIFFERS if isinstance(error, ChecksumError) else DAMAGED
        fault = str(error)
    return Verification(dataset.name, file.name, str(there[1]), verdict, fault)
