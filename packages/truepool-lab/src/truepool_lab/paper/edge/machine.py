"""The machine at hand, as tables name it."""

import os
import platform
from pathlib import Path

PROCESSOR = Path("/proc/cpuinfo")


def describe() -> str:
    """Return the processor and the number of cores, as tables show them."""
    cores = os.cpu_count() or 1
    return f"{_processor()}, {cores} core{'s' if cores > 1 else ''}"


def _processor(source: Path = PROCESSOR) -> str:
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return named[0] if named else platform.processor() or platform.machine()


def load() -> float:
    """Processes that want to run, on average of a minute: times are to be read by it.

    More than the number of cores means that others were measured, too.
    """
    return os.getloadavg()[0]
