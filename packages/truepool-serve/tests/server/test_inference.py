"""Pools and agents as models of the Open Inference Protocol, over HTTP and gRPC."""

import gzip
import json
import zlib

import grpc
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from server.grpc_service import Client, Served
from server.service import FRAUD, Local
from starlette.testclient import TestClient

from truepool import agents
from truepool.core.errors import RequestError
from truepool_serve.server import http
from truepool_serve.server.access import ADMIN, AGENT, MONITOR, OPERATOR, ROLES
from truepool_serve.server.inference import pool_models, protobuf, rest, tensors
from truepool_serve.server.inference.agent_models import AgentModel
from truepool_serve.server.inference.models import Inference
from truepool_serve.server.inference.tensors import Tensor

INFER = "/v2/models/fraud/infer"
REPORTS = np.array([[0.2, 0.4, np.nan], [0.01, 0.02, 0.03]])
EXPECTED = {"probability": [pytest.approx(0.3), pytest.approx(0.02)], "decision": ["fraud", "ok"]}  # fmt: skip


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with Local(tmp_path_factory.mktemp("oip") / "ledger.db") as found:
        yield found


@pytest.fixture(scope="module")
def client(local):
    return TestClient(http.app(local.coordinator), raise_server_exceptions=False)


@pytest.fixture(scope="module")
def remote(local):
    with Served.pools(local) as served:
        with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:
            yield Client(channel)


def tensor(name, values, datatype="FP64"):
    values = np.asarray(values)
    data = [None if v != v else v for v in values.ravel().tolist()]
    return {"name": name, "datatype": datatype, "shape": list(values.shape), "data": data}  # fmt: skip


def outputs(answer):
    assert answer.status_code == 200, answer.text
    return {o["name"]: o["data"] for o in answer.json()["outputs"]}


def test_a_pool_is_a_model(client):
    assert client.get("/v2").json()["name"] == "truepool"
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").json() == {"ready": True}
    known = client.get("/v2/models/fraud").json()
    assert known["inputs"] == [
        {"name": "reports", "datatype": "FP64", "shape": [-1, 3]}
    ]
    assert [o["name"] for o in known["outputs"]] == ["probability", "decision"]
    for path in ("/v2/models/fraud/ready", "/v2/models/fraud/versions/1/ready"):
        assert client.get(path).json() == {"name": "fraud", "ready": True}
    body = {"id": "42", "inputs": [tensor("reports", REPORTS)]}
    answer = client.post(INFER, json=body)
    assert outputs(answer) == EXPECTED
    assert answer.json()["id"] == "42"
    assert (
        client.post("/v2/models/fraud/versions/1/infer", json=body).json()
        == answer.json()
    )


def test_one_tensor_per_agent_is_the_same(client):
    body = {"inputs": [tensor("bob", REPORTS[:, 1:2]), tensor("ada", REPORTS[:, 0]), tensor("cyd", REPORTS[:, 2])]}  # fmt: skip
    assert outputs(client.post(INFER, json=body)) == EXPECTED


def test_only_the_outputs_that_are_wanted_are_sent(client):
    body = {"inputs": [tensor("reports", REPORTS)], "outputs": [{"name": "decision"}]}
    assert outputs(client.post(INFER, json=body)) == {"decision": ["fraud", "ok"]}


@pytest.mark.parametrize("kind", ["FP64", "FP32"])
def test_tensors_may_be_raw_bytes_both_ways(client, kind):
    content = REPORTS.astype(tensors.TYPES[kind]).tobytes()
    head = {"name": "reports", "datatype": kind, "shape": [2, 3], "parameters": {"binary_data_size": len(content)}}  # fmt: skip
    body = {"inputs": [head], "parameters": {"binary_data_output": True}}
    start = json.dumps(body).encode()
    answer = client.post(
        INFER, content=start + content, headers={rest.HEADER: str(len(start))}
    )
    cut = int(answer.headers[rest.HEADER])
    known = json.loads(answer.content[:cut])["outputs"]
    place, found = cut, {}
    for output in known:
        size = output["parameters"]["binary_data_size"]
        raw = answer.content[place : place + size]
        values = Tensor.unpack(output["name"], output["datatype"], output["shape"], raw)
        found[output["name"]] = values.values.tolist()
        place += size
    assert place == len(answer.content)
    assert found == EXPECTED


