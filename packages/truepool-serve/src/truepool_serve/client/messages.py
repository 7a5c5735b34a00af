"""Requests and answers as httpx has them; what the two clients have in common."""

from typing import TYPE_CHECKING, Any

import httpx

from truepool_serve.client.buffer import Refusal
from truepool_serve.client.exchange import Failure, Reply, Request
from truepool_serve.client.operations import Object, Operations

if TYPE_CHECKING:
    from truepool.panel.panel import Panel


class BufferedClient:
    """What both clients have: the settings, and what waits."""

    def __init__(self, url: str, *, patience: float, buffer: int, delay: float) -> None:
        self.operations = Operations(url, patience, buffer, delay)

    @property
    def waiting(self) -> int:
        """How many reports and outcomes were not sent yet."""
        return len(self.operations.buffer)

    @property
    def refused(self) -> list[Refusal]:
        """Reports and outcomes that the coordinator will never take, and why."""
        return self.operations.buffer.refused

    def _note_losses(self, error: BaseException | None) -> None:
        """Say with an error that ends a block what was not sent."""
        if error is not None and self.waiting:
            error.add_note(f"{self.waiting} reports or outcomes were not sent")


def headers(token: str | None) -> dict[str, str]:
    """Return the headers of every request."""
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def words(request: Request) -> dict[str, Any]:
    """Return a request as httpx wants it."""
    kind = "application/json" if request.content else None
    return {
        "method": request.method,
        "url": request.path,
        "content": request.content,
        "headers": {"Content-Type": kind} if kind else {},
    }


def reply(response: httpx.Response) -> Reply:
    """Return what was answered."""
    wait = response.headers.get("retry-after", "")
    seconds = float(wait) if wait.isdigit() else 0.0
    return Reply(response.status_code, response.content, seconds)


def failure(error: httpx.TransportError) -> Failure:
    """Return why nothing was answered."""
    return Failure(str(error) or type(error).__name__)


def panel(content: bytes, pool: Object) -> "Panel":
    """Read an exported table as the panel that it was."""
    import io

    from pyarrow import parquet

    from truepool.tables import read_panel
    from truepool.tables.export import cost_columns

    table = parquet.read_table(io.BytesIO(content))
    return read_panel(
        table,
        outcome="outcome",
        positive=pool.get("positive"),
        id="id",
        time="time",
        columns=cost_columns(table.schema),
    )
