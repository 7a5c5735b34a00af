"""Every role and every operation, both ways: what is allowed works, the rest does not."""

import pytest
from server.service import FRAUD, Local
from starlette.testclient import TestClient

from truepool.core.errors import RequestError, SettingError
from truepool_serve.server import access
from truepool_serve.server.access import (
    ADMIN,
    AGENT,
    MONITOR,
    OPERATOR,
    PERMISSIONS,
    ROLES,
)
from truepool_serve.server.http import app
from truepool_serve.server.ledger import Ledger
from truepool_serve.server.verification import verify_all

OPERATIONS = {
    "create": ("POST", "/v1/pools", FRAUD | {"name": "other"}, {ADMIN}),
    "list": ("GET", "/v1/pools", None, {OPERATOR, ADMIN}),
    "describe": ("GET", "/v1/pools/fraud", None, {OPERATOR, ADMIN}),
    "join": ("POST", "/v1/pools/fraud/agents", {"name": "dan"}, {ADMIN}),
    "alarms": ("GET", "/v1/pools/fraud/alarms", None, {OPERATOR, ADMIN}),
    "delete": ("DELETE", "/v1/pools/fraud", None, {ADMIN}),
    "decisions": ("POST", "/v1/pools/fraud/decisions", '{"case": "open"}', {OPERATOR, ADMIN}),
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
    "see a case": ("GET", "/v1/pools/fraud/cases/open", None, {AGENT, OPERATOR, ADMIN}),
    "erase": ("DELETE", "/v1/pools/fraud/cases/open", None, {ADMIN}),
    "export": ("GET", "/v1/pools/fraud/panel", None, {OPERATOR, ADMIN}),
    "audit": ("GET", "/v1/pools/fraud/audit", None, {OPERATOR, ADMIN}),
    "weights over time": ("GET", "/v1/pools/fraud/weights", None, {OPERATOR, ADMIN}),
    "credit over time": ("GET", "/v1/pools/fraud/credit", None, {OPERATOR, ADMIN}),
    "challenge": (
        "POST", "/v1/pools/fraud/challengers", {"name": "new", "learner": "hedge"}, {ADMIN},
    ),
    "evidence": ("GET", "/v1/pools/fraud/challengers", None, {OPERATOR, ADMIN}),
    "promote": ("POST", "/v1/pools/fraud/challengers/shadow/promote", None, {ADMIN}),
    "withdraw": ("DELETE", "/v1/pools/fraud/challengers/shadow", None, {ADMIN}),
    "issue": ("POST", "/v1/tokens", {"role": "operator"}, {ADMIN}),
    "list tokens": ("GET", "/v1/tokens", None, {ADMIN}),
    "rotate": ("POST", "/v1/tokens/{spare}/rotate", None, {ADMIN}),
    "trail": ("GET", "/v1/trail", None, {ADMIN}),
    "metrics": ("GET", "/metrics", None, {OPERATOR, ADMIN, MONITOR}),
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
        made[MONITOR] = local.issue(MONITOR, None, None)
        made["spare"] = local.issue(OPERATOR, None, None)
        client = TestClient(app(local.coordinator))
        client.access = local.coordinator.access
        yield client, made


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
        needed = " or ".join(one for one in ROLES if one in OPERATIONS[name][3])
        sentence = f"needs a token of the role {needed}; this one has the role {role}"
        assert sentence in answer.json()["error"]["message"]


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
    sentence = answer.json()["error"]["message"]
    assert "reports as itself" in sentence
    assert "the report on case 'new' is by 'bob'" in sentence
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


def test_who_revokes_the_last_token_does_not_open_the_door(tmp_path):
    place = tmp_path / "l.db"
    with Local(place) as local:
        client = TestClient(app(local.coordinator))
        assert client.get("/v1/pools").status_code == 200  # there never was a token
        token = local.issue(ADMIN, None, None)
        local.revoke(token["id"])
        headers = {"Authorization": f"Bearer {token['token']}"}
        for given in ({}, headers):
            assert client.get("/v1/pools", headers=given).status_code == 401
    with Local(place, None) as local:
        client = TestClient(app(local.coordinator))
        assert client.get("/v1/pools").status_code == 401


def test_a_revoked_token_stays_so_where_the_clock_is_behind(tmp_path, monkeypatch):
    place = tmp_path / "l.db"
    with Local(place) as local:
        local.issue(ADMIN, None, None)
        gone, rotated = (local.issue(OPERATOR, None, None) for _ in range(2))
        local.revoke(gone["id"])
        local.rotate(rotated["id"], 600)
        now = access.time.time()
        monkeypatch.setattr(access.time, "time", lambda: now + 601)
        client = TestClient(app(local.coordinator))
        headers = {"Authorization": f"Bearer {rotated['token']}"}
        assert client.get("/v1/pools", headers=headers).status_code == 401
        local.pools()  # what was seen to be over is written
    for seconds in (0, -86_400):
        monkeypatch.setattr(access.time, "time", lambda s=seconds: now + s)
        with Local(place, None) as local:
            client = TestClient(app(local.coordinator))
            for token in (gone, rotated):
                headers = {"Authorization": f"Bearer {token['token']}"}
                assert client.get("/v1/pools", headers=headers).status_code == 401


def test_a_rotated_token_has_the_same_rights_and_a_grace(service, monkeypatch):
    client, made = service
    admin = {"Authorization": f"Bearer {made[ADMIN]['token']}"}
    old = {"Authorization": f"Bearer {made[AGENT]['token']}"}
    path = f"/v1/tokens/{made[AGENT]['id']}/rotate"
    answer = client.post(path, json={"grace": 600}, headers=admin)
    assert answer.status_code == 201
    assert (answer.json()["role"], answer.json()["agent"]) == (AGENT, "ada")
    new = {"Authorization": f"Bearer {answer.json()['token']}"}
    place = "/v1/pools/fraud/cases/open"
    assert client.get(place, headers=new).status_code == 200
    assert client.get(place, headers=old).status_code == 200
    now = access.time.time()
    monkeypatch.setattr(access.time, "time", lambda: now + 601)
    assert client.get(place, headers=old).status_code == 401
    assert client.get(place, headers=new).status_code == 200
    assert client.post(path, headers=admin).status_code == 404  # rotated before
    (row,) = [
        row for row in client.get("/v1/tokens", headers=admin).json()["tokens"]
        if row["id"] == answer.json()["id"]
    ]  # fmt: skip
    assert row["replaces"] == made[AGENT]["id"]
    assert "hash" not in row
    refused = client.post(
        f"/v1/tokens/{row['id']}/rotate", json={"grace": -1}, headers=admin
    )
    assert refused.status_code == 400


def test_the_trail_says_who_did_what_and_names_no_case(service):
    client, made = service
    admin = {"Authorization": f"Bearer {made[ADMIN]['token']}"}
    client.post("/v1/pools/fraud/agents", json={"name": "dan"}, headers=admin)
    client.delete("/v1/pools/fraud/cases/open", headers=admin)
    client.post("/v1/pools", json=FRAUD | {"name": "new"}, headers=admin)
    trail = client.get("/v1/trail?last=3", headers=admin).json()["trail"]
    told = [(row["action"], row["target"], row["detail"]) for row in trail]
    assert told == [
        ("join", "fraud", "dan"), ("erase", "fraud", None), ("create", "new", None),
    ]  # fmt: skip
    assert {row["token"] for row in trail} == {made[ADMIN]["id"]}
    assert {row["role"] for row in trail} == {ADMIN}
    for last in (0, 100_001):
        assert client.get(f"/v1/trail?last={last}", headers=admin).status_code == 400


@pytest.mark.parametrize(
    ("statement", "record"),
    [
        ("UPDATE trail SET action = 'erase' WHERE id = 2", 2),
        ("DELETE FROM trail WHERE id = 2", 3),
        ("DELETE FROM trail WHERE id = 4", 4),
    ],
)
def test_a_changed_trail_is_found(tmp_path, statement, record):
    place = tmp_path / "l.db"
    with Local(place) as local:
        for role in (ADMIN, OPERATOR, MONITOR):
            local.issue(role, None, None)
    with Ledger(place) as ledger:
        assert [each.pool for each in verify_all(ledger)] == ["fraud"]
        with ledger.transaction():
            ledger.connection.execute(statement)
        fault = verify_all(ledger)[0]
    assert (fault.pool, fault.record) == ("(trail)", record)


def test_the_trail_tells_a_new_endpoint_from_one_that_was_removed(service):
    client, made = service
    admin = {"Authorization": f"Bearer {made[ADMIN]['token']}"}
    path = "/v1/pools/fraud/agents/ada/endpoint"
    place = {"protocol": "mlflow", "url": "http://127.0.0.1:9"}
    client.put(path, json=place, headers=admin)
    client.delete(path, headers=admin)
    trail = client.get("/v1/trail?last=2", headers=admin).json()["trail"]
    assert [row["action"] for row in trail] == ["endpoint", "remove-endpoint"]
    assert {row["detail"] for row in trail} == {"ada"}


def test_decisions_and_outcomes_say_whose_token_made_them(service):
    client, made = service
    operator = {"Authorization": f"Bearer {made[OPERATOR]['token']}"}
    path = "/v1/pools/fraud/cases/open"
    client.post(f"{path}/decision", headers=operator)
    admin = {"Authorization": f"Bearer {made[ADMIN]['token']}"}
    client.put(f"{path}/outcome", json={"outcome": "ok"}, headers=admin)
    known = client.get(path, headers=operator).json()
    assert known["decision"]["by"] == made[OPERATOR]["id"]
    assert known["settled_by"] == made[ADMIN]["id"]


def test_a_token_may_ask_only_so_often():
    limiter = access.RateLimiter(3.0)
    for _ in range(3):  # a burst
        limiter.take("a", 10.0)
    with pytest.raises(RequestError, match="3 requests per second") as caught:
        limiter.take("a", 10.1)
    assert caught.value.code == "too-many"
    limiter.take("b", 10.1)  # each has its own
    limiter.take("a", 10.4)
    with pytest.raises(RequestError):
        limiter.take("a", 10.5)
    for _ in range(3):
        limiter.take("a", 99.0)
    access.RateLimiter(None).take("a", 0.0)
    limiter.take(None, 0.0)  # without tokens there is nobody to count


def test_too_many_requests_are_answered_with_when_to_come_again(service):
    client, made = service
    header = {"Authorization": f"Bearer {made[OPERATOR]['token']}"}
    limiter = client.access.limiter
    limiter.rate = 2.0
    answers = [client.get("/v1/pools", headers=header) for _ in range(5)]
    limiter.rate = None
    assert [each.status_code for each in answers[:2]] == [200, 200]
    late = answers[-1]
    assert (late.status_code, late.headers["retry-after"]) == (429, "1")
    assert late.json()["error"]["code"] == "too-many"


def test_a_token_is_compared_in_constant_time(service, monkeypatch):
    """Also one that nobody has, so that its name cannot be guessed by time."""
    compared = []
    compare = access.hmac.compare_digest
    monkeypatch.setattr(
        access.hmac, "compare_digest", lambda a, b: compared.append(a) or compare(a, b)
    )
    client, _ = service
    client.get("/v1/pools", headers={"Authorization": "Bearer tp_nobody_secret"})
    assert len(compared) == 1


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
