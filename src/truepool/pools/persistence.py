"""Saved pools: a zip of a JSON manifest and plain arrays; no pickle, no code.

The members are ``manifest.json``, one ``.npy`` file per array and ``SHA256SUMS``, all
stored without compression. A pool is named in the manifest and found in the registry;
only settings that its constructor takes and learned attributes that its class declares
(annotated names that end in ``_``) are read. See docs/saved_pools.md.
"""

import hashlib
import inspect
import io
import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from truepool.core import registry
from truepool.core.arrays import Array
from truepool.core.errors import PoolFileError, SettingError, TruepoolError
from truepool.core.files import write_bytes
from truepool.data.costs import Costs
from truepool.data.labels import Labels
from truepool.measures.losses import Loss

FORMAT, VERSION = "truepool-pool", 1
"""What the manifest must name, and the newest version that is read."""
MANIFEST, CHECKSUMS = "manifest.json", "SHA256SUMS"
NUMBERS = "biuf"
"""Kinds of arrays that are stored: booleans, whole numbers and floats."""
RECORDS: tuple[type, ...] = (Costs, Labels, Loss)
"""Values that any pool may hold; a pool adds its own in `Pool.records`."""

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
"""What reading bytes that are not a saved pool may raise."""


def save(pool: Any, path: str | Path) -> None:
    """Write a fitted pool to a file, whole or not at all; the same pool, same bytes."""
    writer = _Writer()
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "truepool": version("truepool"),
        "pool": writer.pool(pool),
    }
    members = {MANIFEST: json.dumps(manifest, indent=1).encode(), **writer.arrays}
    sums = (f"{_sha256(content)}  {name}\n" for name, content in members.items())
    members[CHECKSUMS] = "".join(sums).encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name, part in members.items():
            archive.writestr(zipfile.ZipInfo(name), part)  # dated 1980, always
    write_bytes(path, content.getvalue())


def load(path: str | Path, *, probe: bool = True) -> Any:
    """Return the pool that a file holds.

    It is tried on two cases, so that a file whose numbers do not fit together is
    refused here and not when it is used; without ``probe`` it is not (a neural pool
    then needs no torch).
    """
    path = Path(path)
    manifest, members = _open(path)
    try:
        pool = _Reader(members).pool(manifest["pool"])
        pool.check_learned()
        if probe:
            _try(pool)
    except TruepoolError as error:
        raise PoolFileError(f"{path} cannot be used: {error}") from error
    except DAMAGE as error:
        raise _damaged(path, "its numbers do not fit together") from error
    return pool


def library(path: str | Path) -> str:
    """Version of truepool that wrote a file."""
    manifest, _ = _open(Path(path))
    return str(manifest.get("truepool"))


def declared(cls: type) -> list[str]:
    """Learned attributes that a class and its bases declare, in order.

    >>> from truepool.pools.mean import Mean
    >>> declared(Mean)[-1]
    'weights_'
    """
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        names |= dict.fromkeys(filter(_is_learned, inspect.get_annotations(base)))
    return list(names)


