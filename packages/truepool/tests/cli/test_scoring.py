"""``tp.score``: what the command writes about new cases, as a frame."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv
from scipy.special import expit

import truepool as tp
from truepool.tables import TableWarning

T = 1000
RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, T)
NOISE = 0.5 * RNG.normal(size=(T, 1)) + RNG.normal(size=(T, 4))
REPORTS = expit(2 * (NOISE + 2 * Y[:, None] - 1)).round(4)
AGENTS = dict(zip(("rf", "gbm", "nn", "knn"), REPORTS.T, strict=True))
ID = [f"c{t}" for t in range(T)]
FRAME = pd.DataFrame({"id": ID, **AGENTS, "amount": RNG.lognormal(3, 1, T)})


@pytest.fixture(scope="module")
def pool():
    panel = tp.read_panel(FRAME.assign(y=Y), "y", ignore="amount")
    fitted = tp.VCG(costs=tp.Costs(fn=10)).fit_panel(panel)
    fitted.remember(panel)
    return fitted


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, ()),
        ({"contributions": True}, ("--contributions",)),
        ({"capacity": "5%"}, ("--set", "capacity=5%")),
        ({"explore": 0.1, "seed": 4}, ("--explore", "10%", "--set", "seed=4")),
        ({"missing": "0.5"}, ("--set", "missing=0.5")),
    ],
)
def test_python_and_the_command_give_the_same(
    pool, tmp_path, monkeypatch, truepool, keys, words
):
    monkeypatch.chdir(tmp_path)
    pool.save("a.pool")
    FRAME.to_csv("new.csv", index=False)
    assert truepool("score", "a.pool", "new.csv", "-o", "out.csv", *words)[0] == 0
    found = tp.score(tp.load_pool("a.pool"), "new.csv", **keys)
    assert isinstance(found, pa.Table)
    csv.write_csv(found, "mine.csv", csv.WriteOptions(quoting_style="needed"))
    assert Path("mine.csv").read_bytes() == Path("out.csv").read_bytes()


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (FRAME.set_index(np.arange(T) + 7), pd.DataFrame),
        (pl.from_pandas(FRAME), pl.DataFrame),
        (pa.Table.from_pandas(FRAME), pa.Table),
    ],
)
def test_a_frame_gives_a_frame_of_its_kind_with_a_row_for_each_of_its_rows(
    pool, frame, kind
):
    found = tp.score(pool, frame)
    assert isinstance(found, kind)
    expected = pool.predict(REPORTS)
    assert np.asarray(found["decision"]).tolist() == expected.tolist()
    assert np.asarray(found["id"]).tolist() == ID
    if kind is pd.DataFrame:
        assert found.index.equals(frame.index)
        assert frame.assign(p=found.pooled).p.notna().all()


def test_a_pool_that_was_fitted_on_arrays_knows_its_agents_by_name():
    panel = tp.Panel([[0.9, 0.6], [0.2, 0.1]], [1, 0], agents=("a", "b"))
    pool = tp.Mean().fit_panel(panel)
    found = tp.score(pool, pd.DataFrame({"b": [0.2, None], "a": [0.4, None]}))
    np.testing.assert_allclose(found.pooled, [0.3, np.nan])


def test_columns_with_costs_decide_by_the_cost_of_each_case():
    panel = tp.read_panel(FRAME.assign(y=Y), "y", columns="amount")
    pool = tp.Mean(costs=tp.Costs(fn="amount", fp=20)).fit_panel(panel)
    found = tp.score(pool, FRAME)
    limit = 20 / (20 + FRAME.amount)
    assert (found.decision == (found.pooled > limit)).all()
    with pytest.raises(tp.TableFaults) as refused:
        tp.score(pool, FRAME.drop(columns="amount"))
    assert refused.value.codes == ("no-cost-column",)


def test_what_may_be_wrong_is_a_warning(pool):
    for new, words in (
        (FRAME.drop(columns="rf"), "no such column"),
        (FRAME.assign(rf=np.nan), "No case has a report of 'rf'"),
        (FRAME.assign(id="c1"), "repeat"),
        (FRAME.assign(rf=1 - FRAME.rf), "against"),
    ):
        with pytest.warns(TableWarning, match=words):
            tp.score(pool, new)


@pytest.mark.parametrize(
    ("turn", "code", "cure"),
    [
        (lambda p: p / 100, "changed-unit", None),
        (lambda p: 1 - p, "changed-opposite", "1-0"),
    ],
)
def test_an_agent_that_changed_is_a_fault_with_its_key(turn, code, cure):
    rare = {n: 0.04 * p for n, p in AGENTS.items()}
    pool = tp.Mean().fit(pd.DataFrame(rare), Y)
    with pytest.raises(tp.TableFaults) as refused:
        tp.score(pool, pd.DataFrame(rare | {"rf": turn(rare["rf"])}))
    (fault,) = refused.value.faults
    assert (fault.code, fault.agent) == (code, "rf")
    assert fault.found == pytest.approx(np.median(turn(rare["rf"])), rel=0.01)
    assert fault.fields["then"] == pytest.approx(np.median(rare["rf"]), rel=0.01)
    assert {each.key for each in fault.cures} == {"scores.rf", ""}
    if cure is not None:
        assert fault.cures[0].value == cure
        new = pd.DataFrame(rare | {"rf": turn(rare["rf"])})
        again = tp.score(pool, new, scores={"rf": cure})  # the cure that was offered
        np.testing.assert_allclose(again.pooled, 0.04 * REPORTS.mean(axis=1), atol=1e-9)


def test_strict_refuses_an_agent_that_is_reversed(pool):
    turned = FRAME.assign(rf=1 - FRAME.rf)
    with pytest.raises(tp.TableFaults) as refused:
        tp.score(pool, turned, strict=True)
    assert refused.value.codes == ("changed-reversed",)
