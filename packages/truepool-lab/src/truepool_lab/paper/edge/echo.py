"""Round trips of small packets: a server that returns them, and one who counts.

Also a script: ``echo.py serve HOST`` prints its port and returns what it gets;
``echo.py ping HOST PORT COUNT`` prints the milliseconds of every round trip as JSON.
"""

import json
import socket
import sys
from time import perf_counter

LONGEST = 2.0
"""Seconds after which a packet counts as lost."""


def serve(host: str) -> None:
    """Return every packet to its sender, for ever."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind((host, 0))
        print(here.getsockname()[1], flush=True)
        while True:
            here.sendto(*here.recvfrom(64))


def ping(host: str, port: int, count: int) -> list[float | None]:
    """Milliseconds of round trips one after another; None where a packet was lost."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.connect((host, port))
        return [_round_trip(here, number) for number in range(count)]


def _round_trip(here: socket.socket, number: int) -> float | None:
    sent = str(number).encode()
    start = perf_counter()
    here.send(sent)
    try:
        while True:
            here.settimeout(max(LONGEST - (perf_counter() - start), 1e-3))
            if here.recv(64) == sent:  # not one that came too late
                return 1000 * (perf_counter() - start)
    except TimeoutError:
        return None


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        print(json.dumps(ping(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
