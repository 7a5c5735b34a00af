"""Every name of a case can be asked for, whatever characters it has."""

from urllib.parse import quote

import httpx
import pytest
from server.service import FRAUD, Local, serving
from starlette.testclient import TestClient

import truepool as tp
from truepool.core.errors import SettingError
from truepool_serve.server.http import app

NAMES = ("a/b", "/", "a//b", "2026/01/31#7", "a%2Fb", "%", "ä/ö", "a?b", "a b", "...", "decision", "a/decision")  # fmt: skip
POOL = FRAUD | {"name": "eu/fraud", "agents": ["ada/1", "bob"]}


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with Local(tmp_path_factory.mktemp("names") / "ledger.db", POOL) as found:
        yield found


@pytest.fixture(scope="module")
def url(local):
    with serving(local) as found:
        yield found


@pytest.fixture(scope="module")
def http(url):
    with httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_on_a_case_takes_its_name(http, name):
    place = f"/v1/pools/eu%2Ffraud/cases/{quote(name, safe='')}"
    report = http.put(f"{place}/reports/ada%2F1", json={"probability": 0.25})
    assert report.json() == {"stored": 1, "repeated": 0}
    assert http.post(f"{place}/decision").json()["case"] == name
    assert http.put(f"{place}/outcome", json={"outcome": "ok"}).is_success
    assert http.get(place).json()["outcome"] == "ok"
    assert http.delete(place).is_success


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_that_paths_cannot_hold_is_refused_with_the_report(local, name):
    with pytest.raises(SettingError, match="must not be .*take another name"):
        local.report("eu/fraud", [(name, "bob", 0.5)])


def test_small_letters_encode_as_well(http):
    assert http.get("/v1/pools/eu%2ffraud").json()["name"] == "eu/fraud"


@pytest.mark.parametrize("name", NAMES)
def test_a_client_needs_not_know(url, name):
    case = f"{name}'"
    with tp.Client(url) as client:
        client.report("eu/fraud", case, "ada/1", 0.5)
        client.flush()
        assert client.decide("eu/fraud", case)["case"] == case
        client.settle("eu/fraud", case, "fraud")
        client.flush()
        assert client.case("eu/fraud", case)["outcome"] == "fraud"


def test_models_and_pages_have_such_names_too(http):
    assert http.get("/v2/models/eu%2Ffraud").json()["name"] == "eu/fraud"
    assert http.get("/v2/models/eu%2Ffraud/ready").is_success
    for path in ("/pools/eu%2Ffraud", "/pools/eu/fraud"):
        assert "eu/fraud" in http.get(path).text


@pytest.mark.parametrize("path", ["/v1/a%2Fb", "/v2/models%2Fx/y", "/v1/pools/no%2Fpool", "/%2F", "/pools/%2F"])  # fmt: skip
def test_a_path_that_leads_nowhere_is_one_sentence(local, path):
    client = TestClient(app(local.coordinator))
    answer = client.get(path)
    assert answer.status_code == 404, answer.text
    assert "\udc2f" not in answer.text


def test_agents_with_such_names_come_and_go(http):
    place = "/v1/pools/eu%2Ffraud/agents"
    assert http.post(place, json={"name": "c/d"}).status_code == 201
    assert http.delete(f"{place}/c%2Fd").is_success
