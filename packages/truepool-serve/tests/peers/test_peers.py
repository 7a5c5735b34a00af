"""The real MLServer, MLflow and Triton client, each in an environment of its own.

`make test-peers` runs them; `make test` does not, for they install half a gigabyte.
"""

import json
import re

import numpy as np
import pytest
from peers.environments import environment, free_port, run_script, serving
from server.service import FRAUD, Local, Nursery
from starlette.testclient import TestClient

import truepool as tp
from truepool_serve.server import http

pytestmark = pytest.mark.peers

TRAIN = """
import json, sys
import numpy as np
from sklearn.linear_model import LogisticRegression
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = (X.sum(axis=1) + rng.normal(size=200) > 0).astype(int)
model = LogisticRegression().fit(X, y)
one_by_one = [model.predict_proba(X[t : t + 1])[0].tolist() for t in range(5)]
print(json.dumps([X[:5].tolist(), one_by_one]))
"""
NAMES = ["a", "b", "c"]
CASES = 5


def predictions(tmp_path, endpoints, rows):
    """Reports on the rows by the agents ada, bob and cyd, as the coordinator gets them."""
    with Local(tmp_path / "ledger.db") as local:
        for agent, endpoint in zip(FRAUD["agents"], endpoints, strict=False):
            local.change("fraud", "endpoint", {"agent": agent, "endpoint": endpoint})
        with TestClient(http.app(local.coordinator)) as client:
            for t, row in enumerate(rows):
                body = {"features": dict(zip(NAMES, row, strict=True)), "deadline": 30}
                answer = client.post(
                    f"/v1/pools/fraud/cases/c{t}/prediction", json=body
                )
                assert answer.status_code == 200, answer.text
                assert answer.json()["missing"] == {}
        return [local.case("fraud", f"c{t}")["reports"] for t in range(len(rows))]


def check(found, expected, agents):
    """Every report must be the probability that the model gives, to the last bit."""
    assert len(found) == CASES
    for reports, row in zip(found, expected, strict=True):
        assert list(reports) == agents
        assert list(reports.values()) == [row[1]] * len(agents)


def test_mlserver_is_asked_over_http_and_grpc(tmp_path):
    place = environment("mlserver")
    script = TRAIN + "import joblib; joblib.dump(model, 'model.joblib')"
    rows, expected = json.loads(run_script(place, script, cwd=tmp_path))
    ports = {
        "http_port": free_port(),
        "grpc_port": free_port(),
        "metrics_port": free_port(),
    }
    known = {"host": "127.0.0.1", "parallel_workers": 0, **ports}
    (tmp_path / "settings.json").write_text(json.dumps(known))
    model = {
        "name": "clf", "implementation": "mlserver_sklearn.SKLearnModel",
        "parameters": {"uri": "./model.joblib", "version": "v1"},
    }  # fmt: skip
    (tmp_path / "model-settings.json").write_text(json.dumps(model))
    url = f"http://127.0.0.1:{ports['http_port']}"
    shared = {
        "model": "clf",
        "input": "x",
        "features": NAMES,
        "output": "predict_proba",
    }
    endpoints = [
        {"protocol": "oip-http", "url": url, **shared},
        {
            "protocol": "oip-grpc",
            "url": f"grpc://127.0.0.1:{ports['grpc_port']}",
            **shared,
        },
        {"protocol": "oip-http", "url": url, **shared, "version": "v1"},
    ]
    with serving(
        place, ["mlserver", "start", "."], f"{url}/v2/models/clf/ready", tmp_path
    ):
        check(predictions(tmp_path, endpoints, rows), expected, FRAUD["agents"])


def test_mlflow_is_asked(tmp_path):
    place = environment("mlflow")
    script = TRAIN + (
        "import mlflow.sklearn\n"
        "mlflow.sklearn.save_model(model, 'saved', pyfunc_predict_fn='predict_proba')"
    )
    rows, expected = json.loads(run_script(place, script, cwd=tmp_path).splitlines()[0])
    port = free_port()
    words = ["mlflow", "models", "serve", "-m", "saved", "--env-manager", "local", "-h", "127.0.0.1", "-p", str(port)]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    endpoints = [
        {"protocol": "mlflow", "url": url, "features": NAMES},
        {"protocol": "mlflow", "url": f"{url}/invocations", "features": NAMES},
    ]
    with serving(place, words, f"{url}/ping", tmp_path):
        check(predictions(tmp_path, endpoints, rows), expected, ["ada", "bob"])


