"""Files of agents: where they may go."""

from pathlib import Path

from truepool.errors import SourceError
from truepool.files import check_place


def check_path(path: str | Path, suffix: str) -> Path:
    """Refuse a path that no agent could be written to."""
    if Path(path).suffix != suffix:
        raise SourceError(f"such an agent is written as {suffix}; {str(path)!r} came")
    return check_place(path)
