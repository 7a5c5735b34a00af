"""Tensors in the messages of the protocol, for servers and for clients."""

from typing import Any

from truepool.core.errors import RequestError
from truepool_serve.server.inference.tensors import CONTENTS, Tensor

SERVICE = "inference.GRPCInferenceService"


def pack(tensors: list[Tensor], side: str) -> dict[str, Any]:
    """Return tensors as values of a message: their heads, and raw bytes."""
    raw = "raw_input_contents" if side == "inputs" else "raw_output_contents"
    return {
        side: [
            {"name": t.name, "datatype": t.datatype, "shape": t.shape} for t in tensors
        ],
        raw: [t.pack() for t in tensors],
    }


def unpack(values: dict[str, Any], side: str) -> dict[str, Tensor]:
    """Return the tensors of a message, whose elements are raw or in typed fields."""
    raw = values.get(
        "raw_input_contents" if side == "inputs" else "raw_output_contents", []
    )
    heads = values.get(side, [])
    if raw and len(raw) != len(heads):
        raise RequestError(
            "invalid",
            f"{len(heads)} tensors need as many raw contents; got {len(raw)}",
        )
    found: dict[str, Tensor] = {}
    for i, head in enumerate(heads):
        name, datatype = head["name"], head["datatype"]
        shape = head.get("shape", [])
        if name in found:
            raise RequestError("invalid", f"tensor {name!r:.60} is given twice")
        if raw:
            found[name] = Tensor.unpack(name, datatype, shape, raw[i])
        else:
            field = CONTENTS.get(datatype, "")
            data = head.get("contents", {}).get(field, [])
            found[name] = Tensor.read(name, datatype, shape, data)
    return found
