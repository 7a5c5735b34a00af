"""Messages of the protocol over gRPC: the only module that knows protobuf.

The descriptors are compiled by ``scripts/protocol`` and live in a pool of their own: no
version of the generated code has to match, and a client of the same protocol in this
process, such as Triton's, does not collide with them.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from truepool.core.errors import RequestError
from truepool_serve.server.inference.tensors import CONTENTS, Tensor

SERVICE = "inference.GRPCInferenceService"
SERVING = health_pb2.HealthCheckResponse.SERVING


@cache
def descriptors() -> descriptor_pool.DescriptorPool:
    """Return the pool of all messages."""
    content = files(__package__).joinpath("inference.binpb").read_bytes()
    known = descriptor_pb2.FileDescriptorSet.FromString(content)
    pool = descriptor_pool.DescriptorPool()
    for module in (health_pb2, reflection_pb2):  # reflection shows them too
        module.DESCRIPTOR.CopyToProto(known.file.add())
    for file in known.file:
        pool.Add(file)
    return pool


@cache
def methods() -> dict[str, tuple[Any, Any]]:
    """Return the classes of the request and the answer of each method."""
    make = message_factory.GetMessageClass
    return {
        method.name: (make(method.input_type), make(method.output_type))
        for method in descriptors().FindServiceByName(SERVICE).methods
    }


def read(kind: Any, content: bytes) -> Any:
    """Return a message; refuse bytes that are none."""
    try:
        return kind.FromString(content)
    except DecodeError:
        name = kind.DESCRIPTOR.full_name
        raise RequestError("invalid", f"the request must be a message {name}") from None


def add(tensors: Iterable[Tensor], heads: Any, raw: Any) -> None:
    """Add tensors to a message: their heads, and their raw bytes."""
    for tensor in tensors:
        heads.add(name=tensor.name, datatype=tensor.datatype, shape=tensor.shape)
        raw.append(tensor.pack())


def tensors(heads: Any, raw: Any) -> dict[str, Tensor]:
    """Return the tensors of a message, whose elements are raw or in typed fields."""
    if raw and len(raw) != len(heads):
        raise RequestError(
            "invalid",
            f"{len(heads)} tensors need as many raw contents; got {len(raw)}",
        )
    found: dict[str, Tensor] = {}
    for i, head in enumerate(heads):
        name, datatype, shape = head.name, head.datatype, list(head.shape)
        if name in found:
            raise RequestError("invalid", f"tensor {name!r:.60} is given twice")
        if raw:
            found[name] = Tensor.unpack(name, datatype, shape, raw[i])
        else:
            field = CONTENTS.get(datatype)
            data = list(getattr(head.contents, field)) if field else []
            found[name] = Tensor.read(name, datatype, shape, data)
    return found