TRITON = """
import json, sys
import numpy as np
import tritonclient.grpc, tritonclient.http
http_place, grpc_place, model, name = sys.argv[1:5]
values = np.array(json.loads(sys.argv[5]), dtype=np.float64)
found = {}

def show(result, names):
    return {n: [v.decode() if isinstance(v, bytes) else v for v in result.as_numpy(n).ravel().tolist()] for n in names}

for kind, module, place in (("http", tritonclient.http, http_place), ("grpc", tritonclient.grpc, grpc_place)):
    with module.InferenceServerClient(place) as client:
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(model)
        assert client.is_model_ready(model, "1") and not client.is_model_ready("nobody")
        meta = client.get_model_metadata(model)
        meta = meta if kind == "http" else json.loads(client.get_model_metadata(model, as_json=True) and json.dumps(client.get_model_metadata(model, as_json=True)))
        names = [o["name"] for o in meta["outputs"]]
        assert client.get_server_metadata()
        tensor = module.InferInput(name, list(values.shape), "FP64")
        tensor.set_data_from_numpy(values)
        found[kind] = show(client.infer(model, [tensor], request_id="7"), names)
        wanted = [module.InferRequestedOutput(n) for n in names]
        found[kind + " outputs"] = show(client.infer(model, [tensor], outputs=wanted), names)
        if kind == "http":
            for packed in ("gzip", "deflate"):
                answer = client.infer(model, [tensor], request_compression_algorithm=packed, response_compression_algorithm="gzip")
                found[packed] = show(answer, names)
            tensor.set_data_from_numpy(values, binary_data=False)
            plain = [module.InferRequestedOutput(n, binary_data=False) for n in names]
            found["json"] = show(client.infer(model, [tensor], outputs=plain), names)
        narrow = module.InferInput(name, list(values.shape), "FP32")
        narrow.set_data_from_numpy(values.astype(np.float32))
        found[kind + " fp32"] = show(client.infer(model, [narrow]), names)
        try:
            client.infer("nobody", [tensor])
        except module.InferenceServerException as error:
            found[kind + " error"] = error.message()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as found:
        yield found


def ask_by_triton(process, model, name, values):
    place = environment("tritonclient")
    grpc_place = re.search(r"gRPC on (\S+:\d+)\.", "".join(process.said))[1]
    http_place = process.url.removeprefix("http://")
    words = (http_place, grpc_place, model, name, json.dumps(values))
    found = json.loads(run_script(place, TRITON, *words))
    errors = {found.pop(f"{kind} error") for kind in ("http", "grpc")}
    assert all("nobody" in error for error in errors)
    narrow = {kind: found.pop(f"{kind} fp32") for kind in ("http", "grpc")}
    assert set(found) == {
        "http",
        "grpc",
        "http outputs",
        "grpc outputs",
        "gzip",
        "deflate",
        "json",
    }
    return found, narrow


def test_the_triton_client_takes_a_pool_for_a_model(tmp_path, nursery):
    reports = [[0.2, 0.4, 0.6], [0.01, 0.02, 0.03]] * 20
    place = tmp_path / "ledger.db"
    with Local(place) as local:
        local.fill(5, np.random.default_rng(0))
        weights = local.describe("fraud")["weights"]
    pooled = np.array(reports) @ [weights[agent] for agent in FRAUD["agents"]]
    process = nursery.start(place, "--grpc-port", "0")
    try:
        process.wait_until_ready()
        found, narrow = ask_by_triton(process, "fraud", "reports", reports)
    finally:
        process.stop()
    for answer in found.values():
        assert answer == found["http"]
        np.testing.assert_allclose(answer["probability"], pooled, rtol=1e-14)
        assert answer["decision"] == ["fraud", "ok"] * 20
    for answer in narrow.values():
        np.testing.assert_allclose(answer["probability"], pooled, rtol=1e-6)


def test_the_triton_client_asks_an_agent_that_we_serve(tmp_path, nursery):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 3))
    y = (X.sum(axis=1) > 0).astype(int)
    agent = tp.agents.train(X, y, ["logistic"], cache=False)["logistic"]
    path = tmp_path / "clf.onnx"
    tp.agents.export(agent, path, X)
    expected = tp.agents.load(path).predict_proba(X[:10])
    process = nursery.start(path, "--grpc-port", "0", verb=("agent", "serve"))
    try:
        found, _ = ask_by_triton(process, "clf", "features", X[:10].tolist())
    finally:
        process.stop()
    for answer in found.values():
        np.testing.assert_array_equal(
            np.reshape(answer["probabilities"], (-1, 2)), expected
        )
        np.testing.assert_array_equal(answer["probability"], expected[:, 1])


def test_our_coordinator_asks_our_agent(tmp_path, nursery):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 3))
    y = (X.sum(axis=1) > 0).astype(int)
    agent = tp.agents.train(X, y, ["logistic"], cache=False)["logistic"]
    path = tmp_path / "clf.onnx"
    tp.agents.export(agent, path, X)
    loaded = tp.agents.load(path)
    expected = [loaded.predict_proba(X[t : t + 1])[0].tolist() for t in range(CASES)]
    process = nursery.start(path, "--grpc-port", "0", verb=("agent", "serve"))
    port = re.search(r"gRPC on \S+:(\d+)\.", "".join(process.said))[1]
    shared = {"model": "clf", "input": "x", "features": NAMES}
    endpoints = [
        {"protocol": "oip-http", "url": process.url, **shared},
        {"protocol": "oip-grpc", "url": f"grpc://127.0.0.1:{port}", **shared, "output": "probability"},
    ]  # fmt: skip
    try:
        found = predictions(tmp_path, endpoints, X[:CASES].tolist())
    finally:
        process.stop()
    check(found, expected, ["ada", "bob"])
