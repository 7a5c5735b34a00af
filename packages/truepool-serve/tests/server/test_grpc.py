"""The coordinator over gRPC: the same answers as over HTTP, whatever is sent."""

import subprocess
from pathlib import Path

import grpc
import numpy as np
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from server.grpc_service import Client, Served, refusal, run
from server.service import Local

from truepool.core.errors import LedgerError, SettingError
from truepool_serve.server import grpc_operations, http, wire
from truepool_serve.server.access import ADMIN, AGENT, MONITOR, OPERATOR, ROLES
from truepool_serve.server.grpc_server import (
    SERVICE,
    STATUS,
    Certificates,
    GrpcServer,
    services,
)

Code = grpc.StatusCode
ROOT = Path(__file__).parents[4]
POOL = {
    "name": "other",
    "agents": ["ada", "bob"],
    "labels": ["ok", "fraud"],
    "positive": "fraud",
    "costs": {"fn": "amount", "fp": 2.5, "tp": 0.0, "tn": -0.5, "currency": "EUR"},
    "threshold": 0.25,
    "learner": "hedge",
    "settings": {"rate": 2.0},
    "open_cases": 5,
}


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with Local(tmp_path_factory.mktemp("grpc") / "ledger.db") as found:
        yield found


@pytest.fixture(scope="module")
def client(local):
    with Served(lambda: services(local.coordinator)) as served:
        with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:
            yield Client(channel)


def batch(cases, agents, probabilities, pool="fraud"):
    return {
        "pool": pool, "cases": cases, "agents": agents, "probabilities": probabilities,
    }  # fmt: skip


def test_the_compiled_descriptors_are_those_of_the_proto_files(tmp_path):
    made = tmp_path / "descriptors.binpb"
    subprocess.run([ROOT / "scripts/protocol", made], check=True)
    folder = ROOT / "packages/truepool-serve/src/truepool_serve/server/protocol"
    assert made.read_bytes() == (folder / "descriptors.binpb").read_bytes(), (
        "run make protocol"
    )


def test_only_one_module_knows_protobuf():
    folder = ROOT / "packages/truepool-serve/src/truepool_serve"
    names = ("google.protobuf", "_pb2 ", "_pb2\n", "import wire_pb2")
    found = {
        path.name
        for path in folder.rglob("*.py")
        if any(name in path.read_text() for name in names)
    }
    assert found == {"wire.py"}


def test_a_case_in_four_calls(client):
    assert client.call("Report", batch(["c1", "c1"], ["ada", "bob"], [0.2, 0.4])) == {
        "batch": 1, "stored": 2, "repeated": 0,
    }  # fmt: skip
    found = client.call("Decide", {"pool": "fraud", "case": "c1"})
    assert found["probability"] == pytest.approx(0.3)
    assert found["decision"] == "fraud"
    assert found["weights"] == {"ada": 0.5, "bob": 0.5}
    assert found["contributions"]["ada"] == pytest.approx([-0.1])
    outcomes = [{"case": "c1", "outcome": "fraud"}]
    settle = {"pool": "fraud", "outcomes": outcomes}
    assert client.call("Settle", settle) == {"settled": 1, "repeated": 0}
    assert client.call("Settle", settle) == {"settled": 0, "repeated": 1}
    known = client.call("DescribeCase", {"pool": "fraud", "case": "c1"})
    assert known["outcome"] == "fraud"
    assert known["reports"] == {"ada": [0.2], "bob": [0.4]}
    assert known["decision"] == found


def test_both_protocols_describe_the_same_pool(local, client):
    over_http = TestClient(http.app(local.coordinator)).get("/v1/pools/fraud").json()
    found = client.call("DescribePool", {"pool": "fraud"})
    for name in ("agents", "rule", "entries", "weights"):
        assert found[name] == over_http[name]
    for name in ("labels", "positive", "costs", "learner", "open_cases"):
        assert found["pool"][name] == over_http[name]


