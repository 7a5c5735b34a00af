"""Five agents asked in one process, by a process per call, and over connections."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.engine import Cell, Row
from truepool_lab.paper.edge import UnavailableError, calls, impairment, processes, team
from truepool_lab.paper.edge.agent_servers import serve
from truepool_lab.paper.edge.calls import Calls
from truepool_lab.paper.edge.machine import describe, load
from truepool_lab.paper.edge.process_calls import (
    call,
    read_reports,
    report_command,
    ssh_server,
    through_shell,
    write_cases,
)
from truepool_lab.paper.edge.team import Team
from truepool_lab.paper.interface import Axes, Experiment, Reading, Size, row

TABLE = "tab:edge_summary"
LEVELS = (10, 50, 100, 200)
"""Milliseconds that a service may promise; the paper looks at the last."""
KEPT = 99.0
"""Per cent of the calls that must be within a limit for it to be met."""
BLOCK = 20
"""Calls whose mean is one repetition."""
CALLS: Mapping[Size, int] = {"quick": 20, "full": 100}
"""Calls about one case, in one process and over connections."""
BATCHES: Mapping[Size, int] = {"quick": 2, "full": 5}
"""Calls about all 500 cases."""
STARTS: Mapping[Size, int] = {"quick": 1, "full": 5}
"""Calls that start a process each."""
IMPAIRED: Mapping[Size, int] = {"quick": 4, "full": 50}
"""Calls about one case over each impaired link."""
REAPED = 0.5
"""Seconds until a finished session is counted to its server."""
IN_PROCESS, PER_CALL = "one process", "a process per call"
NATIVE, ONNX, IMPAIRMENT = "connections", "connections, ONNX", "an impaired link"


@final
class EdgeSummary(Experiment):
    """Ways to reach five agents, and what each costs on this machine."""

    name: ClassVar[str] = "edge-summary"
    readings: ClassVar[Mapping[str, Reading]] = {
        TABLE: Reading(
            "The five models of tab:jetson_inference on 60 % of 20 features, one case "
            "per call, pooled with VCG. In one process; by `truepool agent report`, "
            "which loads the five and ends (a process per call, here and through an "
            "SSH server of its own on loopback); and over connections that stay open "
            "to five servers (`truepool agent serve`), asked at once or one by one. "
            "An impaired link joins two network namespaces and delays every packet by "
            "100 ms, loses 5 % of them, or both, in each direction; there the forest "
            "alone is asked, about single cases and then about 500 in one call. "
            "Throughput is of cases one after another, and of 500 per call. A limit "
            "is met if 99 % of the calls keep it. Processor time is that of caller "
            "and agents per case, memory that of the processes with the agents. A "
            "prediction is wrong unless it equals, bit for bit, that of the same model "
            "in one process. All rows are of the machine that they name; none is "
            "compared with a Jetson. Load is how many processes wanted to run: above "
            "the number of cores, times include waiting for others, which processor "
            "time does not.",
            methods="none",
            elsewhere=("Desktop, *", "Jetson, *"),
        )
    }
    packages: ClassVar[Mapping[str, str]] = {
        "onnxruntime": "truepool[onnx]",
        "skl2onnx": "truepool[onnx]",
        "truepool_serve": "truepool[serve]",
        "grpc_reflection": "truepool[serve]",
        "uvicorn": "truepool[serve]",
    }
    alone: ClassVar[bool] = True
    repeats: ClassVar[Mapping[Size, int]] = {"quick": 1, "full": 1}
    axes: ClassVar[Axes] = {"way": [IN_PROCESS, PER_CALL, NATIVE, ONNX, IMPAIRMENT]}
    by_size: ClassVar[bool] = True

    def effort(self, cell: Cell) -> float:
        """Mostly the start of processes, and waiting."""
        return 10.0 if cell["size"] == "quick" else 100.0

    @staticmethod
    def measure(cell: Cell) -> list[Row]:
        """Train the agents and ask them in one way."""
        with TemporaryDirectory() as name:
            folder = Path(name)
            trained, size = team.train(folder, cell.seed("task")), cell["size"]
            if cell["way"] == IN_PROCESS:
                return _in_process(trained, size)
            if cell["way"] == PER_CALL:
                return _process_per_call(trained, size, folder)
            if cell["way"] == IMPAIRMENT:
                return _impaired(trained, size, folder, cell.seed("loss"))
            return _connections(trained, size, onnx=cell["way"] == ONNX)


def _in_process(trained: Team, size: Size) -> list[Row]:
    rows = []
    for onnx in (False, True):
        ask = calls.in_process(trained, onnx)
        found = calls.measure(trained, ask, ask, (), CALLS[size], BATCHES[size])
        rows += summary(f"{_form(onnx)}, one process", found)
    return rows


def _connections(trained: Team, size: Size, *, onnx: bool) -> list[Row]:
    right, counts = calls.in_process(trained, onnx), (CALLS[size], BATCHES[size])
    rows = []
    with serve(trained.files(onnx)) as servers:
        pids = [server.pid for server in servers.values()]
        for protocol in ("HTTP", "gRPC"):
            with calls.connected(servers, protocol) as (at_once, in_turn):
                found = calls.measure(trained, at_once, right, pids, *counts)
                rows += summary(f"{_form(onnx)}, {protocol}", found)
                found = calls.measure(trained, in_turn, right, pids, *counts)
                rows += summary(f"{_form(onnx)}, {protocol}, one by one", found)
    return rows


def _process_per_call(trained: Team, size: Size, folder: Path) -> list[Row]:
    table = folder / "case.csv"
    line = through_shell(report_command(trained.native, str(table)), table)
    cases = trained.cases[: STARTS[size]]
    name = "scikit-learn, a process per call"
    rows = summary(name, _start(["sh", "-c", line], trained, cases))
    try:
        with ssh_server(folder) as server:
            before = processes.processor_time(server.pid)
            found = _start(server.command(line), trained, cases)
            sleep(REAPED)
            there = processes.processor_time(server.pid) - before
    except UnavailableError as error:
        return rows + missing(f"{name}, SSH", str(error))
    spent = found.processor + there  # the memory of a session is not known here
    return rows + summary(f"{name}, SSH", Calls(found.milliseconds, found.wrong, spent))


def _start(command: Sequence[str], trained: Team, cases: FloatArray) -> Calls:
    """Start a process for each case, and compare its reports with the agents'."""
    right = calls.in_process(trained, onnx=False)
    done = [call(command, write_cases(case[None])) for case in cases]
    wrong = sum(
        int(np.sum(read_reports(one.output, len(trained.native)) != right(case[None])))
        for one, case in zip(done, cases, strict=True)
    )
    return Calls(
        [one.milliseconds for one in done],
        wrong,
        sum(one.processor for one in done),
        None,
    )


