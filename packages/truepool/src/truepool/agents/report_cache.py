"""A cache of reports, keyed by the content of everything they depend on."""

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
    """Return the folder of the cache."""
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
            value = part.tolist() if isinstance(part, np.ndarray) else part
            total.update(f"{type(part).__name__}:{value!r};".encode())
    return total.hexdigest()


def fingerprint(agent: Any) -> str | None:
    """Describe all that an untrained agent's reports depend on; None if unknown.

    For models of the zoo that is the name, the settings and the versions. A classifier
    of your own needs a package with a version and plain settings: code that may change
    from one run to the next is never cached.
    """
    if isinstance(agent, Model):
        settings = _plain(agent.settings)
        found = [version_of(library) for library in agent.libraries]
        return None if settings is None else f"{agent.name} {settings} {found}"
    settings = _plain(agent) if callable(getattr(agent, "get_params", None)) else None
    return None if settings is None else f"{settings} {_platform()}"


def key(agent: Any, *parts: Any) -> str | None:
    """Return the key of the reports of an agent trained on these parts."""
    text = fingerprint(agent)
    return None if text is None else digest(text, _platform(), _code(), *parts)


def open_cache(folder: Path) -> DiskCache[FloatArray]:
    """Return the cache in a folder; entries are named by their `key`."""
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
    """Write a value as text, an estimator as class, version and settings, or None."""
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
    """Describe what the reports of every agent depend on."""
    shared = ("numpy", "scikit-learn", "scipy")
    return " ".join([sys.platform, *(version_of(name) for name in shared)])


@cache
def _code() -> str:
    """Fingerprint of this package's source: a change of it invalidates old reports."""
    files: list[Array | str] = []
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        files += [path.name, np.frombuffer(path.read_bytes(), dtype=np.uint8)]
    return digest(*files)
