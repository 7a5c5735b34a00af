"""Export to ONNX: what the file says, settings that change a formula, refusals."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.testing import assert_allclose
from panels import random_panel, rounded_panel
from scipy.special import betainc
from sklearn.exceptions import NotFittedError

import truepool as tp
from truepool import pools
from truepool.agents.onnx import OnnxAgent
from truepool.core.errors import ExportError, SourceError
from truepool.panel.panel import Panel
from truepool.pools import boosted
from truepool.pools.beta import Beta
from truepool.pools.boosted import Boosted
from truepool.pools.extremized import Extremized
from truepool.pools.interface import FixedPool
from truepool.pools.isotonic import Isotonic
from truepool.pools.mean import Mean
from truepool.pools.onnx import export
from truepool.pools.platt import Platt
from truepool.pools.ridge import Ridge
from truepool.pools.stacked_lr import StackedLR
from truepool.pools.trimmed import Trimmed
from truepool.pools.vote import Vote

PANEL = random_panel(1, agents=5, silent=0.2)


class Own(FixedPool):
    name = "own"

    def combine(self, values):
        return np.nanmean(values, axis=1)


class Middle(FixedPool):
    name = "middle"

    def combine(self, values):
        return np.nanmedian(values, axis=1)


class Branching(FixedPool):
    name = "branching"

    def combine(self, values):
        return Own().combine(values) if (values > 0.5).any(axis=1) else values[:, 0]


def run(path, reports):
    (pooled,) = onnxruntime.InferenceSession(path).run(None, {"reports": reports})
    return pooled


@pytest.mark.parametrize(
    "pool",
    [
        Extremized(factor="neyman-roughgarden", base=Platt(base="vcg")),
        Extremized(factor=1.7),
        Ridge(scale="reports"),
        Trimmed(alpha=0.4),
        Trimmed(alpha=0.0),
        Vote(threshold=0.2),
    ],
    ids=repr,
)
def test_settings_that_change_the_formula_are_exported(pool, tmp_path):
    pool.fit_panel(PANEL)
    assert pools.export(pool, tmp_path / "x.onnx").gap < 1e-13
    new = random_panel(2, agents=5, silent=0.5).reports
    assert_allclose(run(tmp_path / "x.onnx", new), pool.predict_proba(new), atol=1e-13)


def test_a_vote_over_classes_at_unequal_costs_is_exported(tmp_path):
    panel = random_panel(3, agents=5, classes=4, silent=0.2)
    matrix = np.array([[0, 1, 2, 3], [5, 0, 1, 1], [1, 1, 0, 9], [1, 1, 1, 0]])
    pool = Vote(costs=tp.Costs(matrix=matrix)).fit_panel(panel)
    assert pools.export(pool, tmp_path / "x.onnx").gap < 1e-15


@pytest.mark.parametrize("make", [StackedLR, Boosted])
def test_a_class_that_never_happened_keeps_probability_zero(make, tmp_path):
    reports = random_panel(3, cases=120, classes=4).reports
    outcomes = np.arange(120) % 3
    pool = make().fit(reports, outcomes)
    pools.export(pool, tmp_path / "x.onnx")
    assert (run(tmp_path / "x.onnx", reports)[:, 3] == 0).all()


def test_a_curve_of_one_corner_is_a_constant(tmp_path):
    pool = Isotonic().fit_panel(PANEL)
    pool.curves_ = (np.array([[0.5], [0.3]]),)
    pools.export(pool, tmp_path / "x.onnx")
    assert_allclose(run(tmp_path / "x.onnx", PANEL.reports)[:, 1], 0.3)


def test_two_agents_and_fifty_agents_are_exported(tmp_path):
    for agents in (2, 50):
        for make in (Beta, Boosted):
            pool = make().fit_panel(random_panel(4, agents=agents, silent=0.3))
            assert pools.export(pool, tmp_path / "x.onnx").gap < 1e-13


@pytest.mark.parametrize("a", [1e-3, 0.4, 7.0, 1096.0])
@pytest.mark.parametrize("b", [1.0, 1096.0])
def test_the_incomplete_beta_function_is_that_of_scipy(a, b, tmp_path):
    pool = Beta().fit([[0.9, 0.6], [0.2, 0.4], [0.7, 0.9], [0.3, 0.1]] * 3, [1, 0] * 6)
    pool.shape_ = np.array([[a, b]])
    pools.export(pool, tmp_path / "x.onnx")
    p = np.r_[0.0, np.logspace(-12, -0.01, 200), 1 - np.logspace(-12, -2, 200), 1.0]
    pooled = run(tmp_path / "x.onnx", np.column_stack([p, p]))[:, 1]
    expected = np.clip(betainc(a, b, p), 1e-12, 1 - 1e-12)
    assert_allclose(pooled, expected, rtol=0, atol=5e-12)


def test_the_file_documents_itself(tmp_path):
    labels = np.array(["ok", "fraud"])[PANEL.outcomes]
    panel = Panel(PANEL.reports, labels, tuple("abcde"), positive="fraud")
    pool = Mean(costs=tp.Costs(fn=9, fp=1)).fit_panel(panel)
    pools.export(pool, tmp_path / "x.onnx")
    model = onnx.load(tmp_path / "x.onnx")
    onnx.checker.check_model(model, full_check=True)
    known = {prop.key: json.loads(prop.value) for prop in model.metadata_props}
    assert known == {
        "truepool-pool": {
            "pool": "mean",
            "agents": ["a", "b", "c", "d", "e"],
            "classes": ["ok", "fraud"],
            "positive": "fraud",
            "ends": {},
            "threshold": 0.1,
            "truepool": tp.__version__,
        }
    }
    assert model.producer_name == "truepool"


@pytest.mark.parametrize("make", [Vote, Mean])
def test_costs_of_each_case_leave_the_threshold_to_the_user(make, tmp_path):
    columns = {"amount": np.linspace(1, 50, len(PANEL))}
    pool = make(costs=tp.Costs(fn="amount", fp=5))
    pool.fit(PANEL.reports, PANEL.outcomes, columns=columns)
    assert pools.export(pool, tmp_path / "x.onnx").gap < 1e-15
    assert export.metadata(pool)["threshold"] is None


def test_an_exported_pool_can_be_an_agent(tmp_path):
    pool = Mean().fit_panel(PANEL)
    pools.export(pool, tmp_path / "crowd.onnx")
    agent = OnnxAgent(tmp_path / "crowd.onnx")
    assert_allclose(
        agent.predict_proba(PANEL.reports), pool.predict_proba(PANEL.reports)
    )


def test_a_pool_of_ones_own_is_exported_by_its_combine(tmp_path):
    pool = Own().fit_panel(PANEL)
    assert pools.export(pool, tmp_path / "x.onnx").gap < 1e-15
    wrapped = Platt(base=pool).fit_panel(PANEL)
    assert pools.export(wrapped, tmp_path / "y.onnx").gap < 1e-13


@pytest.mark.parametrize(
    ("pool", "reason"),
    [
        (Middle(), "'middle' does not: numpy.nanmedian cannot be recorded .* nanmax,"),
        (Branching(), "'branching' does not: a formula must not branch on"),
        (Platt(base=Middle()), "'platt' does not: numpy.nanmedian cannot be recorded"),
    ],
    ids=["function", "branch", "inside"],
)
def test_a_formula_that_a_graph_cannot_hold_is_refused(pool, reason, tmp_path):
    with pytest.raises(ExportError, match=reason):
        pools.export(pool.fit_panel(PANEL), tmp_path / "x.onnx")
    assert not list(tmp_path.iterdir())


def test_an_export_that_differs_is_not_written(tmp_path):
    class Other(Own):
        def to_onnx(self, values):
            return np.nanmax(values, axis=1)

    with pytest.raises(ExportError, match="differs by up to .* in .* of 2,000 cases"):
        pools.export(Other().fit_panel(PANEL), tmp_path / "x.onnx")
    assert not list(tmp_path.iterdir())


def test_an_unfitted_pool_and_another_suffix_are_refused(tmp_path):
    with pytest.raises(NotFittedError):
        pools.export(Mean(), tmp_path / "x.onnx")
    with pytest.raises(SourceError, match="must end in .onnx"):
        pools.export(Mean().fit_panel(PANEL), tmp_path / "x.pool")


def test_the_probes_hold_certain_tied_and_missing_reports():
    reports = export.random_reports(4, 2)
    assert reports.shape == (1000, 4)
    assert ((reports == 0) | (reports == 1)).any(axis=1).sum() > 50
    assert (reports == 0.5).all(axis=1).sum() == 0
    missing = np.isnan(reports)
    assert 0.4 < missing.any(axis=1).mean() < 0.8
    assert not missing.all(axis=1).any()
    assert (missing.sum(axis=1) == 3).sum() > 50


@pytest.mark.parametrize("classes", [2, 4])
def test_the_probes_hold_rounded_reports_and_those_at_which_a_pool_jumps(classes):
    reports = export.rounded_reports(3, classes, np.array([0.4751]))
    assert len(reports) == 1000
    assert np.isclose(reports[:500], 0.4751).any()
    rounded = reports[500:][~np.isnan(reports[500:])] * 1000
    assert np.isclose(rounded, np.rint(rounded)).mean() > 0.5


def test_an_export_of_trees_whose_cuts_lie_on_reports_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(boosted, "CUT_MARGIN", 0.0)
    pool = Boosted().fit_panel(rounded_panel(4))
    with pytest.raises(ExportError, match="Fit the pool again if an earlier version"):
        pools.export(pool, tmp_path / "y.onnx")


@pytest.mark.parametrize("make", [Boosted, tp.Auto])
def test_an_export_pools_rounded_reports_alike(make, tmp_path):
    panel = rounded_panel(4)
    pool = make().fit_panel(panel)
    pools.export(pool, tmp_path / "x.onnx")
    pooled = run(tmp_path / "x.onnx", panel.reports)
    assert_allclose(pooled, pool.predict_proba(panel.reports), rtol=0, atol=1e-13)