def test_a_pool_is_deployed_with_all_its_fields(client):
    made = client.call("CreatePool", POOL)
    assert made == POOL
    assert client.call("CreatePool", POOL) == made
    assert "other" in client.call("ListPools")["pools"]
    assert client.refused("CreatePool", POOL | {"threshold": 0.5})[:2] == (
        Code.ALREADY_EXISTS, "conflict",
    )  # fmt: skip


def test_three_labels_that_are_numbers(client):
    labels = [1, 2, 7]
    pool = {"name": "triage", "agents": ["a", "b"], "labels": labels, "costs": {"matrix": [[0, 1, 1], [2, 0, 1], [4, 1, 0]]}}  # fmt: skip
    assert client.call("CreatePool", pool)["labels"] == labels
    sent = batch(["c", "c"], ["a", "b"], [0.2, 0.3, 0.5, 0.1, 0.2, 0.7], "triage")
    assert client.call("Report", sent)["stored"] == 2
    found = client.call("Decide", {"pool": "triage", "case": "c"})
    assert found["probabilities"] == pytest.approx({"1": 0.15, "2": 0.25, "7": 0.6})
    assert found["decision"] == 7
    assert "probability" not in found
    assert "threshold" not in found


def test_a_saved_pool_goes_as_bytes(client, tmp_path):
    import truepool as tp

    rng = np.random.default_rng(0)
    names = np.array(["ok", "fraud"])[np.arange(50) % 2]
    panel = tp.Panel(rng.random((50, 2)), names, ("ada", "bob"), positive="fraud")
    tp.VCG().fit_panel(panel).save(tmp_path / "f.pool")
    content = (tmp_path / "f.pool").read_bytes()
    pool = {name: POOL[name] for name in ("agents", "labels", "positive")}
    made = client.call("CreatePool", pool | {"name": "saved", "saved_pool": content})
    assert made["saved_pool"] == content
    rule = {"pool": "saved", "name": "again", "saved_pool": content}
    assert client.call("Challenge", rule)["challengers"] == ["again"]
    state = client.call("Promote", {"pool": "saved", "name": "again"})
    assert "no case with a known outcome" in state["warning"]


def test_a_stream_acknowledges_every_batch_and_goes_on_after_a_wrong_one(client):
    batches = [
        batch([f"s{i}", f"t{i}"], ["ada"], [i / 40, 0.5]) for i in range(40)
    ]  # more than wait at once
    batches[7] = batch(["x"], ["eve"], [0.5])
    batches[8] = b"\xff\xff"
    batches[9] = batch(["x"], ["ada"], [2.0])
    batches.append(batches[0])
    found = client.call("StreamReports", batches)
    assert [receipt["batch"] for receipt in found] == list(range(1, 42))
    wrong = {
        i: receipt["error"] for i, receipt in enumerate(found) if "error" in receipt
    }
    assert {i: error["code"] for i, error in wrong.items()} == dict.fromkeys(
        (7, 8, 9), "invalid"
    )
    assert "no agent is called 'eve'" in wrong[7]["message"]
    assert sum(receipt["stored"] for receipt in found) == 2 * 37
    assert found[-1]["repeated"] == 2
    assert (
        client.refused("DescribeCase", {"pool": "fraud", "case": "x"})[1] == "unknown"
    )


def test_a_stream_of_a_caller_who_is_gone_ends(local):
    with Served(lambda: services(local.coordinator)) as served:
        with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:
            method = wire.methods(SERVICE)["StreamReports"]
            content = method.request.pack(batch(["gone"], ["ada"], [0.5]))

            def endless():
                while True:
                    yield content

            answers = channel.stream_stream(f"/{SERVICE}/StreamReports")(endless())
            assert method.answer.unpack(next(answers))["stored"] == 1
            answers.cancel()
            client = Client(channel)
            known = client.call("DescribeCase", {"pool": "fraud", "case": "gone"})
            assert known["reports"] == {"ada": [0.5]}


