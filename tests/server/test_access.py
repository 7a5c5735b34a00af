"""Every role and every operation, both ways: what is allowed works, the rest does not."""

import pytest
from fastapi.testclient import TestClient
from server.service import FRAUD, Local

from truepool.core.errors import RequestError, SettingError
from truepool.server.access import ADMIN, AGENT, OPERATOR, PERMISSIONS, ROLES
from truepool.server.http import app

OPERATIONS = {
    "create": ("POST", "/v1/pools", FRAUD | {"name": "other"}, {ADMIN}),
    "list": ("GET", "/v1/pools", None, {OPERATOR, ADMIN}),
    "describe": ("GET", "/v1/pools/fraud", None, {OPERATOR, ADMIN}),
    "join": ("POST", "/v1/pools/fraud/agents", {"name": "dan"}, {ADMIN}),
    "leave": ("DELETE", "/v1/pools/fraud/agents/cyd", None, {ADMIN}),
    "register": (
        "PUT", "/v1/pools/fraud/agents/ada/endpoint",
        {"protocol": "mlflow", "url": "http://127.0.0.1:9"}, {ADMIN},
    ),
    "unregister": ("DELETE", "/v1/pools/fraud/agents/ada/endpoint", None, {ADMIN}),
    "predict": (
        "POST", "/v1/pools/fraud/cases/open/prediction", {"features": {"x": 1}},
        {OPERATOR, ADMIN},
    ),
    "report": (
        "PUT", "/v1/pools/fraud/cases/new/reports/ada", {"probability": 0.2}, {AGENT, ADMIN},
    ),
    "report a batch": (
        "POST", "/v1/pools/fraud/reports",
        '{"case": "new", "agent": "ada", "probability": 0.2}', {AGENT, ADMIN},
    ),
    "decide": ("POST", "/v1/pools/fraud/cases/open/decision", None, {OPERATOR, ADMIN}),
    "settle": (
        "PUT", "/v1/pools/fraud/cases/done/outcome", {"outcome": "ok"}, {OPERATOR, ADMIN},
    ),
    "settle a batch": (
        "POST", "/v1/pools/fraud/outcomes", '{"case": "done", "outcome": "ok"}',
        {OPERATOR, ADMIN},
    ),
    "see a case": ("GET", "/v1/pools/fraud/cases/open", None, set(ROLES)),
    "erase": ("DELETE", "/v1/pools/fraud/cases/open", None, {ADMIN}),
    "export": ("GET", "/v1/pools/fraud/panel", None, {OPERATOR, ADMIN}),
    "audit": ("GET", "/v1/pools/fraud/audit", None, {OPERATOR, ADMIN}),
    "challenge": (
        "POST", "/v1/pools/fraud/challengers", {"name": "new", "learner": "hedge"}, {ADMIN},
    ),
    "evidence": ("GET", "/v1/pools/fraud/challengers", None, {OPERATOR, ADMIN}),
    "promote": ("POST", "/v1/pools/fraud/challengers/shadow/promote", None, {ADMIN}),
    "withdraw": ("DELETE", "/v1/pools/fraud/challengers/shadow", None, {ADMIN}),
    "issue": ("POST", "/v1/tokens", {"role": "operator"}, {ADMIN}),
    "revoke": ("DELETE", "/v1/tokens/{spare}", None, {ADMIN}),
}  # fmt: skip
"""Method, path, content, and the roles that may."""
OPEN = {("GET", "/livez"), ("GET", "/readyz"), ("GET", "/openapi.json")}


@pytest.fixture
def service(tmp_path):
    with Local(tmp_path / "ledger.db") as local:
        for case in ("open", "done"):
            local.report("fraud", [(case, "ada", 0.2), (case, "bob", 0.3)])
        rule = {"learner": "hedge"}
        local.change("fraud", "challenge", {"name": "shadow", "rule": rule})
        local.decide("fraud", "done", None)
        for i in range(12):
            local.report("fraud", [(f"c{i}", a, 0.1 + i / 20) for a in ("ada", "bob")])
            local.decide("fraud", f"c{i}", None)
            local.settle("fraud", [(f"c{i}", "fraud" if i > 6 else "ok")])
        made = {
            ADMIN: local.issue(ADMIN, None, None),
        }
        made[OPERATOR] = local.issue(OPERATOR, None, None)
        made[AGENT] = local.issue(AGENT, "fraud", "ada")
        made["spare"] = local.issue(OPERATOR, None, None)
        yield TestClient(app(local.coordinator)), made


