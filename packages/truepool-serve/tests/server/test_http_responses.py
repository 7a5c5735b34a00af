"""Requests and answers over HTTP are as OpenAPI describes them."""

import re

import msgspec
import numpy as np
import pytest
from server.service import FRAUD, Local
from starlette.testclient import TestClient

from truepool_serve import messages as r
from truepool_serve.server import http


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with Local(tmp_path_factory.mktemp("api") / "ledger.db", None) as local:
        yield http.openapi(http.describe(local.coordinator))


def schemas(found):
    """Every schema within one."""
    if isinstance(found, dict):
        yield found
        found = list(found.values())
    if isinstance(found, list):
        for part in found:
            yield from schemas(part)


def test_every_field_in_the_description_of_the_api_has_a_meaning(api):
    fields = [
        (name, field)
        for schema in schemas(api)
        for name, field in schema.get("properties", {}).items()
    ]
    assert len(fields) > 100
    assert [name for name, field in fields if not field.get("description")] == []


def test_the_description_of_the_api_has_only_references_that_it_holds(api):
    used = {schema["$ref"] for schema in schemas(api) if "$ref" in schema}
    known = {f"#/components/schemas/{name}" for name in api["components"]["schemas"]}
    assert used <= known


def test_answers_are_as_the_api_describes_them(tmp_path, api):
    pool = {
        **FRAUD,
        "name": "three",
        "labels": ["a", "b", "c"],
        "agents": ["ada", "bob"],
    }
    del pool["positive"], pool["costs"]
    endpoint = {"protocol": "mlflow", "url": "http://127.0.0.1:9/", "labels": [0, 1]}
    fast = {"name": "fast", "learner": "gradient", "settings": {"rate": 0.1}}
    case = "/v1/pools/fraud/cases/one"
    line = {"case": "two", "agent": "ada", "probability": 0.4}
    asked = [
        ("GET", "/livez", None, r.Status),
        ("GET", "/readyz", None, r.Readiness),
        ("GET", "/v1/pools", None, r.PoolNames),
        ("POST", "/v1/pools", pool, r.Pool),
        ("POST", "/v1/pools/three/agents", {"name": "dan"}, r.PoolStatus),
        ("PUT", "/v1/pools/three/cases/x/reports/ada", {"probability": [0.2, 0.3, 0.5]}, r.Receipt),
        ("POST", "/v1/pools/three/cases/x/decision", None, r.Decision),
        ("GET", "/v1/pools/three/cases/x", None, r.Case),
        ("POST", "/v1/pools/fraud/challengers", fast, r.PoolStatus),
        ("GET", "/v1/pools/fraud/challengers", None, r.Challengers),
        ("PUT", f"{case}/reports/ada", {"probability": 0.4}, r.Receipt),
        ("POST", "/v1/pools/fraud/reports", line, r.Receipt),
        ("GET", case, None, r.Case),
        ("POST", f"{case}/decision", None, r.Decision),
        ("PUT", f"{case}/outcome", {"outcome": "ok"}, r.Settlement),
        ("POST", "/v1/pools/fraud/outcomes", {"case": "one", "outcome": "ok"}, r.Settlement),
        ("GET", case, None, r.Case),
        ("GET", "/v1/pools/fraud/challengers", None, r.Challengers),
        ("GET", "/v1/pools/fraud/weights", None, r.Weights),
        ("GET", "/v1/pools/fraud/credit", None, r.Credits),
        ("GET", "/v1/pools/fraud/audit", None, r.Audit),
        ("POST", "/v1/pools/fraud/challengers/fast/promote", None, r.PoolStatus),
        ("DELETE", "/v1/pools/fraud/challengers/first", None, r.PoolStatus),
        ("DELETE", case, None, r.Erasure),
        ("PUT", "/v1/pools/fraud/agents/ada/endpoint", endpoint, r.PoolStatus),
        ("POST", "/v1/pools/fraud/cases/two/prediction", {"features": {"x": 1.0}}, r.Decision),
        ("DELETE", "/v1/pools/fraud/agents/ada/endpoint", None, r.PoolStatus),
        ("DELETE", "/v1/pools/fraud/agents/ada", None, r.PoolStatus),
        ("GET", "/v1/pools/fraud", None, r.PoolStatus),
        ("POST", "/v1/pools/fraud/decisions", {"case": "two"}, r.Decisions),
        ("GET", "/v1/pools/fraud/alarms", None, r.AlarmList),
        ("DELETE", "/v1/pools/three", None, r.Deletion),
        ("GET", "/v1/nothing", None, r.Refusal),
        ("POST", "/v1/tokens", {"role": "admin"}, r.Token),
    ]  # fmt: skip
    with Local(tmp_path / "ledger.db") as local:
        local.fill(60, np.random.default_rng(0))
        client = TestClient(http.app(local.coordinator))
        for method, path, body, kind in asked:
            answer = client.request(method, path, json=body)
            assert (answer.status_code < 300) == (kind is not r.Refusal), answer.text
            msgspec.json.decode(answer.content, type=kind)
        made = answer.json()
        client.headers["Authorization"] = f"Bearer {made['token']}"
        agent = {"role": "agent", "pool": "fraud", "agent": "bob"}
        shown = client.post("/v1/tokens", json=agent)
        own = {"Authorization": f"Bearer {shown.json()['token']}"}
        seen = client.get("/v1/pools/fraud/cases/case 1", headers=own)
        msgspec.json.decode(seen.content, type=r.Case)
        rest = [
            ("POST", f"/v1/tokens/{shown.json()['id']}/rotate", r.Token),
            ("GET", "/v1/tokens", r.Tokens),
            ("GET", "/v1/trail", r.Trail),
            ("DELETE", f"/v1/tokens/{made['id']}", r.Revocation),
        ]
        for method, path, kind in rest:
            msgspec.json.decode(client.request(method, path).content, type=kind)
    paths = api["paths"].values()
    described = [each["responses"] for path in paths for each in path.values()]
    tested = {kind.__name__ for *_, kind in (*asked, *rest)}
    used = re.findall(r"#/components/schemas/(\w+)", str(described))
    assert set(used) == tested
