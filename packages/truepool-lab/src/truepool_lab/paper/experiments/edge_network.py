"""Round trips of a packet on this machine: loopback, and a link that is impaired."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import ClassVar, final

from truepool.core.engine import Cell, Row, cells
from truepool_lab.paper.edge import UnavailableError, echo, link
from truepool_lab.paper.edge.agent_servers import LOOPBACK
from truepool_lab.paper.edge.impairment import CONDITIONS
from truepool_lab.paper.edge.link import FAR_END, NEAR_END
from truepool_lab.paper.edge.machine import describe, load
from truepool_lab.paper.edge.processes import end
from truepool_lab.paper.interface import Experiment, Reading, Size, row

TABLE = "tab:jetson_rtt"
SERVE = (sys.executable, echo.__file__, "serve")


@final
class EdgeNetwork(Experiment):
    """Round-trip times on the networks that this machine has, or makes."""

    name: ClassVar[str] = "edge-network"
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            "Round trips of single UDP packets between two processes of this machine: "
            "on loopback, and over the links of tab:edge_summary, which join two "
            "network namespaces and delay every packet by 100 ms, lose 5 % of them, "
            "or both, in each direction. A packet that is not back after 2 s is lost "
            "and has no time. The two boards and their overlay network are not at "
            "hand; no row stands for them.",
            methods="none",
            elsewhere=("*",),
        )
    }
    alone: ClassVar[bool] = True

    def cells(self, size: Size) -> list[Cell]:
        """Return one cell with as many packets per link."""
        return cells(self.name, 1, {"packets": [200 if size == "full" else 8]})

    def effort(self, cell: Cell) -> float:
        """Mostly waiting, for what is delayed or lost."""
        return 5.0 + 0.8 * float(cell["packets"])

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Count packets on every network."""
        packets = cell["packets"]
        return [*_loopback(packets), *_links(packets, cell.seed("loss"))]


def _loopback(packets: int) -> list[Row]:
    process = subprocess.Popen([*SERVE, LOOPBACK], stdout=subprocess.PIPE, text=True)
    try:
        port = int(process.stdout.readline()) if process.stdout else 0
        return _rows("loopback", echo.ping(LOOPBACK, port, packets))
    finally:
        end(process)


def _links(packets: int, seed: int) -> list[Row]:
    rows = []
    try:
        with (
            link.laid(seed) as laid,
            link.started(laid, FAR_END, [*SERVE, FAR_END]) as process,
        ):
            port = process.stdout.readline().strip() if process.stdout else ""
            words = [sys.executable, echo.__file__, "ping", FAR_END, port, str(packets)]
            for condition, settings in CONDITIONS.items():
                laid.impair(*settings)
                rows += _rows(condition, json.loads(link.run(laid, NEAR_END, words)))
    except UnavailableError as error:
        reason = f"not measured: {error}"
        return [row(TABLE, ["this machine, impaired link"], "avg", reason)]
    return rows


def _rows(name: str, round_trips: Sequence[float | None]) -> list[Row]:
    known = [each for each in round_trips if each is not None]
    lost = len(round_trips) - len(known)
    columns = {
        "min": min(known, default=None),
        "avg": sum(known) / len(known) if known else None,
        "max": max(known, default=None),
        "packets": len(round_trips),
        "lost (%)": 100 * lost / len(round_trips),
        "machine": describe(),
        "load": load(),
    }
    key = [f"this machine, {name}"]
    return [row(TABLE, key, column, value) for column, value in columns.items()]
