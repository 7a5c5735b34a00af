"""Processes of the experiment: their processor time, their memory, and their end."""

import os
import subprocess
from pathlib import Path

PROC = Path("/proc")
LAST_WORDS = 5.0
"""Seconds that a process has to end by itself."""


def processor_time(pid: int) -> float:
    """Milliseconds of processor time of a process and the children it waited for."""
    text = (PROC / str(pid) / "stat").read_text(encoding="utf-8")
    fields = text.rpartition(")")[2].split()  # the name may contain blanks
    ticks = sum(map(int, fields[11:15]))
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Resident memory of a process in megabytes."""
    pages = int((PROC / str(pid) / "statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def end(process: "subprocess.Popen[str]") -> None:
    """End a process: ask first, then make it."""
    process.terminate()
    try:
        process.wait(LAST_WORDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
