"""Reports that were made before, found by the content of all they depend on."""

import hashlib
import io
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from truepool.agents.zoo.interface import Model
from truepool.core.arrays import Array, FloatArray
from truepool.core.files import DiskCache, cache_folder

DIGEST = hashlib.sha256().digest_size
PLAIN = bool | int | float | str | bytes | None | np.number


def folder() -> Path:
    """Where reports are kept."""
    return cache_folder() / "reports"


def digest(*parts: Any) -> str:
    """Fingerprint of arrays and plain values.

    >>> digest(np.zeros(2), "a") == digest(np.zeros(2), "a")
    True
    >>> digest(np.zeros(2)) == digest(np.zeros((2, 1)))
    False
    """
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            total.update(f"{part.dtype.str}{part.shape}".encode())
            total.update(np.ascontiguousarray(part).data)
        else:
            said = part.tolist() if isinstance(part, np.ndarray) else part
            total.update(f"{type(part).__name__}:{said!r};".encode())
    return total.hexdigest()


def fingerprint(agent: Any) -> str | None:
    """What an untrained agent's numbers hang on, or None if that cannot be told.

    Models of the zoo tell by name, settings and versions. A classifier of your own does
    if it comes from a package with a version and its settings are plain values: code
    that may change from one run to the next is never cached.
    """
    if isinstance(agent, Model):
        settings = _plain(agent.settings)
        found = [version_of(library) for library in agent.libraries]
        return None if settings is None else f"{agent.name} {settings} {found}"
    settings = _plain(agent) if callable(getattr(agent, "get_params", None)) else None
    return None if settings is None else f"{settings} {_platform()}"


def key(agent: Any, *parts: Any) -> str | None:
    """Name of what an agent trained on these parts would have said."""
    told = fingerprint(agent)
    return None if told is None else digest(told, _platform(), _code(), *parts)


def reports_in(folder: Path) -> DiskCache[FloatArray]:
    """Return the reports that are kept in a folder, each under its `key`."""
    return DiskCache(folder, _read, _write)


def _read(path: Path) -> FloatArray:
    stored = path.read_bytes()
    content = stored[DIGEST:]
    if hashlib.sha256(content).digest() != stored[:DIGEST]:
        raise ValueError(f"{path} is damaged")
    return np.asarray(np.load(io.BytesIO(content), allow_pickle=False))


def _write(reports: FloatArray, path: str) -> None:
    written = io.BytesIO()
    np.save(written, reports, allow_pickle=False)
    content = written.getvalue()
    Path(path).write_bytes(hashlib.sha256(content).digest() + content)


def _plain(value: Any) -> str | None:
    """Spell a value out, estimators by class, version and settings; None: cannot."""
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, Mapping):
        items = {key: _plain(value[key]) for key in value}
        return None if None in items.values() else repr(sorted(items.items()))
    if isinstance(value, list | tuple):
        spelled = [_plain(item) for item in value]
        return None if None in spelled else f"{type(value).__name__}{spelled}"
    if not callable(getattr(value, "get_params", None)):
        return None
    kind = type(value)
    known = getattr(sys.modules.get(kind.__module__.split(".")[0]), "__version__", None)
    inner = _plain(value.get_params(deep=False))
    if known is None or inner is None:
        return None
    return f"{kind.__module__}.{kind.__qualname__} {known} {inner}"


@cache
def version_of(library: str) -> str:
    """Version of a distribution; ``xgboost`` may be installed as ``xgboost-cpu``."""
    for name in (library, f"{library}-cpu"):
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            continue
    return f"{library} absent"


@cache
def _platform() -> str:
    """What every agent hangs on."""
    shared = ("numpy", "scikit-learn", "scipy")
    return " ".join([sys.platform, *(version_of(name) for name in shared)])


@cache
def _code() -> str:
    """Fingerprint of this package's source: a change of ours makes old reports void."""
    files: list[Array | str] = []
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        files += [path.name, np.frombuffer(path.read_bytes(), dtype=np.uint8)]
    return digest(*files)
