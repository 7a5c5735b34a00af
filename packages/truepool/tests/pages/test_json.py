"""The JSON form of an audit: what its schema says, with sentences apart."""

import json
from dataclasses import replace
from importlib.resources import files

import pytest
from example_audit import EVERY, audit
from json_schema import faults

from truepool.audits.values import SCHEMA

SCHEMA_FILE = json.loads(
    files("truepool.pages").joinpath("audit.schema.json").read_text("utf-8")
)
WORDS = {"sentence", "sentences", "text", "terminal", "python"}


@pytest.mark.parametrize("name", EVERY)
def test_the_document_is_what_its_schema_says(name):
    found = json.loads(json.dumps(EVERY[name]().to_dict(), allow_nan=False))
    assert list(faults(found, SCHEMA_FILE)) == []
    assert found["schema"] == SCHEMA


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda d: d.pop("plan"), "plan is missing"),
        (lambda d: d.update(more=1), "more is unknown"),
        (lambda d: d["plan"].update(trust="maybe"), "'maybe' is none"),
        (lambda d: d["summaries"][0].update(worth=3), "is no object"),
        (lambda d: d["plan"]["steps"].extend(d["plan"]["steps"]), "more than 3"),
        (lambda d: d.update(cases=True), "is no integer"),
    ],
)  # fmt: skip
def test_the_schema_finds_what_is_wrong(change, where):
    document = json.loads(json.dumps(audit().to_dict()))
    change(document)
    assert any(where in fault for fault in faults(document, SCHEMA_FILE))


def test_numbers_and_codes_do_not_depend_on_words(monkeypatch):
    from truepool.pages import wording

    def bare(value):
        if isinstance(value, dict):
            return {k: bare(v) for k, v in value.items() if k not in WORDS}
        return [*map(bare, value)] if isinstance(value, list) else value

    before = bare(audit().to_dict())
    monkeypatch.setattr(wording, "say", lambda *args: "?")
    assert bare(audit().to_dict()) == before


def test_a_diagnosis_has_its_finding_and_the_list_has_all():
    found = audit().to_dict()
    bayes = next(one for one in found["agents"] if one["who"] == "bayes")
    assert (bayes["code"], bayes["state"], bayes["since"]) == (
        "constant-feed",
        "broken",
        412,
    )
    assert bayes["finding"] in found["findings"]
    assert bayes["finding"]["saving"] == {"value": 38.0, "low": 24.0, "high": 52.0}
    assert found["plan"]["steps"][0]["action"] == "leave-out"
    assert found["plan"]["steps"][-1]["terminal"].startswith("truepool fit reports.csv")
    assert found["worst"] == "error"


def test_what_is_not_known_is_null():
    one = replace(audit(), effective_agents=float("nan"))
    assert one.to_dict()["effective_agents"] is None