@pytest.mark.parametrize(
    ("name", "values", "status", "code"),
    [
        ("DescribePool", {"pool": "none"}, Code.NOT_FOUND, "unknown"),
        ("DescribePool", {}, Code.INVALID_ARGUMENT, "invalid"),
        ("CreatePool", {"name": "n"}, Code.INVALID_ARGUMENT, "invalid"),
        ("CreatePool", POOL | {"name": "n", "learner": "no"}, Code.INVALID_ARGUMENT, "invalid"),
        ("CreatePool", POOL | {"name": "n", "settings": {"rate": "x"}}, Code.INVALID_ARGUMENT, "invalid"),
        ("Decide", {"pool": "fraud", "case": "none"}, Code.NOT_FOUND, "unknown"),
        ("Settle", {"pool": "fraud", "outcomes": [{"case": "x"}]}, Code.INVALID_ARGUMENT, "invalid"),
        ("Report", batch(["a", "b"], ["ada"], [0.1]), Code.INVALID_ARGUMENT, "invalid"),
        ("Report", batch(["a", "b"], ["ada"] * 3, [0.1] * 2), Code.INVALID_ARGUMENT, "invalid"),
        ("Report", batch(["a"], [], [0.1]), Code.INVALID_ARGUMENT, "invalid"),
        ("Report", batch(["a"], ["ada"], []), Code.INVALID_ARGUMENT, "invalid"),
        ("Report", batch([], [], [0.5]), Code.INVALID_ARGUMENT, "invalid"),
        ("Report", batch(["a"], ["ada"], [float("nan")]), Code.INVALID_ARGUMENT, "invalid"),
        ("Report", b"\x0a\xff", Code.INVALID_ARGUMENT, "invalid"),
        ("ExportPanel", {"pool": "none"}, Code.NOT_FOUND, "unknown"),
        ("ExportPanel", {"pool": "fraud", "last": -1}, Code.INVALID_ARGUMENT, "invalid"),
        ("Promote", {"pool": "fraud", "name": "none"}, Code.INVALID_ARGUMENT, "invalid"),
        ("RevokeToken", {"id": "none"}, Code.NOT_FOUND, "unknown"),
        ("IssueToken", {"role": "root"}, Code.INVALID_ARGUMENT, "invalid"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_one_sentence_with_a_status_and_a_code(
    client, name, values, status, code
):
    found = client.refused(name, values)
    assert found[:2] == (status, code), found


def test_an_empty_batch_stores_nothing(client):
    assert client.call("Report", batch([], [], [])) == {
        "batch": 1, "stored": 0, "repeated": 0,
    }  # fmt: skip


def test_every_code_has_a_status_in_both_protocols():
    assert set(STATUS) == set(http.STATUS)


def test_the_page_about_grpc_names_the_status_of_every_code():
    page = ROOT.joinpath("docs/grpc.md").read_text()
    rows = {f"| `{code}` | {status.name} |" for code, status in STATUS.items()}
    assert rows <= set(page.splitlines())


def test_a_long_batch_is_refused(client, monkeypatch):
    monkeypatch.setattr(grpc_operations, "LONGEST_BATCH", 1)
    found = client.refused("Report", batch(["a", "b"], ["ada"], [0.1, 0.2]))
    assert found[:2] == (Code.RESOURCE_EXHAUSTED, "too-large")


def test_a_ledger_that_cannot_be_written_is_unavailable(client, local, monkeypatch):
    def fail(*_):
        raise LedgerError("the disk is full")

    monkeypatch.setattr(local.coordinator.operations, "submit", fail)
    found = client.refused("Report", batch(["a"], ["ada"], [0.1]))
    assert found[:2] == (Code.UNAVAILABLE, "unavailable")
    receipts = client.call("StreamReports", [batch(["a"], ["ada"], [0.1])])
    assert receipts[0]["error"]["code"] == "unavailable"


def test_an_unknown_method_is_unimplemented(client):
    with pytest.raises(grpc.RpcError) as caught:
        client.channel.unary_unary(f"/{SERVICE}/Nothing")(b"", timeout=30)
    assert caught.value.code() == Code.UNIMPLEMENTED


def test_an_export_comes_in_parts_that_make_a_table(tmp_path, monkeypatch):
    with Local(tmp_path / "ledger.db") as local:
        local.fill(30, np.random.default_rng(0))
        monkeypatch.setattr("truepool_serve.server.grpc_server.CHUNK", 1000)
        with Served(lambda: services(local.coordinator)) as served:
            with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:
                parts = Client(channel).call(
                    "ExportPanel", {"pool": "fraud", "last": 20}
                )
    assert len(parts) > 1
    path = tmp_path / "panel.parquet"
    path.write_bytes(b"".join(part["content"] for part in parts))
    assert pq.read_table(path).num_rows == 20


def test_health_and_reflection_need_no_token(client):
    stub = health_pb2_grpc.HealthStub(client.channel)
    for name in ("", SERVICE):
        asked = health_pb2.HealthCheckRequest(service=name)
        assert stub.Check(asked).status == wire.SERVING
    shown = ProtoReflectionDescriptorDatabase(client.channel)
    assert {SERVICE, "grpc.health.v1.Health"} <= set(shown.get_services())
    file = shown.FindFileContainingSymbol(f"{SERVICE}")
    assert [service.name for service in file.service] == ["Coordinator"]
    assert shown.FindFileContainingSymbol("grpc.health.v1.Health").service


def test_tls_and_client_certificates(local, certificate):
    key, cert = certificate
    root = cert.read_bytes()
    made = Certificates(cert, key, cert)
    with Served(lambda: services(local.coordinator), made) as served:
        place = f"127.0.0.1:{served.port}"
        full = grpc.ssl_channel_credentials(root, key.read_bytes(), root)
        with grpc.secure_channel(place, full) as channel:
            assert Client(channel).call("DescribePool", {"pool": "fraud"})["agents"]
        for credentials in (grpc.ssl_channel_credentials(root), None):
            channel = grpc.insecure_channel(place) if credentials is None else grpc.secure_channel(place, credentials)  # fmt: skip
            with channel:
                assert Client(channel).refused("ListPools")[0] == Code.UNAVAILABLE
    assert Certificates.read(None, None, None) is None


def test_a_port_that_is_taken_is_refused(local):
    with Served(lambda: services(local.coordinator)) as served:

        async def again():
            server = GrpcServer({})
            try:
                server.listen("127.0.0.1", served.port, None)
            finally:
                await server.server.stop(None)

        with pytest.raises(SettingError, match="Name another host or port"):
            run(again())


CALLS = {
    "CreatePool": (POOL, {ADMIN}),
    "ListPools": ({}, {OPERATOR, ADMIN}),
    "DescribePool": ({"pool": "fraud"}, {OPERATOR, ADMIN}),
    "Join": ({"pool": "fraud", "agent": "dan"}, {ADMIN}),
    "Leave": ({"pool": "fraud", "agent": "cyd"}, {ADMIN}),
    "SetEndpoint": (
        {"pool": "fraud", "agent": "ada", "endpoint": {"protocol": "mlflow", "url": "http://127.0.0.1:9"}},
        {ADMIN},
    ),
    "Predict": ({"pool": "fraud", "case": "open", "features": {"x": 1}}, {OPERATOR, ADMIN}),
    "Report": (batch(["new"], ["ada"], [0.2]), {AGENT, ADMIN}),
    "StreamReports": ([batch(["new"], ["ada"], [0.2])], {AGENT, ADMIN}),
    "Decide": ({"pool": "fraud", "case": "open"}, {OPERATOR, ADMIN}),
    "Settle": (
        {"pool": "fraud", "outcomes": [{"case": "done", "outcome": "ok"}]}, {OPERATOR, ADMIN},
    ),
    "DescribeCase": ({"pool": "fraud", "case": "open"}, {AGENT, OPERATOR, ADMIN}),
    "Erase": ({"pool": "fraud", "case": "open"}, {ADMIN}),
    "ExportPanel": ({"pool": "fraud"}, {OPERATOR, ADMIN}),
    "Audit": ({"pool": "fraud"}, {OPERATOR, ADMIN}),
    "Challenge": ({"pool": "fraud", "name": "new", "learner": "hedge"}, {ADMIN}),
    "CompareChallengers": ({"pool": "fraud"}, {OPERATOR, ADMIN}),
    "Promote": ({"pool": "fraud", "name": "shadow"}, {ADMIN}),
    "Withdraw": ({"pool": "fraud", "name": "shadow"}, {ADMIN}),
    "IssueToken": ({"role": "operator"}, {ADMIN}),
    "RevokeToken": ({"id": "spare"}, {ADMIN}),
}  # fmt: skip
"""Values, and the roles that may."""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A ledger with tokens; each test has a coordinator of its own on a copy of it."""
    place = tmp_path_factory.mktemp("guarded") / "ledger.db"
    with Local(place) as local:
        for case in ("open", "done"):
            local.report("fraud", [(case, "ada", 0.2), (case, "bob", 0.3)])
        local.change(
            "fraud", "challenge", {"name": "shadow", "rule": {"learner": "hedge"}}
        )
        local.decide("fraud", "done", None)
        local.fill(12, np.random.default_rng(0))
        made = {ADMIN: local.issue(ADMIN, None, None)}
        made[OPERATOR] = local.issue(OPERATOR, None, None)
        made[AGENT] = local.issue(AGENT, "fraud", "ada")
        made[MONITOR] = local.issue(MONITOR, None, None)
        made["spare"] = local.issue(OPERATOR, None, None)
    return place.read_bytes(), made


@pytest.fixture
def calls(guarded, tmp_path):
    content, made = guarded
    place = tmp_path / "ledger.db"
    place.write_bytes(content)
    with Local(place, None) as local:
        with Served(lambda: services(local.coordinator)) as served:
            with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:

                def ask(name, token):
                    values = CALLS[name][0]
                    if name == "RevokeToken":
                        values = {"id": made["spare"]["id"]}
                    return Client(channel, token), values

                yield ask, made


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", CALLS)
def test_a_role_may_do_what_it_may_and_nothing_else(calls, name, role):
    ask, made = calls
    client, values = ask(name, made[role]["token"])
    if role in CALLS[name][1]:
        found = client.call(name, values)
        if name == "StreamReports":
            assert "error" not in found[0]
    elif name == "StreamReports":
        (receipt,) = client.call(name, values)
        assert receipt["error"]["code"] == "forbidden"
    else:
        assert client.refused(name, values)[:2] == (Code.PERMISSION_DENIED, "forbidden")


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_done_without_a_valid_token(calls, name):
    ask, made = calls
    good = made[ADMIN]["token"]
    for token in (None, "tp_x_y", good[:-1] + "!"):
        client, values = ask(name, token)
        found = client.refused(name, values)
        assert found[:2] == (Code.UNAUTHENTICATED, "unauthenticated")


def test_every_method_is_in_this_table():
    assert set(CALLS) == set(wire.methods(SERVICE))


def test_a_token_that_is_revoked_ends_its_stream(calls):
    ask, made = calls
    client, _ = ask("StreamReports", made[AGENT]["token"])
    admin, _ = ask("RevokeToken", made[ADMIN]["token"])
    content = wire.methods(SERVICE)["StreamReports"].request.pack(
        batch(["new"], ["ada"], [0.2])
    )

    def send():
        yield content
        admin.call("RevokeToken", {"id": made[AGENT]["id"]})
        yield content

    path = f"/{SERVICE}/StreamReports"
    answers = client.channel.stream_stream(path)(send(), metadata=client.metadata)
    next(answers)
    with pytest.raises(grpc.RpcError) as caught:
        next(answers)
    assert caught.value.code() == Code.UNAUTHENTICATED


NAMES = sorted(set(CALLS) - {"Audit", "IssueToken", "StreamReports", "ExportPanel"})


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
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
                st.sampled_from([b"fraud", b"ada", b"bob", b"c1", b"hedge", b""])
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
