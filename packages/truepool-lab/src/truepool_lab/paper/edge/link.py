"""A network link between two namespaces that delays and loses packets.

Each end is a network namespace with a TUN device, made with the process that lives
there and gone with it. Packets pass through this process, which holds them back and
drops some: no module of the kernel is needed for that, and no privilege outside.
"""

import heapq
import os
import random
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from time import monotonic

from truepool_lab.paper.edge import CallError, UnavailableError, link_end
from truepool_lab.paper.edge.processes import end

NEAR_END, FAR_END = "10.77.0.1", "10.77.0.2"
"""Addresses of the two ends; nobody else can reach them."""
LARGEST_PACKET = 65_536
IPV4 = 4
"""First half byte of the packets that pass; the rest is noise of the kernel."""
PATIENCE = 20.0
"""Seconds that an end has to appear."""


class Link:
    """Two ends, and what happens to packets on the way; both can be changed.

    ``delay`` is in seconds and is added in each direction; ``loss`` is the share of
    packets that are dropped, in each direction.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.delay, self.loss = 0.0, 0.0
        self.passed, self.dropped = 0, 0
        self._random = random.Random(seed)
        self._path = folder / "link"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self._path))
        self._listener.listen()
        self._listener.settimeout(PATIENCE)
        self._devices: dict[str, int] = {}
        self._wake, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._forward, daemon=True)
        self._thread.start()

    def impair(self, delay: float, loss: float) -> None:
        """Set the delay of each direction in seconds, and the share that is lost."""
        self.delay, self.loss = delay, loss
        self.passed = self.dropped = 0

    def prefix(self, address: str) -> list[str]:
        """Return a command that runs another one at an end of the link."""
        peer = FAR_END if address == NEAR_END else NEAR_END
        return [
            *("unshare", "--user", "--map-root-user", "--net", "--"),
            *(sys.executable, link_end.__file__, str(self._path), address, peer),
        ]

    def attach(self, address: str) -> None:
        """Take the device of an end whose process has been started."""
        connection, _ = self._listener.accept()
        with connection:
            _, (device, *_), _, _ = socket.recv_fds(connection, 1, 1)
        self._devices[address] = device
        os.write(self._waker, b".")

    def close(self) -> None:
        """Stop to forward, and let go of the devices."""
        os.write(self._waker, b"x")
        self._thread.join()
        for fd in (*self._devices.values(), self._wake, self._waker):
            os.close(fd)
        self._listener.close()

    def _forward(self) -> None:
        waiting: list[tuple[float, int, str, bytes]] = []
        sent = 0
        while True:
            until = max(waiting[0][0] - monotonic(), 0.0) if waiting else None
            ends = {device: address for address, device in self._devices.items()}
            ready, _, _ = select.select([self._wake, *ends], [], [], until)
            if self._wake in ready and b"x" in os.read(self._wake, 1):
                return
            for device in set(ready) - {self._wake}:
                packet = self._read(device, ends[device])
                if packet[:1] and packet[0] >> 4 == IPV4 and not self._lost():
                    sent += 1
                    peer = FAR_END if ends[device] == NEAR_END else NEAR_END
                    due = monotonic() + self.delay
                    heapq.heappush(waiting, (due, sent, peer, packet))
            while waiting and waiting[0][0] <= monotonic():
                _, _, peer, packet = heapq.heappop(waiting)
                with suppress(OSError, KeyError):  # the end may be gone
                    os.write(self._devices[peer], packet)

    def _read(self, device: int, address: str) -> bytes:
        """Return a packet; nothing if the end is gone, and its device with it."""
        try:
            return os.read(device, LARGEST_PACKET)
        except OSError:
            if self._devices.get(address) == device:
                del self._devices[address]
            os.close(device)
            return b""

    def _lost(self) -> bool:
        lost = self._random.random() < self.loss
        self.dropped += lost
        self.passed += not lost
        return lost


@contextmanager
def laid(seed: int) -> Iterator[Link]:
    """Lay a link; it is gone afterwards, and so are its ends."""
    for command in ("unshare", "ip"):
        if which(command) is None:
            raise UnavailableError(f"no command {command}")
    with TemporaryDirectory() as folder:
        link = Link(Path(folder), seed)
        try:
            yield link
        finally:
            link.close()


def run(link: Link, address: str, command: Sequence[str]) -> str:
    """Run a command at an end of the link and return what it prints."""
    with started(link, address, command) as process:
        output, errors = process.communicate()
        if process.returncode:
            raise CallError(f"at {address}: {errors.strip()[-200:]}")
    return output


@contextmanager
def started(
    link: Link, address: str, command: Sequence[str]
) -> Iterator["subprocess.Popen[str]"]:
    """Start a command at an end of the link; it ends with the block."""
    process = subprocess.Popen(
        [*link.prefix(address), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _attach(link, address, process)
        yield process
    finally:
        end(process)


def _attach(link: Link, address: str, process: "subprocess.Popen[str]") -> None:
    """Attach the end in which a process lives, or say why it has none."""
    try:
        link.attach(address)
    except (TimeoutError, ValueError):
        process.kill()
        _, errors = process.communicate()
        reason = (errors or "no answer").strip().splitlines()[-1]
        raise UnavailableError(f"no network namespace: {reason}") from None
