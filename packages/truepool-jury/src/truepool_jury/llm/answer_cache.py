"""A cache of completions: a request that was answered once is never paid twice."""

import json
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from truepool.core.files import DiskCache, cache_folder
from truepool_jury.llm.completion import Completion


def folder() -> Path:
    """Return the folder of the cache."""
    return cache_folder() / "llm"


def key(*parts: Any) -> str:
    """Return the name of an entry: endpoint, model, prompt with its case, and sample.

    >>> key("model", "prompt", 0) == key("model", "prompt", 0) != key("model", "pr", 0)
    True
    """
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def open_cache(folder: Path) -> DiskCache[Completion]:
    """Return the cache in a folder; entries are named by their `key`."""
    return DiskCache(folder, _read, _write)


def _read(path: Path) -> Completion:
    checksum, _, content = path.read_bytes().partition(b"\n")
    if sha256(content).hexdigest().encode() != checksum:
        raise ValueError(f"{path} is damaged")
    try:
        return Completion(**json.loads(content))
    except TypeError:
        raise ValueError(f"{path} is of another version of truepool") from None


def _write(completion: Completion, path: str) -> None:
    content = json.dumps(asdict(completion)).encode()
    Path(path).write_bytes(sha256(content).hexdigest().encode() + b"\n" + content)
