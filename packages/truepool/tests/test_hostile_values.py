"""Values that nobody should have, each refused in one sentence or taken as it is."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from command import truepool
from panels import random_panel

import truepool as tp
from truepool import pools
from truepool.core import arrays, seeds
from truepool.core.errors import (
    AgentError,
    CostError,
    OutcomeError,
    PanelError,
    ReportError,
    SettingError,
    TruepoolError,
)
from truepool.panel import amounts

__all__ = ["truepool"]
R, Y = [[0.1, 0.2], [0.3, 0.4]], [0, 1]


@pytest.mark.parametrize(
    ("reports", "outcomes", "kind", "told"),
    [
        ([[0.1, 0.2], [0.3]], Y, ReportError, "rows of different lengths"),
        (R, [[0], [1, 2]], OutcomeError, "rows of different lengths"),
        ([[10**400, 0.2], [0.3, 0.4]], Y, ReportError, "'agent0' has 1000000"),
        (np.array(R) + 1j, Y, ReportError, "must be a number in"),
        (pd.DataFrame(R, columns=["a", "a"]), Y, AgentError, "'a' 2 times"),
    ],
)
def test_odd_panels_are_refused_in_one_sentence(reports, outcomes, kind, told):
    with pytest.raises(kind, match=told) as refusal:
        tp.Panel(reports, outcomes)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    "times", [[1j, 2j], [np.inf, 1.0], [10**400, 1], [None, None], [[1], [2]]]
)
def test_odd_times_are_refused_in_one_sentence(times):
    with pytest.raises(PanelError) as refusal:
        tp.Panel(R, Y, times=times)
    assert "\n" not in str(refusal.value)


RAGGED, HUGE, COMPLEX = [[1], [1, 2]] * 10, [10**400] * 20, np.ones(20) + 1j
STREAM = tp.Stream("gradient", ["a", "b"])


@pytest.mark.parametrize("values", [RAGGED, HUGE, COMPLEX, ["a"] * 20, [None] * 20])
@pytest.mark.parametrize(
    "use",
    [
        lambda v: tp.VCG().fit(*_reports(), sample_weight=v),
        lambda v: tp.credit.leave_one_out(random_panel(0, 20), sample_weight=v),
        lambda v: tp.Panel(*_reports(), weights=v),
        lambda v: tp.Panel(*_reports(), propensity=v),
        lambda v: tp.VCG(costs=tp.Costs(fn=v)).fit(*_reports()),
        lambda v: tp.Costs(matrix=[v, v]),
        lambda v: tp.replay("gradient", random_panel(0, 20), delay=v),
        lambda v: tp.Mean().fit(*_reports()).predict_proba([[x] * 4 for x in v]),
        lambda v: STREAM.predict_proba_one({"a": v[0], "b": v[1]}),
        lambda v: STREAM.learn_one({"a": 0.2, "b": 0.1}, v[0]),
    ],
    ids=["fit", "credit", "weights", "propensity", "cost", "matrix", "delay", "score", "report", "outcome"],
)  # fmt: skip
def test_values_that_are_no_numbers_are_refused_wherever_they_come_in(use, values):
    with pytest.raises(TruepoolError) as refusal:
        use(values)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize("name", ["ids", "groups", "times"])
def test_columns_of_different_lengths_are_refused(name):
    with pytest.raises(PanelError, match="one value per case|a time must be"):
        tp.Panel(*_reports(), **{name: RAGGED})


def test_a_number_without_separators_is_not_told_to_leave_them_out():
    with pytest.raises(CostError, match="Correct it, or leave the case out"):
        tp.Costs(fn=[10**400, 1])


def test_columns_of_a_frame_need_not_be_called_by_text():
    reports, outcomes = _reports()
    table = pd.DataFrame(np.c_[reports, outcomes], columns=[0, 1, ("a", 2), "b", "y"])
    assert tp.read_panel(table, outcome="y").agents == ("0", "1", "('a', 2)", "b")


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_a_seed_is_a_whole_number(seed):
    panel, many = random_panel(0, 20), random_panel(0, 20, agents=16)
    for use in (
        lambda: tp.compare(panel, pools=["mean"], seed=seed),
        lambda: tp.audit(panel, seed=seed),
        lambda: pools.make("boosted", seed=seed).fit_panel(panel),
        lambda: pools.make("vcg", seed=seed).fit_panel(panel),
        lambda: tp.credit.shapley(many, seed=seed),
        lambda: tp.credit.sample_shapley(many, seed=seed),
        lambda: tp.credit.leave_one_out(panel, removals=1, seed=seed),
        lambda: tp.credit.intervals(panel, seed=seed),
    ):
        with pytest.raises(SettingError, match="a seed must be a whole number"):
            use()


def test_a_seed_may_be_large():
    pool = pools.make("boosted", seed=2**32).fit_panel(random_panel(0, 30))
    assert np.isfinite(pool.predict_proba(random_panel(0, 30).reports)).all()


def test_small_seeds_stay_what_they_are():
    assert seeds.LIMIT == 2**32
    assert [seeds.short_seed(s) for s in (0, 7, 2**32 - 1)] == [0, 7, 2**32 - 1]
    assert seeds.short_seed(2**32) != seeds.short_seed(2**32 + 1)


@pytest.mark.parametrize("weight", [1e300, 1e16, 1e-200, 5e-324])
def test_extreme_weights_are_refused(weight):
    assert arrays.LARGEST_WEIGHT == 1e15
    for weights in (np.full(20, weight), np.r_[weight, np.ones(19)]):
        with pytest.raises(SettingError, match="must lie between 1e-15 and 1e.15"):
            tp.VCG().fit(*_reports(), sample_weight=weights)


@pytest.mark.parametrize("weight", [1e15, 1e-15])
def test_large_and_small_weights_are_taken(weight):
    for name in ("vcg", "platt", "isotonic", "shrunk", "stacked-lr", "ridge"):
        pool = pools.make(name).fit(*_reports(), sample_weight=np.full(20, weight))
        assert np.isfinite(pool.predict_proba(_reports()[0])).all(), name


def _reports():
    panel = random_panel(0, 20)
    return panel.reports, panel.outcomes


@pytest.mark.parametrize("cost", [1e308, 1e101, 1e-320])
def test_costs_whose_ratio_is_no_number_are_refused(cost):
    assert amounts.LARGEST_COST == 1e100
    for name in ("fn", "fp"):
        with pytest.raises(CostError, match=f"for {name}.*Express it in another unit"):
            tp.Costs(**{name: cost})
    assert 0 < tp.Costs(fn=1e100, fp=1e-100).threshold < 1


def test_an_error_of_the_system_is_one_line(truepool, tmp_path):
    code, out, err = truepool("audit", tmp_path / f"{'n' * 300}.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "File name too long" in err


@pytest.mark.parametrize("text", ["{", "[1]", json.dumps({"encoder": 3}), "3"])
def test_onnx_metadata_of_others_is_refused(text, monkeypatch):
    from truepool.agents import onnx

    meta = SimpleNamespace(custom_metadata_map={"truepool": text})
    session = SimpleNamespace(get_modelmeta=lambda: meta)
    monkeypatch.setattr(onnx, "open_session", lambda content, name: session)
    monkeypatch.setattr(onnx, "_ends", lambda session, name: (None, None))
    with pytest.raises(TruepoolError, match="must be what truepool agent export"):
        onnx.OnnxAgent(b"")
