"""fig:llm_ensemble on the stand-in: the path, not a model."""

import pytest
from dataset_requirements import needs
from stand_in import MODEL, endpoint, status

import truepool as tp
from truepool.core.errors import EndpointError
from truepool_lab.paper import reproduce
from truepool_lab.paper.experiments.llm_ensemble import (
    CASES,
    CLASSIFIERS,
    NO_MODEL,
    LLMEnsemble,
)
from truepool_lab.paper.interface import MODEL_VARIABLE
from truepool_lab.paper.render import report

__all__ = ["endpoint"]
pytest.importorskip("truepool_jury", reason="models are asked by truepool-jury")

LABEL = "fig:llm_ensemble"
PROMPTS = [f"llm_{name} ({MODEL})" for name in ("direct", "cot", "fewshot", "focused")]


def test_it_has_the_sizes_of_the_paper():
    assert CASES["full"][1:] == (300, 700)


def test_its_classifiers_and_prompts_are_the_papers():
    assert list(CLASSIFIERS) == ["rf", "gbm", "mlp", "lr"]
    assert list(tp.llm.PAPER) == ["direct", "cot", "fewshot", "focused"]


@needs("nsl-kdd")
def test_without_a_model_the_classifiers_alone_are_pooled_and_it_says_so(
    monkeypatch, tmp_path
):
    monkeypatch.delenv(MODEL_VARIABLE, raising=False)
    result = reproduce([LABEL], out=tmp_path)
    answer = result[LABEL]
    assert answer.status == "drawn"
    weights = {r["key"][0]: r["value"] for r in answer.rows if r["column"] == "weight"}
    assert list(weights) == list(CLASSIFIERS)
    assert sum(weights.values()) == pytest.approx(1)
    pooled = {r["key"][0] for r in answer.rows} - set(weights)
    assert len(pooled) == 5
    assert all(name.endswith(f", {NO_MODEL}") for name in pooled)
    assert NO_MODEL in result.figures()[LABEL]._suptitle.get_text()


def test_another_model_is_another_cell(monkeypatch):
    keys = set()
    for model in ("a", "b"):
        monkeypatch.setenv(MODEL_VARIABLE, model)
        keys |= {cell.key for cell in LLMEnsemble().cells("quick")}
    assert len(keys) == 2


@needs("nsl-kdd")
def test_eight_agents_and_five_pools_are_measured_drawn_and_labelled(
    endpoint, monkeypatch, tmp_path
):
    monkeypatch.setenv(MODEL_VARIABLE, MODEL)
    result = reproduce([LABEL], out=tmp_path)
    answer = result[LABEL]
    assert answer.status != "pending"
    found = {(r["key"][0], r["column"]): r["value"] for r in answer.rows}
    agents = ["rf", "gbm", "mlp", "lr", *PROMPTS]
    pools = ["VCG", "Mean", "Median", "Trimmed 20 %", "Best solo"]
    keys = [*(f"{pool}, {MODEL}" for pool in pools), *agents]
    assert {key for key, column in found if column == "accuracy"} == set(keys)
    assert sum(found[name, "weight"] for name in agents) == pytest.approx(1)
    assert all(0 <= found[key, "accuracy"] <= 1 for key in keys)
    assert {found[name, "missing"] for name in agents} == {0}
    assert len(endpoint.requests) == 4 * (20 + 40)
    (drawn,) = result.figures().values()
    assert MODEL in drawn._suptitle.get_text()
    report.write(result.to_dict(), result.figures(), tmp_path)
    for page in ("reproduction.md", "reproduction.html", "verdicts.json"):
        assert MODEL in (tmp_path / page).read_text()
    assert MODEL in (tmp_path / "rows/llm-ensemble-quick.jsonl").read_text()


@needs("nsl-kdd")
def test_a_model_that_stops_answering_says_how_to_go_on(endpoint, monkeypatch):
    monkeypatch.setenv(MODEL_VARIABLE, MODEL)
    endpoint.faults.append(status(429, error_code="insufficient_quota"))
    (cell,) = LLMEnsemble().cells("quick")
    with pytest.raises(EndpointError, match="The same command continues from there"):
        LLMEnsemble.measure(cell)
