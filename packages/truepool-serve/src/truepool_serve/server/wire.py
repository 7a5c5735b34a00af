"""Protobuf messages as plain values and back: the only module that knows protobuf.

The descriptors are compiled by ``scripts/protocol`` and live in a pool of their own: no
version of the generated code has to match, and a client of the same protocol in this
process, such as Triton's, does not collide with them.

Values are as JSON has them. A field that is not set is absent. A message that is one
choice of several (a label, a cost, a parameter) is the chosen value, and one that is
nothing but ``values`` is a list.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from truepool.core.errors import RequestError

SERVING = health_pb2.HealthCheckResponse.SERVING
STRUCT = "google.protobuf.Struct"
CHOICES: dict[type, tuple[int, ...]] = {
    bool: (FieldDescriptor.TYPE_BOOL,),
    int: (FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_DOUBLE),
    float: (FieldDescriptor.TYPE_DOUBLE,),
    str: (FieldDescriptor.TYPE_STRING,),
}
"""Which field of a choice holds a value, by its type."""


@dataclass(frozen=True)
class Kind:
    """A kind of message."""

    message: Any

    def unpack(self, content: bytes) -> dict[str, Any]:
        """Return a message as values; refuse bytes that are none."""
        try:
            message = self.message.FromString(content)
        except DecodeError:
            raise RequestError(
                "invalid",
                f"the request must be a message {self.message.DESCRIPTOR.full_name}",
            ) from None
        found = _plain(message)
        return found if isinstance(found, dict) else {}

    def pack(self, values: Mapping[str, Any]) -> bytes:
        """Return values as a message."""
        message = self.message()
        _fill(message, values)
        content: bytes = message.SerializeToString()
        return content


@dataclass(frozen=True)
class Method:
    """A method of a service."""

    name: str
    request: Kind
    answer: Kind
    streams_requests: bool
    streams_answers: bool


@cache
def descriptors() -> descriptor_pool.DescriptorPool:
    """Return the pool of all messages."""
    content = files("truepool_serve.server.protocol").joinpath("descriptors.binpb")
    known = descriptor_pb2.FileDescriptorSet.FromString(content.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for module in (health_pb2, reflection_pb2):  # reflection shows them too
        module.DESCRIPTOR.CopyToProto(known.file.add())
    for file in known.file:
        pool.Add(file)
    return pool


@cache
def methods(service: str) -> dict[str, Method]:
    """Return the methods of a service by name."""
    found = descriptors().FindServiceByName(service)
    return {
        method.name: Method(
            method.name,
            _kind(method.input_type),
            _kind(method.output_type),
            method.client_streaming,
            method.server_streaming,
        )
        for method in found.methods
    }


def _kind(descriptor: Descriptor) -> Kind:
    return Kind(message_factory.GetMessageClass(descriptor))


def _is_map(field: Any) -> bool:
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


@cache
def _is_choice(descriptor: Any) -> bool:
    """Whether a message is one choice of several, and nothing else."""
    only = [o for o in descriptor.oneofs if len(o.fields) == len(descriptor.fields)]
    return bool(only) and len(descriptor.fields) > 1


@cache
def _is_list(descriptor: Any) -> bool:
    return [field.name for field in descriptor.fields] == ["values"]


def _plain(message: Any) -> Any:
    kind = message.DESCRIPTOR
    if kind.full_name == STRUCT:
        return {name: _plain_value(value) for name, value in message.fields.items()}
    if _is_choice(kind):
        name = message.WhichOneof(kind.oneofs[0].name)
        return None if name is None else getattr(message, name)
    if _is_list(kind):
        return list(message.values)
    found: dict[str, Any] = {}
    for field in kind.fields:
        value = getattr(message, field.name)
        if _is_map(field):
            nested = field.message_type.fields_by_name["value"].message_type
            items = value.items()
            value = {k: _plain(v) if nested else v for k, v in items} or None
        elif field.is_repeated:
            value = [_plain(v) for v in value] if field.message_type else list(value)
            value = value or None
        elif field.has_presence and not message.HasField(field.name):
            value = None
        elif field.message_type:
            value = _plain(value)
        if value is not None:
            found[field.name] = value
    return found


def _plain_value(value: Any) -> Any:
    """A value of a Struct, whose numbers are all floats, as JSON would have it."""
    name = value.WhichOneof("kind")
    if name == "struct_value":
        return _plain(value.struct_value)
    if name == "list_value":
        return [_plain_value(each) for each in value.list_value.values]
    if name == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    return getattr(value, name) if name in ("string_value", "bool_value") else None


def _fill(message: Any, value: Any) -> None:
    kind = message.DESCRIPTOR
    if kind.full_name == STRUCT:
        message.update(value)
    elif _is_choice(kind):
        _choose(message, value)
    elif _is_list(kind):
        message.values.extend(value if isinstance(value, list) else [value])
    else:
        message.SetInParent()
        for name, part in value.items():
            field = kind.fields_by_name.get(name)  # some are in HTTP only
            if part is not None and field is not None:
                _fill_field(message, field, part)


def _fill_field(message: Any, field: Any, value: Any) -> None:
    if _is_map(field):
        target = getattr(message, field.name)
        if field.message_type.fields_by_name["value"].message_type is None:
            target.update(value)
            return
        for key, part in value.items():
            _fill(target[key], part)
    elif field.is_repeated and field.message_type:
        for part in value:
            _fill(getattr(message, field.name).add(), part)
    elif field.is_repeated:
        getattr(message, field.name).extend(value)
    elif field.message_type:
        _fill(getattr(message, field.name), value)
    else:
        setattr(message, field.name, value)


def _choose(message: Any, value: Any) -> None:
    """Set the field that fits a value; a number too large for any becomes text."""
    for wanted in (*CHOICES[type(value)], FieldDescriptor.TYPE_STRING):
        for field in message.DESCRIPTOR.fields:
            if field.type != wanted:
                continue
            if wanted == FieldDescriptor.TYPE_STRING:
                value = str(value).encode("utf-8", "replace").decode()
            try:
                setattr(message, field.name, value)
            except ValueError:
                break
            return
