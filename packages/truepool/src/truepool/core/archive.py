"""Archives: a zip of a JSON manifest and plain arrays; no pickle, no code.

The members are ``manifest.json``, one ``.npy`` file per array and ``SHA256SUMS``, all
stored without compression. What pools and streams are saved in; see
docs/saved_pools.md.
"""

import hashlib
import io
import json
import math
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from truepool.core.arrays import Array
from truepool.core.errors import TruepoolError
from truepool.core.files import missing_file, write_bytes

MANIFEST, CHECKSUMS = "manifest.json", "SHA256SUMS"
NUMBERS = "biuf"
"""Kinds of arrays that are stored: booleans, whole numbers and floats."""

LOADERS = {"pool": "tp.load_pool(path)", "stream": "tp.load_stream(path)"}
"""What reads each kind of archive."""
PASS = {
    "pool": "Pass a file that truepool fit wrote.",
    "stream": "Pass a file that stream.save wrote.",
}
"""What to do where a file is no archive of a kind."""

DAMAGE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    RecursionError,
    RuntimeError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
)
"""What reading bytes that are not an archive may raise."""


@dataclass(frozen=True)
class Kind:
    """What an archive holds: its name, the newest version read, and its error."""

    name: str
    version: int
    error: type[TruepoolError]

    @property
    def format(self) -> str:
        """What the manifest must name."""
        return f"truepool-{self.name}"

    def damaged(self, path: Path, why: str = "") -> TruepoolError:
        """Return the error about a file that is not what it should be."""
        return self.error(
            f"{path} is not a saved {self.name}, or it is damaged"
            f"{f': {why}' if why else ''}. "
            f"{PASS[self.name]}"
        )


class Writer(ABC):
    """Values as JSON; arrays are set aside as members of the archive.

    ``records`` are the dataclasses that may be held, by name.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, bytes] = {}
        self.records: dict[str, type] = {}

    @abstractmethod
    def other(self, value: Any, where: str) -> Any:
        """Return the JSON form of a value of another kind, or refuse it."""

    def mapping(self, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Return values by name as JSON."""
        return {name: self.value(v, f"{where}.{name}") for name, v in values.items()}

    def value(self, value: Any, where: str) -> Any:
        """Return a value as JSON; what has no JSON form is a tagged object."""
        match value:
            case None | bool() | str():
                return value
            case np.bool_():
                return bool(value)
            case int() | np.integer():
                return int(value)
            case float() | np.floating():
                number = float(value)
                return number if math.isfinite(number) else {"number": str(number)}
            case np.ndarray() if value.dtype.kind in NUMBERS:
                return {"array": self._array(value)}
            case list():
                return [self.value(item, where) for item in value]
            case tuple():
                return {"tuple": [self.value(item, where) for item in value]}
            case dict():
                return {"mapping": self.mapping(value, where)}
        kind = type(value).__name__
        if self.records.get(kind) is type(value):
            names = [field.name for field in fields(self.records[kind])]
            contents = {name: getattr(value, name) for name in names}
            return {"record": kind, "fields": self.mapping(contents, where)}
        return self.other(value, where)

    def _array(self, array: Array) -> str:
        name = f"arrays/{len(self.arrays):04d}.npy"
        stream = io.BytesIO()
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        np.lib.format.write_array(stream, little, version=(1, 0), allow_pickle=False)
        self.arrays[name] = stream.getvalue()
        return name


