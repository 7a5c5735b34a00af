"""Saved streams: an archive of a learner, its state and the cases that still wait.

The learner is found in the registry by its name, as pools are; see docs/saved_pools.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from truepool.core import archive, registry
from truepool.core.arrays import Array, FloatArray
from truepool.core.errors import SettingError, StreamFileError, TruepoolError
from truepool.core.files import write_bytes
from truepool.learners.interface import Learner, State
from truepool.online.decision import Decision
from truepool.online.experts import Experts
from truepool.online.recalibration import Recalibration
from truepool.pools import Pool
from truepool.pools import persistence as pools

KIND = archive.Kind("stream", 1, StreamFileError)
PART = 1000
"""Cases that are stacked at a time."""
HELD = {record.__name__: record for record in (*pools.RECORDS, Recalibration)}
"""Dataclasses that a stream may hold, by name."""


def save(stream: Mapping[str, Any], path: str | Path) -> None:
    """Write the attributes of a stream to a file, whole or not at all."""
    write_bytes(path, pack(stream))


def pack(stream: Mapping[str, Any]) -> bytes:
    """Return the attributes of a stream as the bytes of an archive."""
    writer = _Writer()
    content = {"stream": writer.mapping(_plain(stream), "stream")}
    return archive.pack(KIND, content, writer.arrays)


def load(path: str | Path) -> dict[str, Any]:
    """Return the attributes of the stream that a file holds."""
    path = Path(path)
    return unpack(archive.read_bytes(path, KIND), path)


def unpack(content: bytes, path: Path) -> dict[str, Any]:
    """Return the attributes of the stream in an archive; errors name its path."""
    manifest, members = archive.unpack(content, KIND, path)
    try:
        return _stream(_Reader(members).mapping(manifest["stream"]))
    except TruepoolError as error:
        raise StreamFileError(f"{path} cannot be used: {error}") from error
    except archive.DAMAGE as error:
        raise KIND.damaged(path, "its numbers do not fit together") from error


def learned(state: State, recalibration: Recalibration | None) -> FloatArray:
    """Return the numbers (M,) that outcomes change: weights, memory, recalibration."""
    parts = [state.unnormalised, *state.memory]
    if recalibration is not None:
        parts += [recalibration.scale, recalibration.precision]
    return np.concatenate([np.ravel(part) for part in parts]).astype(np.float64)


def take_over(
    state: State, recalibration: Recalibration | None, numbers: FloatArray
) -> tuple[State, Recalibration | None]:
    """Return the state with other `learned` numbers; they must be as many."""
    known = learned(state, recalibration)
    if numbers.shape != known.shape:
        raise SettingError(
            f"what a stream learned must be {known.size:,} numbers; got shape "
            f"{numbers.shape}"
        )
    place = 0

    def take(old: Any) -> Any:
        nonlocal place
        start, place = place, place + np.size(old)
        if isinstance(old, np.ndarray):
            return numbers[start:place].reshape(old.shape).copy()
        return type(old)(numbers[start])

    weights, memory = take(state.unnormalised), [take(old) for old in state.memory]
    kind = type(state.memory)
    state = replace(
        state, unnormalised=weights, memory=kind(*memory) if memory else state.memory
    )
    if recalibration is not None:
        scale, precision = take(recalibration.scale), take(recalibration.precision)
        recalibration = Recalibration(scale, precision)
    return state, recalibration


def _plain(stream: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a stream by name; cases are lists and arrays."""
    state: State = stream["state"]
    N, C = len(state.agents), 1 if state.classes == 2 else state.classes
    # A case without a report of anybody who is still here has nothing but its name.
    nothing = Decision(np.full((N, C), np.nan), np.zeros(N))
    waiting = [decision or nothing for decision in stream["waiting"].values()]
    return {
        "learner": stream["learner"],
        "agents": list(state.agents),
        "classes": state.classes,
        "settled": state.settled,
        "weights": state.unnormalised,
        "memory": list(state.memory),
        "labels": list(stream["numbers"]),
        "numbers": list(stream["numbers"].values()),
        "recalibration": stream["recalibration"],
        "experts": stream["experts"] and stream["experts"].to_dict(),
        "limit": stream["memory"],
        "waiting": list(stream["waiting"]),
        "reports": _stack([d.reports for d in waiting], (N, C)),
        "used": _stack([d.unnormalised for d in waiting], (N,)),
        "known": list(stream["outcomes"]),
        "outcomes": np.array(list(stream["outcomes"].values()), dtype=np.int64),
    }