def ask(service, name, token):
    client, made = service
    method, path, content, _ = OPERATIONS[name]
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    path = path.format(spare=made["spare"]["id"])
    if isinstance(content, str):
        return client.request(method, path, content=content, headers=headers)
    return client.request(method, path, json=content, headers=headers)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_role_may_do_what_it_may_and_nothing_else(service, name, role):
    answer = ask(service, name, service[1][role]["token"])
    if role in OPERATIONS[name][3]:
        assert answer.status_code in (200, 201), answer.text
    else:
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "forbidden"


@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_is_done_without_a_valid_token(service, name):
    good = service[1][ADMIN]["token"]
    for token in (None, "", "tp_x_y", good[:-1] + "!", "tp_é_é"):
        answer = ask(service, name, None if token is None else token.encode())
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"


def test_every_operation_of_the_api_is_in_this_table(service):
    client, _ = service
    listed = {
        (m, p.replace("{spare}", "{token}")) for m, p, _, _ in OPERATIONS.values()
    }
    every = set()
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        filled = (
            path.replace("{pool}", "fraud")
            .replace("{agent}", "ada")
            .replace("{name}", "shadow")
        )
        for method in methods:
            every.add((method.upper(), filled))
    simple = {
        (
            m,
            p.replace("/cyd", "/ada")
            .replace("/new/", "/{case}/")
            .replace("/open", "/{case}")
            .replace("/done", "/{case}"),
        )
        for m, p in listed
    }
    assert every - OPEN == simple


def test_every_permission_names_roles():
    assert all(roles <= set(ROLES) and roles for roles in PERMISSIONS.values())


def test_an_agent_reports_as_itself_and_sees_no_other_report(service):
    client, made = service
    headers = {"Authorization": f"Bearer {made[AGENT]['token']}"}
    path = "/v1/pools/fraud/cases/new/reports/bob"
    answer = client.put(path, json={"probability": 0.2}, headers=headers)
    assert answer.status_code == 403
    assert "reports as itself" in answer.json()["error"]["message"]
    seen = client.get("/v1/pools/fraud/cases/open", headers=headers).json()
    assert seen == {
        "case": "open",
        "reports": {"ada": 0.2},
        "decision": None,
        "outcome": None,
    }
    after = client.get("/v1/pools/fraud/cases/c1", headers=headers).json()
    assert set(after["decision"]) == {"case", "decision", "at"}
    path = "/v1/pools/other/cases/new/reports/ada"
    answer = client.put(path, json={"probability": 0.2}, headers=headers)
    assert "another pool" in answer.json()["error"]["message"]


def test_a_revoked_token_is_worth_nothing(service):
    client, made = service
    headers = {"Authorization": f"Bearer {made['spare']['token']}"}
    assert client.get("/v1/pools", headers=headers).status_code == 200
    assert ask(service, "revoke", made[ADMIN]["token"]).status_code == 200
    assert client.get("/v1/pools", headers=headers).status_code == 401
    assert ask(service, "revoke", made[ADMIN]["token"]).status_code == 404


def test_a_token_is_not_in_the_ledger(tmp_path):
    with Local(tmp_path / "ledger.db") as local:
        token = local.issue(ADMIN, None, None)["token"]
    secret = token.split("_")[2].encode()
    for path in tmp_path.iterdir():
        assert secret not in path.read_bytes()


def test_a_token_of_an_agent_needs_a_pool_and_an_agent_of_it(tmp_path):
    with Local(tmp_path / "ledger.db") as local:
        with pytest.raises(SettingError, match="names its pool"):
            local.issue(AGENT, None, None)
        with pytest.raises(SettingError, match="agent, operator, admin"):
            local.issue("root", None, None)
        with pytest.raises(RequestError, match="no agent 'eve'"):
            local.issue(AGENT, "fraud", "eve")
