"""The Open Inference Protocol over gRPC: whatever is sent, and whoever sends it."""

import subprocess
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from server.grpc_service import Client, Served, refusal, run
from server.service import Local

from truepool.core.errors import LedgerError, SettingError
from truepool_serve.server import http
from truepool_serve.server.inference import protobuf
from truepool_serve.server.inference.grpc_server import (
    SERVICE,
    STATUS,
    Certificates,
    GrpcServer,
)
from truepool_serve.server.inference.pool_models import PoolModels

Code = grpc.StatusCode
ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "packages/truepool-serve/src/truepool_serve"
NAMES = ("ModelInfer", "ModelMetadata", "ModelReady")


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with Local(tmp_path_factory.mktemp("grpc") / "ledger.db") as found:
        yield found


@pytest.fixture(scope="module")
def client(local):
    with Served.pools(local) as served:
        with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:
            yield Client(channel)


def head(**fields):
    known = {"name": "reports", "datatype": "FP64", "shape": [1, 3]}
    return {"model_name": "fraud", "inputs": [known | fields]}


def test_the_compiled_descriptors_are_those_of_the_proto_file(tmp_path):
    made = tmp_path / "inference.binpb"
    subprocess.run([ROOT / "scripts/protocol", made], check=True)
    known = FOLDER / "server/inference/inference.binpb"
    assert made.read_bytes() == known.read_bytes(), "run make protocol"


def test_only_one_module_knows_protobuf():
    names = ("google.protobuf", "_pb2 ", "_pb2\n")
    found = {
        path.name
        for path in FOLDER.rglob("*.py")
        if any(name in path.read_text() for name in names)
    }
    assert found == {"protobuf.py"}


