"""Calls to an agent at the far end of a link, made by a process at the near end.

Also a script: ``remote_calls.py PROTOCOL HOST PORT HTTP_PORT MODEL CASES COUNT``, where
CASES is a file of numpy, prints reports and milliseconds per call as JSON.
"""

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from truepool_lab.paper.edge.open_inference import PROTOCOLS, Client, wait_until_ready


def ask_one_by_one(client: Client, cases: Any) -> tuple[list[float], list[float]]:
    """Return the reports on cases, and the milliseconds of every call."""
    reports, milliseconds = [], []
    for case in cases:
        start = perf_counter()
        reports += client.ask(case[None]).tolist()
        milliseconds.append(1000 * (perf_counter() - start))
    return reports, milliseconds


def main(
    protocol: str, host: str, port: str, http: str, model: str, path: str, count: str
) -> None:
    """Ask about the first cases of a file one by one, then about all in one call."""
    wait_until_ready(host, int(http))
    client = PROTOCOLS[protocol](host, int(port), model)
    cases = np.load(Path(path))
    reports, milliseconds = ask_one_by_one(client, cases[: int(count)])
    together = client.ask(cases).tolist()
    client.close()
    found = {"one": reports, "all": together, "milliseconds": milliseconds}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