def _stack(arrays: Sequence[FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Stack arrays, a part at a time: other threads take turns in between."""
    found = np.empty((len(arrays), *shape))
    for start in range(0, len(arrays), PART):
        part = arrays[start : start + PART]
        found[start : start + PART] = np.array(part).reshape(-1, *shape)
    return found


def _stream(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of a stream; values that do not fit together are a ValueError."""
    learner: Learner = saved["learner"]
    fresh = learner.start(tuple(saved["agents"]), saved["classes"])
    N, K = len(fresh.agents), fresh.classes
    C = 1 if K == 2 else K
    reports, used = saved["reports"], saved["used"]
    W = len(saved["waiting"])
    weights = _checked(saved["weights"], (N,))
    _check(np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0)
    _checked(reports, (W, N, C))
    _check((np.isnan(reports) | ((reports >= 0) & (reports <= 1))).all())
    _check(isinstance(saved["settled"], int) and saved["settled"] >= 0)
    outcomes = saved["outcomes"]
    _check(outcomes.shape == (len(saved["known"]),))
    _check(((outcomes >= 0) & (outcomes < K)).all())
    _check(set(saved["numbers"]) <= set(range(K)))
    recalibration: Recalibration | None = saved["recalibration"]
    if recalibration is not None:
        _checked(recalibration.scale, (K,))
        _checked(recalibration.precision, (K, K))
    decisions = [
        None if np.isnan(r[:, 0]).all() else Decision(r, u)
        for r, u in zip(reports, _checked(used, (W, N)), strict=True)
    ]
    return {
        "learner": learner,
        "state": State(
            weights,
            _memory(fresh.memory, saved["memory"]),
            fresh.agents,
            K,
            saved["settled"],
        ),
        "numbers": dict(zip(saved["labels"], saved["numbers"], strict=True)),
        "recalibration": recalibration,
        "experts": _experts(saved.get("experts"), fresh.agents, K),
        "memory": saved["limit"],
        "waiting": dict(zip(saved["waiting"], decisions, strict=True)),
        "outcomes": dict(zip(saved["known"], outcomes.tolist(), strict=True)),
    }


def _experts(
    saved: Mapping[str, Any] | None, names: tuple[str, ...], classes: int
) -> Experts | None:
    """Experts of `auto`; their pools must be about the agents of the stream."""
    if saved is None:
        return None
    record = saved["record"]
    known = {**saved, "record": None if record is None else Path(record)}
    experts = Experts(**known)
    N, C = len(experts.agents), 1 if classes == 2 else classes
    W = len(experts.outcomes)
    _check(experts.names == names and experts.classes == classes)
    _check(0 <= W <= experts.settled and experts.due > 0)
    if W:
        _checked(experts.reports, (W, N, C))
    _check(len(experts.pools) in (0, len(names) - N))
    _check(((experts.outcomes >= 0) & (experts.outcomes < classes)).all())
    for pool in experts.pools:
        pool.check_learned()
        _check(pool.agents_ == experts.agents and len(pool.classes_) == classes)
    return experts


def _memory(fresh: Any, saved: list[Any]) -> Any:
    """Memory of a learner, of the shapes that it has at the start."""
    _check(len(fresh) == len(saved))
    for new, old in zip(fresh, saved, strict=True):
        if isinstance(new, np.ndarray):
            _checked(old, new.shape)
        else:
            _check(isinstance(old, int | float))
    return type(fresh)(*saved) if saved else fresh


def _checked(array: Array, shape: tuple[int, ...]) -> FloatArray:
    _check(array.shape == shape and array.dtype == np.float64)
    return array


def _check(fits: Any) -> None:
    if not fits:
        raise ValueError("values that do not fit together")


class _Writer(pools.Writer):
    def __init__(self) -> None:
        super().__init__()
        self.records |= HELD

    def other(self, value: Any, where: str) -> Any:
        if isinstance(value, Pool):
            return super().other(value, where)
        if isinstance(value, Learner):
            if registry.names("learner").get(value.name) is not type(value):
                raise SettingError(
                    "a learner that is saved must be found by its name when it is "
                    f"loaded; {type(value).__name__} is not registered. Add it by an "
                    "entry point of the group 'truepool.learners'."
                )
            contents = {field.name: vars(value)[field.name] for field in fields(value)}
            return {
                "learner": value.name,
                "settings": self.mapping(contents, value.name),
            }
        raise SettingError(
            "the cases and labels of a saved stream must be named by text, numbers or "
            f"tuples of these; {where} has {value!r:.60}. Name them by str(...)."
        )


class _Reader(pools.Reader):
    def __init__(self, members: Mapping[str, bytes]) -> None:
        super().__init__(members)
        self.records |= HELD

    def other(self, value: Any) -> Any:
        match value:
            case {"learner": str(name), "settings": dict(contents)}:
                pools.installed("learner", name, StreamFileError)
                return registry.make("learner", name, **self.mapping(contents))
        return super().other(value)
