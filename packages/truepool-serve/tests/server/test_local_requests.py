"""A coordinator without tokens does what this machine asks, and nothing for web pages."""

import pytest
from server.service import FRAUD, Local
from starlette.testclient import TestClient

from truepool_serve.server.http import app
from truepool_serve.server.local_requests import LocalRequests

HERE = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with Local(tmp_path_factory.mktemp("local") / "ledger.db") as found:
        yield found


@pytest.fixture(scope="module")
def client(local):
    return TestClient(app(local.coordinator, local=True), HERE)


def refused(answer):
    assert answer.status_code == 403, answer.text
    error = answer.json()["error"]
    message = error if isinstance(error, str) else error["message"]
    assert "\n" not in message
    return message


LOCAL = (
    "localhost:8765",
    "LOCALHOST",
    "localhost.",
    "127.0.0.1",
    "127.8.9.1:1",
    "[::1]:8765",
)
FOREIGN = ("evil.example", "evil.example:8765", "localhost.evil.example", "10.0.0.1", "[::2]", "[", "")  # fmt: skip
PATHS = ("/", "/v1/pools", "/metrics", "/livez", "/v2", "/v2/models/fraud", "/openapi.json")  # fmt: skip


@pytest.mark.parametrize("host", LOCAL)
def test_this_machine_is_called_by_its_names(client, host):
    assert client.get("/v1/pools", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", FOREIGN)
def test_a_name_that_a_page_lets_point_here_is_refused(client, host):
    said = refused(client.get("/v1/pools", headers={"Host": host}))
    assert "must be to this machine" in said
    assert "truepool ledger token" in said


@pytest.mark.parametrize("path", PATHS)
def test_no_path_is_left_out(client, path):
    assert client.get(path).status_code == 200
    refused(client.get(path, headers={"Host": "evil.example"}))


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "file://", "http://["]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "GET"])
def test_another_site_is_refused(client, method, origin):
    path = "/v1/pools/fraud/cases/c1"
    said = refused(client.request(method, path, headers={"Origin": origin}))
    assert "must not come from a web page" in said


@pytest.mark.parametrize("origin", ["http://localhost:8765", "http://127.0.0.1:3000"])
def test_a_page_of_this_machine_may_ask(client, origin):
    answer = client.get("/v1/pools", headers={"Origin": origin})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "Text/Plain; charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
)  # fmt: skip
def test_what_a_form_can_send_is_refused_before_anything_is_stored(client, local, kind):
    body = '{"name": "made by a page", "agents": ["ada", "bob"]}'
    said = refused(
        client.post("/v1/pools", content=body, headers={"Content-Type": kind})
    )
    assert "Content-Type: application/json" in said
    assert local.pools() == ["fraud"]


def test_programs_that_name_no_type_are_served(client):
    answer = client.post("/v1/pools", content=b'{"name": "own", "agents": ["a", "b"]}')
    assert answer.status_code == 201, answer.text


def test_with_tokens_the_names_of_a_coordinator_are_free(tmp_path):
    with Local(tmp_path / "ledger.db", FRAUD) as local:
        client = TestClient(app(local.coordinator, local=True), HERE)
        token = local.issue("admin", None, None)["token"]
        headers = {"Host": "pools.example", "Authorization": f"Bearer {token}"}
        assert client.get("/v1/pools", headers=headers).status_code == 200
        assert client.get("/v1/pools").status_code == 401


def test_beyond_this_machine_names_are_not_known(local):
    client = TestClient(app(local.coordinator), "http://pools.example")
    assert client.get("/v1/pools").status_code == 200


def test_a_model_is_guarded_in_the_words_of_its_protocol():
    async def model(scope, receive, send):
        raise AssertionError

    client = TestClient(LocalRequests(model, lambda: True), "http://evil.example")
    assert isinstance(client.get("/v2/models/m").json()["error"], str)