def _is_learned(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _records(cls: type) -> dict[str, type]:
    """Dataclasses that a pool may hold, by name."""
    own = (record for base in cls.__mro__ for record in vars(base).get("records", ()))
    return {record.__name__: record for record in (*RECORDS, *own)}


class _Writer:
    """Values as JSON; arrays are set aside as members of the archive."""

    def __init__(self) -> None:
        self.arrays: dict[str, bytes] = {}
        self.records: dict[str, type] = {}

    def pool(self, pool: Any) -> dict[str, Any]:
        cls = type(pool)
        if registry.names("pool").get(cls.name) is not cls:
            raise SettingError(
                "a pool that is saved must be found by its name when it is loaded; "
                f"{cls.__name__} is not registered. Add it by an entry point of the "
                "group 'truepool.pools'."
            )
        self.records |= _records(cls)
        learned = {n: value for n, value in vars(pool).items() if _is_learned(n)}
        unknown = [name for name in learned if name not in declared(cls)]
        if unknown:
            raise SettingError(
                "a learned attribute must be declared before it can be saved; "
                f"{cls.__name__} does not declare {unknown[0]!r}. Annotate it in the "
                "class body."
            )
        return {
            "name": cls.name,
            "settings": self._mapping(pool.get_params(deep=False), cls.name),
            "learned": self._mapping(learned, cls.name),
        }

    def _mapping(self, values: Mapping[str, Any], where: str) -> dict[str, Any]:
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
                return {"mapping": self._mapping(value, where)}
        kind = type(value).__name__
        if self.records.get(kind) is type(value):
            names = [field.name for field in fields(self.records[kind])]
            held = {name: getattr(value, name) for name in names}
            return {"record": kind, "fields": self._mapping(held, where)}
        if type(value) in registry.names("pool").values():
            return {"pool": self.pool(value)}
        raise SettingError(
            "a saved pool holds numbers, text, arrays and other pools; "
            f"{where} is {value!r:.60}. Replace it before saving "
            "(pool.set_params changes a setting; what was learned stays)."
        )

    def _array(self, array: Array) -> str:
        name = f"arrays/{len(self.arrays):04d}.npy"
        stream = io.BytesIO()
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        np.lib.format.write_array(stream, little, version=(1, 0), allow_pickle=False)
        self.arrays[name] = stream.getvalue()
        return name


class _Reader:
    """The values of a manifest."""

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self.members = members
        self.records: dict[str, type] = {}

    def pool(self, known: Mapping[str, Any]) -> Any:
        cls = registry.find("pool", known["name"])
        self.records |= _records(cls)
        pool = registry.make("pool", known["name"], **self._mapping(known["settings"]))
        registry.check_settings(cls.name, known["learned"], declared(cls))
        for name, value in self._mapping(known["learned"]).items():
            setattr(pool, name, value)
        return pool

    def _mapping(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.value(value) for name, value in values.items()}

    def value(self, value: Any) -> Any:
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
                return self._mapping(items)
            case {"array": str(name)}:
                return _array(self.members[name])
            case {"pool": dict(known)}:
                return self.pool(known)
            case {"record": str(kind), "fields": dict(held)}:
                return _record(self.records[kind], self._mapping(held))
        raise ValueError(f"unknown value {value!r:.60}")


def _record(kind: type, held: dict[str, Any]) -> Any:
    if kind is Costs and held["matrix"] is not None:
        held = {name: held.get(name, "") for name in ("matrix", "currency")}
    return kind(**{name: value for name, value in held.items() if value is not None})


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


def _open(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Manifest and members of a file, checked against its checksums."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PoolFileError(f"{path} cannot be read: {error.strerror}") from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise ValueError("a member is compressed")
            members = {entry.filename: archive.read(entry) for entry in entries}
        manifest = json.loads(members[MANIFEST])
        found = (manifest["format"], manifest["version"])
    except DAMAGE as error:
        raise _damaged(path, "it is not an archive with a manifest") from error
    if found[0] != FORMAT or not isinstance(found[1], int):
        raise _damaged(path, f"its manifest names the format {found[0]!r:.40}")
    if found[1] > VERSION:
        raise PoolFileError(
            f"{path} has version {found[1]} of the format, written by truepool "
            f"{manifest.get('truepool')!s:.20}; this truepool reads up to version "
            f"{VERSION}. Upgrade truepool."
        )
    sums = members.pop(CHECKSUMS, b"").decode("utf-8", "replace").splitlines()
    pairs = (line.partition("  ") for line in sums)
    known = {name: digest for digest, _, name in pairs}
    if known != {name: _sha256(part) for name, part in members.items()}:
        raise _damaged(path, "its checksums do not match")
    if not isinstance(manifest.get("pool"), dict):
        raise _damaged(path, "its manifest names no pool")
    return manifest, members


def _try(pool: Any) -> None:
    """Pool two cases, one of them without the first report."""
    N, K = len(pool.agents_), len(pool.classes_)
    values = np.full((2, N, 1 if K == 2 else K), 1.0 / K)
    values[1, 0] = np.nan
    pooled = pool.probabilities(values)
    if pooled.shape != (2, K) or not np.isfinite(pooled).all():
        raise ValueError("it does not answer with probabilities")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _damaged(path: Path, why: str) -> PoolFileError:
    return PoolFileError(
        f"a saved pool must be whole; {path} is damaged or something else: {why}. "
        "Save the pool again, or copy the file again."
    )
