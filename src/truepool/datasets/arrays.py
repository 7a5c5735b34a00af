"""Reading arrays from npz files."""

from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from truepool.core.arrays import Array
from truepool.core.errors import SourceError
from truepool.datasets.files import content


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