def _impaired(trained: Team, size: Size, folder: Path, seed: int) -> list[Row]:
    rows = []
    try:
        with impairment.far_agent(trained, seed) as (link, server):
            for condition, settings in impairment.CONDITIONS.items():
                for protocol in ("HTTP", "gRPC"):
                    link.impair(*settings)
                    found = impairment.ask(
                        link, server, protocol, trained, IMPAIRED[size], folder
                    )
                    name = f"ONNX, {protocol}, one agent, {condition}"
                    rows += summary(name, found.calls, found.predictions)
                    rows.append(_row(name, "packets lost", found.dropped))
    except UnavailableError as error:
        return missing("ONNX, one agent, impaired link", str(error))
    return rows


def summary(name: str, found: Calls, predictions: int | None = None) -> list[Row]:
    """Rows about some calls; ``predictions`` counts those that were compared."""
    spent = np.array(found.milliseconds)
    blocks = [spent[i : i + BLOCK].mean() for i in range(0, len(spent), BLOCK)]
    kept = {limit: 100 * np.mean(spent <= limit) for limit in LEVELS}
    rows = [_row(name, "per-sample (ms)", block) for block in blocks]
    rows += [_row(name, "throughput (samples/s)", 1000 / block) for block in blocks]
    rows += [_row(name, "meets 200 ms", "yes" if kept[200] >= KEPT else "no")]
    rows += [
        _row(name, "throughput, 500 per call", 1000 * team.CASES / each)
        for each in found.batches
    ]
    rows += [_row(name, f"within {limit} ms (%)", kept[limit]) for limit in LEVELS]
    if found.processor:
        rows.append(_row(name, "processor time (ms)", found.processor / len(spent)))
    if found.memory is not None:
        rows.append(_row(name, "memory (MB)", found.memory))
    if predictions is None:
        predictions = len(team.MODELS) * (len(spent) + team.CASES * len(found.batches))
    rows.append(_row(name, "predictions", predictions))
    rows.append(_row(name, "wrong predictions", found.wrong))
    return [*rows, _row(name, "machine", describe()), _row(name, "load", load())]


def missing(name: str, reason: str) -> list[Row]:
    """Rows that say why this machine cannot be asked in some way."""
    return [
        _row(name, "per-sample (ms)", f"not measured: {reason}"),
        _row(name, "machine", describe()),
    ]


def _row(name: str, column: str, value: object) -> Row:
    return row(TABLE, [f"this machine, {name}"], column, value)


def _form(onnx: bool) -> str:
    return "ONNX" if onnx else "scikit-learn"
