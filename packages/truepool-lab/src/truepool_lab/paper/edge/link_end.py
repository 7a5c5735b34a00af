"""One end of a link: make its TUN device, hand it over, and become the command.

Run as a script by `Link`, in a new network namespace, without any other import:
``link_end.py SOCKET ADDRESS PEER COMMAND...``.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys

DEVICE = "truepool0"
SET_DEVICE = 0x400454CA
"""The request TUNSETIFF."""
PLAIN_PACKETS = 0x1001
"""A TUN device whose packets have no header of their own."""


def main(path: str, address: str, peer: str, *command: str) -> None:
    """Open the device, set its address, send it to the link, run the command."""
    device = os.open("/dev/net/tun", os.O_RDWR)
    named = struct.pack("16sH22x", DEVICE.encode(), PLAIN_PACKETS)
    fcntl.ioctl(device, SET_DEVICE, named)
    for words in (
        ("addr", "add", address, "peer", peer, "dev", DEVICE),
        ("link", "set", DEVICE, "up"),
        ("link", "set", "lo", "up"),
    ):
        subprocess.run(["ip", *words], check=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.connect(path)
        socket.send_fds(link, [b"."], [device])
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