def test_bodies_may_be_compressed_both_ways(client):
    many = np.tile(REPORTS, (200, 1))
    body = json.dumps({"inputs": [tensor("reports", many)]}).encode()
    for name, small in (
        ("gzip", gzip.compress(body)),
        ("deflate", zlib.compress(body)),
    ):
        headers = {"content-encoding": name, "accept-encoding": "gzip"}
        answer = client.post(INFER, content=small, headers=headers)
        assert answer.headers["content-encoding"] == "gzip"
        assert outputs(answer)["decision"][:2] == ["fraud", "ok"]
    plain = client.post(INFER, content=body, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers


def test_a_small_body_that_is_huge_inside_is_refused(client, monkeypatch):
    monkeypatch.setattr(rest, "LARGEST_BODY", 1000)
    content = gzip.compress(b" " * 100_000)
    answer = client.post(INFER, content=content, headers={"content-encoding": "gzip"})
    assert answer.status_code == 413


def test_grpc_takes_raw_and_typed_contents(remote):
    assert remote.call("ServerLive").live
    assert remote.call("ServerReady").ready
    assert remote.call("ServerMetadata").name == "truepool"
    assert remote.call("ModelReady", {"name": "fraud"}).ready
    assert not remote.call("ModelReady", {"name": "none"}).ready
    known = remote.call("ModelMetadata", {"name": "fraud"})
    assert list(known.inputs[0].shape) == [-1, 3]
    asked = [Tensor.from_array("reports", REPORTS)]
    raw = {"model_name": "fraud", "id": "7", "tensors": asked}
    found = remote.call("ModelInfer", raw)
    assert (found.model_name, found.id) == ("fraud", "7")
    head = {"name": "reports", "datatype": "FP64", "shape": [2, 3], "contents": {"fp64_contents": REPORTS.ravel().tolist()}}  # fmt: skip
    typed = remote.call("ModelInfer", {"model_name": "fraud", "inputs": [head]})
    for answer in (found, typed):
        outputs_ = protobuf.tensors(answer.outputs, answer.raw_output_contents)
        assert {n: t.values.tolist() for n, t in outputs_.items()} == EXPECTED


def test_named_cases_are_recorded_and_can_be_settled(local, client):
    names = tensor("case", np.array(["n1", "n2"], object), "BYTES")
    body = {"inputs": [tensor("reports", REPORTS), names]}
    assert outputs(client.post(INFER, json=body)) == EXPECTED
    assert outputs(client.post(INFER, json=body)) == EXPECTED
    known = local.case("fraud", "n1")
    assert known["reports"] == {"ada": 0.2, "bob": 0.4}
    assert known["decision"]["decision"] == "fraud"
    assert local.settle("fraud", [("n1", "fraud"), ("n2", "ok")])["settled"] == 2
    other = body | {"inputs": [tensor("reports", REPORTS / 2), names]}
    assert client.post(INFER, json=other).status_code == 409


def test_without_names_nothing_is_recorded(local, client):
    before = local.describe("fraud")["entries"]
    client.post(INFER, json={"inputs": [tensor("reports", REPORTS)]})
    assert local.describe("fraud")["entries"] == before


def test_what_the_costs_depend_on_is_an_input(local, client):
    local.create(FRAUD | {"name": "amounts", "costs": {"fn": "amount", "fp": 5}})
    path = "/v2/models/amounts/infer"
    body = {"inputs": [tensor("ada", [0.1, 0.1]), tensor("amount", [100.0, 10.0])]}
    assert outputs(client.post(path, json=body))["decision"] == ["fraud", "ok"]
    answer = client.post(path, json={"inputs": body["inputs"][:1]})
    assert (answer.status_code, "depend on 'amount'" in answer.json()["error"]) == (
        400,
        True,
    )
    short = [body["inputs"][0], tensor("amount", [1.0])]
    assert client.post(path, json={"inputs": short}).status_code == 400


def test_three_labels(local, client):
    local.create({"name": "triage", "agents": ["a", "b"], "labels": [0, 1, 2]})
    path = "/v2/models/triage/infer"
    values = np.array([[[0.2, 0.3, 0.5], [0.1, 0.2, 0.7]]])
    known = client.get("/v2/models/triage").json()
    assert known["inputs"][0]["shape"] == [-1, 2, 3]
    assert known["outputs"][1]["datatype"] == "INT64"
    found = outputs(client.post(path, json={"inputs": [tensor("reports", values)]}))
    assert found["probabilities"] == pytest.approx([0.15, 0.25, 0.6])
    assert found["decision"] == [2]
    alone = outputs(client.post(path, json={"inputs": [tensor("a", values[:, 0])]}))
    assert alone["probabilities"] == pytest.approx([0.2, 0.3, 0.5])


def one(**fields):
    return {"inputs": [tensor("reports", REPORTS) | fields]}


WRONG = {
    "no JSON": b"{",
    "no inputs": {"inputs": []},
    "no input of ours": {"inputs": [tensor("eve", [0.1])]},
    "another input": {"inputs": [tensor("reports", REPORTS), tensor("eve", [0.1])]},
    "another width": {"inputs": [tensor("reports", REPORTS[:, :2])]},
    "another length": one(shape=[3, 3]),
    "a negative length": one(shape=[-2, -3]),
    "many axes": one(shape=[1] * 9),
    "another datatype": one(datatype="BF16"),
    "text for numbers": one(data=["x"] * 6),
    "a number in quotes": one(data=["0.3"] * 6),
    "true for a probability": one(data=[True, 0.1, 0.2, 0.1, 0.1, 0.2]),
    "true and false": one(datatype="BOOL", data=[True] * 6),
    "true and false of an agent": {"inputs": [tensor("ada", [True], "BOOL")]},
    "fractions for whole numbers": one(datatype="INT64", data=[0.7] * 6),
    "numbers for true and false": one(datatype="BOOL", data=[0.7] * 6),
    "a number out of range": one(datatype="INT8", data=[1000] * 6),
    "text": one(datatype="BYTES", data=["x"] * 6),
    "numbers for text": {"inputs": [tensor("case", [1, 2], "BYTES")]},
    "no probability": {"inputs": [tensor("ada", [2.0])]},
    "no report": {"inputs": [tensor("ada", [np.nan])]},
    "uneven": {"inputs": [tensor("ada", [0.1]), tensor("bob", [0.1, 0.2])]},
    "twice": {"inputs": [tensor("ada", [0.1]), tensor("ada", [0.1])]},
    "a table for an agent": {"inputs": [tensor("ada", [[0.1, 0.2]])]},
    "two cases of one name": {
        "inputs": [tensor("reports", REPORTS), tensor("case", np.array(["a", "a"], object), "BYTES")]
    },
    "no such output": one() | {"outputs": [{"name": "logits"}]},
    "bytes that are not there": one(parameters={"binary_data_size": 10}),
    "bytes of no length": one(parameters={"binary_data_size": "x"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_request_is_one_sentence(client, name):
    body = WRONG[name] if isinstance(WRONG[name], bytes) else json.dumps(WRONG[name])
    answer = client.post(INFER, content=body)
    assert answer.status_code == 400, answer.text
    assert "\n" not in answer.json()["error"]


def test_bytes_after_the_json_must_belong_to_tensors(client):
    start = json.dumps(one()).encode()
    for length, extra in ((str(len(start)), b"x"), ("-1", b""), ("9" * 30, b"")):
        answer = client.post(
            INFER, content=start + extra, headers={rest.HEADER: length}
        )
        assert answer.status_code == 400
    for encoding in ("br", "gzip"):
        answer = client.post(
            INFER, content=start, headers={"content-encoding": encoding}
        )
        assert answer.status_code == 400


def test_limits(client, monkeypatch):
    monkeypatch.setattr(pool_models, "MOST_CASES", 1)
    assert client.post(INFER, json=one()).status_code == 413
    two = {"inputs": [tensor("ada", [0.1, 0.2])]}
    assert client.post(INFER, json=two).status_code == 413
    monkeypatch.setattr(tensors, "MOST_ELEMENTS", 1)
    assert client.post(INFER, json=one()).status_code == 413


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v2/models/none", 404),
        ("GET", "/v2/models/none/ready", 404),
        ("GET", "/v2/models/fraud/versions/2", 404),
        ("POST", "/v2/models/fraud/versions/2/infer", 404),
        ("POST", "/v2/models/none/infer", 404),
        ("GET", "/v2/nothing", 404),
        ("GET", "/v2/models/fraud/infer", 405),
        ("POST", "/v2", 405),
    ],
)
def test_what_is_not_there_is_an_error_of_the_protocol(client, method, path, status):
    content = json.dumps(one()) if method == "POST" else None
    answer = client.request(method, path, content=content)
    assert answer.status_code == status
    assert isinstance(answer.json()["error"], str)


def test_an_unavailable_ledger_is_not_ready(client, local, monkeypatch):
    from truepool.core.errors import LedgerError

    def fail(*_):
        raise LedgerError("the disk is full")

    monkeypatch.setattr("truepool_serve.server.coordinator.PROBE_EVERY", 0.0)
    monkeypatch.setattr(local.coordinator.writer, "submit", fail)
    assert client.get("/v2/health/ready").status_code == 503


@pytest.fixture
def guarded(tmp_path):
    with Local(tmp_path / "ledger.db") as local:
        made = {ADMIN: local.issue(ADMIN, None, None)["token"]}
        made[OPERATOR] = local.issue(OPERATOR, None, None)["token"]
        made[AGENT] = local.issue(AGENT, "fraud", "ada")["token"]
        made[MONITOR] = local.issue(MONITOR, None, None)["token"]
        yield local, made


NAMED = {"inputs": [*one()["inputs"], tensor("case", np.array(["a", "b"], object), "BYTES")]}  # fmt: skip
OPERATIONS = {
    "describe": ("GET", "/v2/models/fraud", None, {OPERATOR, ADMIN}),
    "ready": ("GET", "/v2/models/fraud/ready", None, {OPERATOR, ADMIN}),
    "score": ("POST", INFER, one(), {OPERATOR, ADMIN}),
    "record": ("POST", INFER, NAMED, {ADMIN}),
}


@pytest.mark.parametrize("role", [None, *ROLES])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_role_may_do_what_it_may_and_nothing_else(guarded, name, role):
    local, made = guarded
    method, path, content, may = OPERATIONS[name]
    headers = {} if role is None else {"Authorization": f"Bearer {made[role]}"}
    client = TestClient(http.app(local.coordinator))
    answer = client.request(method, path, json=content, headers=headers)
    assert answer.status_code == (200 if role in may else 401 if role is None else 403)
    with Served.pools(local) as served:
        with grpc.insecure_channel(f"127.0.0.1:{served.port}") as channel:
            remote = Client(channel, role and made[role])
            assert remote.call("ServerReady").ready
            call = {"describe": "ModelMetadata", "ready": "ModelReady"}.get(
                name, "ModelInfer"
            )
            values = {"name": "fraud"}
            if call == "ModelInfer":
                heads = content["inputs"]
                asked = [
                    Tensor.read(h["name"], h["datatype"], h["shape"], h["data"])
                    for h in heads
                ]
                values = {"model_name": "fraud", "tensors": asked}
            if role in may:
                assert remote.call(call, values)
            else:
                code = remote.refused(call, values)[1]
                assert code == ("unauthenticated" if role is None else "forbidden")


# agents


@pytest.fixture(scope="module")
def trained():
    rng = np.random.default_rng(0)
    flag = rng.choice(["SF", "REJ"], 300)
    X = pa.table({"size": rng.normal(size=300), "flag": flag})
    y = np.where((X["size"].to_numpy() + (flag == "SF") + rng.normal(size=300)) > 0.5, "attack", "normal")  # fmt: skip
    agent = agents.train(X, y, ["logistic"], positive="attack", cache=False)["logistic"]
    return agent, X


@pytest.mark.parametrize("exported", [False, True])
def test_an_agent_is_a_model_that_reports_as_it_does(trained, tmp_path, exported):
    agent, X = trained
    if exported:
        pytest.importorskip("skl2onnx", reason="needs truepool[onnx]")
        agents.export(agent, tmp_path / "clf.onnx", X)
        agent = agents.load(tmp_path / "clf.onnx")
    client = TestClient(rest.app(AgentModel(agent, "clf")))
    known = client.get("/v2/models/clf").json()
    assert {i["name"]: i["datatype"] for i in known["inputs"]} == {"size": "FP64", "flag": "BYTES"}  # fmt: skip
    flags = np.array(X["flag"].to_pylist(), object)
    body = {
        "inputs": [tensor("size", X["size"].to_numpy()), tensor("flag", flags, "BYTES")]
    }
    found = outputs(client.post("/v2/models/clf/infer", json=body))
    expected = agent.predict_proba(X)
    np.testing.assert_array_equal(np.reshape(found["probabilities"], (-1, 2)), expected)
    positive = list(agent.classes_).index("attack")
    assert found["probability"] == expected[:, positive].tolist()
    table = np.array([[0.5, "SF"], [1.5, "REJ"]], object)
    assert client.post("/v2/models/clf/infer", json={"inputs": [tensor("x", table, "BYTES")]}).status_code == 400  # fmt: skip


def test_features_that_are_all_numbers_come_as_one_tensor(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = (X.sum(axis=1) + rng.normal(size=200) > 0).astype(int)
    for rows in (X, pa.table({f"f{j}": X[:, j] for j in range(3)})):
        agent = agents.train(rows, y, ["logistic"], cache=False)["logistic"]
        client = TestClient(rest.app(AgentModel(agent, "clf")))
        assert client.get("/v2/models/clf").json()["inputs"]
        found = outputs(
            client.post("/v2/models/clf/infer", json={"inputs": [tensor("x", X)]})
        )
        np.testing.assert_array_equal(
            np.reshape(found["probabilities"], (-1, 2)), agent.predict_proba(rows)
        )
        wrong = client.post(
            "/v2/models/clf/infer", json={"inputs": [tensor("x", X[:, :2])]}
        )
        assert wrong.status_code == 400


def test_a_graph_from_elsewhere_says_how_wide_it_is():
    pytest.importorskip("onnxruntime", reason="needs truepool[onnx]")
    onnx = pytest.importorskip("onnx", reason="needs truepool[onnx]")
    TensorProto, helper = onnx.TensorProto, onnx.helper

    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", w]) for n, w in (("x", 3), ("p", 3))]  # fmt: skip
    node = helper.make_node("Softmax", ["x"], ["p"], axis=1)
    graph = helper.make_graph([node], "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
    model.ir_version = 8
    agent = agents.OnnxAgent(model.SerializeToString())
    client = TestClient(rest.app(AgentModel(agent, "soft")))
    known = client.get("/v2/models/soft").json()
    assert known["inputs"][0]["shape"] == [-1, 3]
    assert [o["name"] for o in known["outputs"]] == ["probabilities"]
    found = outputs(
        client.post(
            "/v2/models/soft/infer", json={"inputs": [tensor("x", [[0.0, 0, 0]])]}
        )
    )
    assert found["probabilities"] == pytest.approx([1 / 3] * 3)
    assert client.post("/v2/models/soft/infer", json={"inputs": []}).status_code == 400
    assert client.get("/v2/models/other").status_code == 404
    assert client.get("/v2/health/ready").json() == {"ready": True}


def test_a_model_that_fails_is_a_sentence():
    class Broken:
        classes_, positive, encoder, width = [0, 1], 1, None, None

        def predict_proba(self, X):
            raise ZeroDivisionError

    client = TestClient(rest.app(AgentModel(Broken(), "m")))
    assert client.get("/v2/models/m").json()["inputs"][0]["shape"] == [-1, -1]
    answer = client.post("/v2/models/m/infer", json={"inputs": [tensor("x", [[0.0]])]})
    assert (answer.status_code, "ZeroDivisionError" in answer.text) == (400, True)


def test_a_model_may_need_a_token(trained):
    client = TestClient(rest.app(AgentModel(trained[0], "clf", "secret")))
    assert client.get("/v2/models/clf").status_code == 401
    for word, status in (("secret", 200), ("secre", 401), ("sécret", 401)):
        headers = {"Authorization": f"Bearer {word}".encode()}
        assert client.get("/v2/models/clf", headers=headers).status_code == status


# tensors

KINDS = [kind for kind in tensors.TYPES if kind != "BYTES"]


@settings(deadline=None)
@given(st.sampled_from(KINDS), hnp.array_shapes(max_dims=3, max_side=4), st.data())
def test_numbers_survive_both_ways_of_writing_them(kind, shape, data):
    values = data.draw(hnp.arrays(tensors.TYPES[kind], shape))
    found = Tensor.from_array("x", values)
    assert found.datatype == kind
    np.testing.assert_array_equal(
        Tensor.unpack("x", kind, shape, found.pack()).values, values
    )
    if not kind.startswith("FP") or np.isfinite(values).all():
        again = Tensor.read("x", kind, shape, found.to_list())
        np.testing.assert_array_equal(again.values, values)


@settings(deadline=None)
@given(st.lists(st.text(max_size=5), max_size=5))
def test_text_survives_both_ways_of_writing_it(texts):
    texts = [t.encode("utf-8", "replace").decode() for t in texts]
    values = np.empty(len(texts), object)
    values[:] = texts
    found = Tensor.from_array("x", values)
    for again in (
        Tensor.unpack("x", "BYTES", [len(texts)], found.pack()),
        Tensor.read("x", "BYTES", [len(texts)], found.to_list()),
    ):
        assert again.values.tolist() == texts


def test_nested_lists_and_single_elements_are_tensors():
    assert Tensor.read("x", "FP64", [2, 2], [[1, 2], [3, None]]).to_list() == [
        1,
        2,
        3,
        None,
    ]
    assert Tensor.read("x", "INT64", [1], 5).shape == [1]


def test_raw_bytes_must_have_their_length():
    for kind, content in (
        ("FP64", b"x"),
        ("BYTES", b"\x01\x00\x00\x00"),
        ("BYTES", b""),
    ):
        with pytest.raises(RequestError, match="tensor 'x' must have"):
            Tensor.unpack("x", kind, [1], content)
    with pytest.raises(RequestError, match="as many raw contents"):
        protobuf.tensors([], [b""])
    request, _ = protobuf.methods()["ModelInfer"]
    two = request(inputs=[{"name": "x", "datatype": "FP64", "shape": [0]}] * 2)
    with pytest.raises(RequestError, match="given twice"):
        protobuf.tensors(two.inputs, [])


def test_an_inference_names_its_outputs():
    with pytest.raises(RequestError, match="has no output 'p'; known: q"):
        Inference("m", {}, ("p",)).chosen([Tensor.from_array("q", [1.0])])


# whatever is sent

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.sampled_from(["reports", "ada", "case", "FP64", "BYTES", "INT8"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["name", "shape", "data", "datatype", "parameters", "inputs", "binary_data_size"]), inner),
    max_leaves=8,
)  # fmt: skip
INPUT = st.fixed_dictionaries(
    {"name": st.sampled_from(["reports", "ada", "bob", "case", "x"]), "datatype": st.sampled_from([*tensors.TYPES, "X"]),
     "shape": st.lists(st.integers(-1, 3), max_size=3)},
    optional={"data": JSON, "parameters": st.dictionaries(st.just("binary_data_size"), JSON)},
)  # fmt: skip
FEW = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


@FEW
@given(st.fixed_dictionaries({"inputs": st.lists(INPUT, max_size=3) | JSON}, optional={"outputs": JSON, "parameters": JSON, "id": JSON}), st.binary(max_size=30))  # fmt: skip
def test_whatever_json_is_sent_nothing_breaks(client, body, raw):
    start = json.dumps(body).encode()
    headers = {rest.HEADER: str(len(start))}
    answer = client.post(INFER, content=start + raw, headers=headers)
    assert answer.status_code < 500, (body, answer.text)
