"""Saved pools: an archive that names a pool, its settings and what it learned.

A pool is found in the registry by its name; only settings that its constructor takes
and learned attributes that its class declares (annotated names that end in ``_``) are
read. See docs/saved_pools.md.
"""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from truepool.core import archive, distributions, registry
from truepool.core.errors import (
    PoolError,
    PoolFileError,
    SettingError,
    TruepoolError,
)
from truepool.measures.losses import Loss
from truepool.panel.costs import Costs
from truepool.panel.labels import Labels
from truepool.tables.schema import Schema

KIND = archive.Kind("pool", 1, PoolFileError)
RECORDS: tuple[type, ...] = (Costs, Labels, Loss)
"""Values that any pool may hold; a pool adds its own in `Pool.records`."""


def save(pool: Any, path: str | Path, table: Schema | None = None) -> None:
    """Write a fitted pool to a file, whole or not at all; the same pool, same bytes.

    ``table`` says what the columns were of the table that the pool was fitted on.
    """
    writer = Writer()
    content = {"pool": writer.pool(pool)}
    _try(pool)
    if table is not None:
        content["schema"] = table.to_dict()
    archive.write(path, KIND, content, writer.arrays)


def digest(pool: Any) -> str:
    """A short hash of a fitted pool, by which two saved pools are told apart."""
    writer = Writer()
    packed = archive.pack(KIND, {"pool": writer.pool(pool)}, writer.arrays)
    return sha256(packed).hexdigest()[:12]


def load(path: str | Path, *, probe: bool = True) -> Any:
    """Return the pool that a file holds.

    It is tried on two cases, so that a file whose numbers do not fit together is
    refused here and not when it is used; without ``probe`` it is not (a neural pool
    then needs no torch).
    """
    path = Path(path)
    manifest, members = archive.read(path, KIND)
    try:
        pool = Reader(members).pool(manifest["pool"])
        pool.check_learned()
        if probe:
            _try(pool)
    except PoolError as error:
        raise KIND.damaged(path, "its numbers do not fit together") from error
    except TruepoolError as error:
        raise PoolFileError(f"{path} cannot be used: {error}") from error
    except archive.DAMAGE as error:
        if isinstance(error, AttributeError) and _is_learned(error.name or ""):
            raise PoolFileError(
                f"{path} lacks {error.name}, which this version of truepool reads of "
                "a pool. Fit it again; the version that wrote it can still use it."
            ) from error
        raise KIND.damaged(path, "its numbers do not fit together") from error
    table = _schema(path, manifest, members, pool.agents_, pool.labels_)
    if table is not None:
        pool.table = table
    return pool


def library(path: str | Path) -> str:
    """Version of truepool that wrote a file."""
    manifest, _ = archive.read(Path(path), KIND)
    return str(manifest.get("truepool"))


class _Options(dict[str, Any]):
    """How a table was written, as versions before schemas saved it."""


def _schema(
    path: Path, manifest: Mapping[str, Any], members: Any, agents: Any, labels: Labels
) -> Schema | None:
    """What the columns were of the table that a pool was fitted on, if known."""
    try:
        if "schema" in manifest:
            schema = Schema.from_dict(manifest["schema"])
            if schema.agents != agents:
                raise ValueError("these are other agents")
            return schema
        reader = Reader(members)
        reader.records["TableFormat"] = _Options
        found = reader.value(manifest.get("table"))
        if not isinstance(found, _Options):
            return None
        known = Schema.of_options(found, agents)
        names = tuple(map(str, labels.names)) if len(labels.names) > 2 else ()
        known = replace(known, labels=tuple(labels.names))
        if not names:
            return known
        columns = {a: tuple(f"{a}:{k}" for k in names) for a in agents}
        return replace(known, reports=columns, classes=names)
    except (*archive.DAMAGE, TruepoolError) as error:
        raise KIND.damaged(path, "its table is not described") from error


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


class Writer(archive.Writer):
    """Writes pools, alone or inside other values."""

    def pool(self, pool: Any) -> dict[str, Any]:
        """Return a fitted pool as name, settings and what it learned."""
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
            "settings": self.mapping(pool.get_params(deep=False), cls.name),
            "learned": self.mapping(learned, cls.name),
        }

    def other(self, value: Any, where: str) -> Any:
        """Return the form of a pool."""
        if type(value) in registry.names("pool").values():
            return {"pool": self.pool(value)}
        raise SettingError(
            "a saved pool holds numbers, text, arrays and other pools; "
            f"{where} is {value!r:.60}. Replace it before saving "
            "(pool.set_params changes a setting; what was learned stays)."
        )


class Reader(archive.Reader):
    """Reads what `Writer` wrote."""

    def pool(self, known: Mapping[str, Any]) -> Any:
        """Make a fitted pool of its name, settings and what it learned."""
        cls = installed("pool", known["name"], PoolFileError)
        self.records |= _records(cls)
        pool = registry.make("pool", known["name"], **self.mapping(known["settings"]))
        registry.check_settings(cls.name, known["learned"], declared(cls))
        for name, value in self.mapping(known["learned"]).items():
            setattr(pool, name, value)
        return pool

    def record(self, kind: type, contents: dict[str, Any]) -> Any:
        """Make a dataclass of its fields."""
        return make_record(kind, contents)

    def other(self, value: Any) -> Any:
        """Return the pool of its form."""
        match value:
            case {"pool": dict(known)}:
                return self.pool(known)
        raise ValueError(f"unknown value {value!r:.60}")


def installed(kind: str, name: str, refusal: type[TruepoolError]) -> Any:
    """Return what a file names, or say that its plug-in may not be installed."""
    known = registry.names(kind)
    if name not in known:
        missing = distributions.missing(kind, name)
        if missing is not None:
            raise missing
        raise refusal(
            f"no {kind} is called {name!r} in this installation. Install the plug-in "
            "that has it, or a newer truepool."
        )
    return known[name]


def make_record(kind: type, contents: dict[str, Any]) -> Any:
    """Make a dataclass of its fields."""
    if kind is Costs and contents["matrix"] is not None:
        contents = {name: contents.get(name, "") for name in ("matrix", "currency")}
    return kind(
        **{name: value for name, value in contents.items() if value is not None}
    )


def _try(pool: Any) -> None:
    """Pool two cases, one of them without the first report."""
    N, K = len(pool.agents_), len(pool.classes_)
    values = np.full((2, N, 1 if K == 2 else K), 1.0 / K)
    values[1, 0] = np.nan
    pool.probabilities(values)
