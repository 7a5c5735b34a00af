"""Tensors of the protocol: as JSON, as raw bytes, and as arrays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from truepool.core.arrays import Array, FloatArray
from truepool.core.errors import RequestError

TYPES: dict[str, Any] = {
    "BOOL": np.bool_,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
    "BYTES": np.object_,
}
"""Array type of each datatype; the elements of BYTES are text."""
ELEMENTS: dict[str, tuple[type, ...]] = {
    "b": (bool,),
    "u": (int,),
    "i": (int,),
    "f": (int, float),
}
"""Types of the elements in JSON, by the kind of array; numpy would convert others."""
CONTENTS = {
    "BOOL": "bool_contents",
    "UINT8": "uint_contents",
    "UINT16": "uint_contents",
    "UINT32": "uint_contents",
    "UINT64": "uint64_contents",
    "INT8": "int_contents",
    "INT16": "int_contents",
    "INT32": "int_contents",
    "INT64": "int64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
    "BYTES": "bytes_contents",
}
"""Field of a message with the elements of a datatype, where they are not raw bytes."""
LENGTH = 4
"""Bytes of the length before each element of BYTES."""
MOST_ELEMENTS = 10_000_000
MOST_AXES = 8


@dataclass(frozen=True)
class Tensor:
    """A named array of one of the datatypes."""

    name: str
    datatype: str
    values: Array

    @classmethod
    def from_array(cls, name: str, values: Any) -> Self:
        """Return an array of numbers or text as a tensor."""
        array = np.asarray(values)
        if array.dtype.kind in "OUS":
            return cls(name, "BYTES", array.astype(np.object_))
        kind = next(k for k, v in TYPES.items() if np.dtype(v) == array.dtype)
        return cls(name, kind, array)

    @classmethod
    def read(cls, name: str, datatype: str, shape: Sequence[int], data: Any) -> Self:
        """Return a tensor of elements in a list, nested or not; null is NaN."""
        size = _check(name, datatype, shape)
        flat = _flatten(data)
        if len(flat) != size:
            raise _refuse(name, f"{size} elements for shape {list(shape)}", len(flat))
        kind = TYPES[datatype]
        if datatype == "BYTES":
            return cls(name, datatype, _texts(name, flat).reshape(shape))
        if datatype.startswith("FP"):
            flat = [math.nan if value is None else value for value in flat]
        allowed = ELEMENTS[np.dtype(kind).kind]
        odd = [value for value in flat if type(value) not in allowed]
        if odd:
            raise _refuse(name, f"elements of datatype {datatype}", repr(odd[0])[:40])
        try:
            values = np.array(flat, dtype=kind).reshape(shape)
        except (ValueError, TypeError, OverflowError):
            raise _refuse(name, f"elements of datatype {datatype}", "others") from None
        return cls(name, datatype, values)

    @classmethod
    def unpack(
        cls, name: str, datatype: str, shape: Sequence[int], content: bytes
    ) -> Self:
        """Return a tensor of raw bytes, little-endian, row by row."""
        size = _check(name, datatype, shape)
        if datatype == "BYTES":
            flat = _texts(name, _split(name, content, size))
            return cls(name, datatype, flat.reshape(shape))
        kind = np.dtype(TYPES[datatype]).newbyteorder("<")
        if len(content) != size * kind.itemsize:
            wanted = f"{size * kind.itemsize} bytes for shape {list(shape)}"
            raise _refuse(name, wanted, len(content))
        values = np.frombuffer(content, kind).reshape(shape)
        return cls(name, datatype, values.astype(TYPES[datatype]))

    @property
    def shape(self) -> list[int]:
        """Length of each axis."""
        return list(self.values.shape)

    def to_list(self) -> list[Any]:
        """Return the elements row by row, as JSON has them; NaN is None."""
        flat = self.values.ravel().tolist()
        return [None if value != value else value for value in flat]

    def pack(self) -> bytes:
        """Return the elements as raw bytes."""
        if self.datatype != "BYTES":
            kind = np.dtype(TYPES[self.datatype]).newbyteorder("<")
            return self.values.astype(kind).tobytes()
        parts = [str(v).encode("utf-8", "replace") for v in self.values.ravel()]
        return b"".join(len(p).to_bytes(LENGTH, "little") + p for p in parts)

    def numbers(self) -> FloatArray:
        """Return the elements as float64; refuse text."""
        if self.datatype == "BYTES":
            raise _refuse(self.name, "numbers", self.datatype)
        return self.values.astype(np.float64)

    def measures(self) -> FloatArray:
        """Return probabilities or amounts, which are neither text nor true or false."""
        if self.datatype == "BOOL":
            raise _refuse(self.name, "numbers", self.datatype)
        return self.numbers()

    def column(self) -> Array:
        """Return the elements (T,) of a tensor of shape (T,) or (T, 1)."""
        if self.values.ndim == 1:
            return self.values
        if self.values.ndim == 2 and self.values.shape[1] == 1:
            return self.values[:, 0]
        raise _refuse(self.name, "shape (T,) or (T, 1)", self.shape)


def _check(name: str, datatype: str, shape: Sequence[int]) -> int:
    """Return how many elements a tensor has; refuse what is none."""
    if datatype not in TYPES:
        raise _refuse(name, f"a datatype of {', '.join(TYPES)}", repr(datatype)[:40])
    if len(shape) > MOST_AXES or any(length < 0 for length in shape):
        raise _refuse(name, f"up to {MOST_AXES} axes of positive length", list(shape))
    size = math.prod(shape)
    if size > MOST_ELEMENTS or max(shape, default=0) > MOST_ELEMENTS:
        raise RequestError(
            "too-large", f"a tensor has at most {MOST_ELEMENTS:,} elements"
        )
    return size


def _flatten(data: Any) -> list[Any]:
    if not isinstance(data, list):
        return [data]
    while data and any(isinstance(part, list) for part in data):
        data = [
            element
            for part in data
            for element in (part if isinstance(part, list) else [part])
        ]
    return list(data)


def _texts(name: str, flat: Sequence[Any]) -> Array:
    values = np.empty(len(flat), dtype=np.object_)
    for i, element in enumerate(flat):
        if isinstance(element, bytes):
            element = element.decode("utf-8", "replace")
        if not isinstance(element, str):
            raise _refuse(name, "text", repr(element)[:40])
        values[i] = element
    return values


def _split(name: str, content: bytes, size: int) -> list[bytes]:
    """Elements of BYTES, each after its length."""
    parts: list[bytes] = []
    place = 0
    while place < len(content) and len(parts) <= size:
        start = place + LENGTH
        place = start + int.from_bytes(content[place:start], "little")
        parts.append(content[start:place])
    if place != len(content) or len(parts) != size:
        raise _refuse(name, f"{size} elements with their lengths", "others")
    return parts


def _refuse(name: str, needed: str, found: object) -> RequestError:
    return RequestError(
        "invalid", f"tensor {name!r:.60} must have {needed}; got {found}"
    )