class Reader(ABC):
    """The values of a manifest."""

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self.members = members
        self.records: dict[str, type] = {}

    @abstractmethod
    def other(self, value: Any) -> Any:
        """Return the value of a tagged object of another kind, or refuse it."""

    @abstractmethod
    def record(self, kind: type, contents: dict[str, Any]) -> Any:
        """Make a dataclass of its fields."""

    def mapping(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values by name."""
        return {name: self.value(value) for name, value in values.items()}

    def value(self, value: Any) -> Any:
        """Return the value of its JSON form."""
        match value:
            case None | bool() | int() | float() | str():
                return value
            case list():
                return [self.value(item) for item in value]
            case {"number": str(number)}:
                return float(number)
            case {"tuple": list(items)}:
                return tuple(self.value(item) for item in items)
            case {"mapping": dict(items)}:
                return self.mapping(items)
            case {"array": str(name)}:
                return _array(self.members[name])
            case {"record": str(kind), "fields": dict(contents)}:
                return self.record(self.records[kind], self.mapping(contents))
        return self.other(value)


def write(
    path: str | Path, kind: Kind, content: Mapping[str, Any], arrays: dict[str, bytes]
) -> None:
    """Write an archive, whole or not at all; the same values, the same bytes."""
    write_bytes(path, pack(kind, content, arrays))


def pack(kind: Kind, content: Mapping[str, Any], arrays: dict[str, bytes]) -> bytes:
    """Return the bytes of an archive."""
    manifest = {
        "format": kind.format,
        "version": kind.version,
        "truepool": version("truepool"),
        **content,
    }
    members = {MANIFEST: json.dumps(manifest, indent=1).encode(), **arrays}
    sums = (f"{_sha256(part)}  {name}\n" for name, part in members.items())
    members[CHECKSUMS] = "".join(sums).encode()
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        for name, part in members.items():
            archive.writestr(zipfile.ZipInfo(name), part)  # dated 1980, always
    return whole.getvalue()


def read(path: Path, kind: Kind) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the members of a file, checked by its checksums."""
    return unpack(read_bytes(path, kind), kind, path)


def read_bytes(path: Path, kind: Kind) -> bytes:
    """Return the content of a file that should be an archive."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise kind.error(f"{missing_file(path)}. {PASS[kind.name]}") from None
    except OSError as error:
        raise kind.error(f"{path} cannot be read: {error.strerror}") from None


def unpack(
    content: bytes, kind: Kind, path: Path
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the members of an archive; errors name its path."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise ValueError("a member is compressed")
            members = {entry.filename: archive.read(entry) for entry in entries}
        manifest = json.loads(members[MANIFEST])
        found = (manifest["format"], manifest["version"])
    except DAMAGE as error:
        raise kind.damaged(path) from error
    other = next((k for k in LOADERS if found[0] == f"truepool-{k}"), kind.name)
    if other != kind.name:
        raise kind.error(
            f"{path} must be a saved {kind.name}; it is a saved {other}. Load it with "
            f"{LOADERS[other]}."
        )
    if found[0] != kind.format or not isinstance(found[1], int):
        raise kind.damaged(path, f"its manifest names the format {found[0]!r:.40}")
    if found[1] > kind.version:
        raise kind.error(
            f"{path} has version {found[1]} of the format, written by truepool "
            f"{manifest.get('truepool')!s:.20}; this truepool reads up to version "
            f"{kind.version}. Upgrade truepool."
        )
    sums = members.pop(CHECKSUMS, b"").decode("utf-8", "replace").splitlines()
    pairs = (line.partition("  ") for line in sums)
    known = {name: digest for digest, _, name in pairs}
    if known != {name: _sha256(part) for name, part in members.items()}:
        raise kind.damaged(path, "its checksums do not match")
    if not isinstance(manifest.get(kind.name), dict):
        raise kind.damaged(path, f"its manifest names no {kind.name}")
    return manifest, members


def _array(content: bytes) -> Array:
    """Array of a ``.npy`` file, whose size must be what its header says."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("another version of the .npy format")
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(stream)
    data = content[stream.tell() :]
    if dtype.kind not in NUMBERS or math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError("an array of another kind or size than its header says")
    flat = np.frombuffer(data, dtype).astype(dtype.newbyteorder("="))
    return flat.reshape(shape, order="F" if by_column else "C")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