@pytest.mark.parametrize(
    ("name", "fields", "status", "code"),
    [
        ("ModelMetadata", {"name": "none"}, Code.NOT_FOUND, "unknown"),
        ("ModelMetadata", {"name": "fraud", "version": "2"}, Code.NOT_FOUND, "unknown"),
        ("ModelMetadata", {}, Code.INVALID_ARGUMENT, "invalid"),
        ("ModelReady", {}, Code.INVALID_ARGUMENT, "invalid"),
        ("ModelInfer", head(), Code.INVALID_ARGUMENT, "invalid"),
        ("ModelInfer", head(shape=[-1, 3]), Code.INVALID_ARGUMENT, "invalid"),
        ("ModelInfer", head(shape=[10**12, 3]), Code.RESOURCE_EXHAUSTED, "too-large"),
        ("ModelInfer", head(datatype="FP65"), Code.INVALID_ARGUMENT, "invalid"),
        ("ModelInfer", head(datatype="FP16"), Code.INVALID_ARGUMENT, "invalid"),
        ("ModelInfer", head(contents={"fp64_contents": [0.1, 2.0, 0.3]}), Code.INVALID_ARGUMENT, "invalid"),
        ("ModelInfer", head() | {"raw_input_contents": [b"1", b"2"]}, Code.INVALID_ARGUMENT, "invalid"),
        ("ModelInfer", b"\x0a\xff", Code.INVALID_ARGUMENT, "invalid"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_one_sentence_with_a_status_and_a_code(
    client, name, fields, status, code
):
    found = client.refused(name, fields)
    assert found[:2] == (status, code), found


def test_every_code_has_a_status_in_both_protocols():
    assert set(STATUS) == set(http.STATUS)


def test_a_ledger_that_cannot_be_written_is_unavailable(client, local, monkeypatch):
    def fail(*_):
        raise LedgerError("the disk is full")

    monkeypatch.setattr(local.coordinator.operations, "find", fail)
    found = client.refused("ModelMetadata", {"name": "fraud"})
    assert found[:2] == (Code.UNAVAILABLE, "unavailable")


def test_every_call_is_in_the_metrics(client, local):
    client.call("ModelReady", {"name": "fraud"})
    client.refused("ModelMetadata", {"name": "none"})
    found = local.coordinator.metrics.to_text().decode()
    for name, status in (("ModelReady", "ok"), ("ModelMetadata", "unknown")):
        line = f'truepool_requests_total{{operation="gRPC {name}",status="{status}"}}'
        assert line in found


def test_an_unknown_method_is_unimplemented(client):
    with pytest.raises(grpc.RpcError) as caught:
        client.channel.unary_unary(f"/{SERVICE}/Nothing")(b"", timeout=30)
    assert caught.value.code() == Code.UNIMPLEMENTED


def test_health_and_reflection_need_no_token(client):
    stub = health_pb2_grpc.HealthStub(client.channel)
    for name in ("", SERVICE):
        asked = health_pb2.HealthCheckRequest(service=name)
        assert stub.Check(asked).status == protobuf.SERVING
    shown = ProtoReflectionDescriptorDatabase(client.channel)
    assert {SERVICE, "grpc.health.v1.Health"} <= set(shown.get_services())
    file = shown.FindFileContainingSymbol(f"{SERVICE}")
    assert [service.name for service in file.service] == ["GRPCInferenceService"]
    assert shown.FindFileContainingSymbol("grpc.health.v1.Health").service


def test_tls_and_client_certificates(local, certificate):
    key, cert = certificate
    root = cert.read_bytes()
    with Served.pools(local, Certificates(cert, key, cert)) as served:
        place = f"127.0.0.1:{served.port}"
        full = grpc.ssl_channel_credentials(root, key.read_bytes(), root)
        with grpc.secure_channel(place, full) as channel:
            assert Client(channel).call("ModelReady", {"name": "fraud"}).ready
        for credentials in (grpc.ssl_channel_credentials(root), None):
            channel = grpc.insecure_channel(place) if credentials is None else grpc.secure_channel(place, credentials)  # fmt: skip
            with channel:
                assert Client(channel).refused("ServerLive")[0] == Code.UNAVAILABLE
    assert Certificates.read(None, None, None) is None


def test_a_port_that_is_taken_is_refused(local):
    with Served.pools(local) as served:

        async def again():
            server = GrpcServer(PoolModels(local.coordinator))
            try:
                server.listen("127.0.0.1", served.port, None)
            finally:
                await server.server.stop(None)

        with pytest.raises(SettingError, match="Name another host or port"):
            run(again())


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_done_without_a_valid_token(tmp_path, name):
    with Local(tmp_path / "ledger.db") as local:
        good = local.issue("admin", None, None)["token"]
        with Served.pools(local) as served:
            with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:
                for token in (None, "tp_x_y", good[:-1] + "!"):
                    found = Client(channel, token).refused(name)
                    assert found[:2] == (Code.UNAUTHENTICATED, "unauthenticated")
                assert Client(channel, good).call("ModelReady", {"name": "fraud"}).ready


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(NAMES), st.binary(max_size=200))
def test_whatever_bytes_are_sent_nothing_breaks(client, name, content):
    answer_or_refusal(client, name, content)


def encoded(data, depth=3):
    """Bytes with the structure of a message: fields of any number, type and nesting."""
    content = b""
    for _ in range(data.draw(st.integers(0, 5))):
        number = data.draw(st.integers(1, 11))
        kind = data.draw(st.sampled_from([0, 1, 2, 2, 2, 5]))
        content += varint(number << 3 | kind)
        if kind == 0:
            content += varint(data.draw(st.integers(0, 2**64 - 1)))
        elif kind in (1, 5):
            content += data.draw(st.binary(min_size=8, max_size=8))[
                : 8 if kind == 1 else 4
            ]
        else:
            part = data.draw(
                st.sampled_from([b"fraud", b"ada", b"bob", b"c1", b"FP64", b""])
            )
            if depth and data.draw(st.booleans()):
                part = encoded(data, depth - 1)
            content += varint(len(part)) + part
    return content


def varint(number):
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(NAMES), st.data())
def test_whatever_message_is_sent_nothing_breaks(client, name, data):
    answer_or_refusal(client, name, encoded(data))


def answer_or_refusal(client, name, content):
    try:
        client.call(name, content)
    except grpc.RpcError as error:
        status, code, sentence = refusal(error)
    else:
        return
    assert STATUS.get(code) == status, sentence
