"""Export to ONNX of settings that change a formula, and of few and many agents."""

import pytest
from numpy.testing import assert_allclose
from panels import random_panel

from truepool import pools
from truepool_lab.pools.confidence import Confidence
from truepool_lab.pools.krum import Krum

onnxruntime = pytest.importorskip("onnxruntime", reason="export needs truepool[onnx]")


def test_settings_that_change_the_formula_are_exported(tmp_path):
    pool = Krum(hostile=1).fit_panel(random_panel(1, agents=5, silent=0.2))
    assert pools.export(pool, tmp_path / "x.onnx").gap < 1e-13
    new = random_panel(2, agents=5, silent=0.5).reports
    session = onnxruntime.InferenceSession(tmp_path / "x.onnx")
    (pooled,) = session.run(None, {"reports": new})
    assert_allclose(pooled, pool.predict_proba(new), atol=1e-13)


@pytest.mark.parametrize("agents", [2, 50])
@pytest.mark.parametrize("make", [Confidence, Krum])
def test_two_agents_and_fifty_agents_are_exported(make, agents, tmp_path):
    pool = make().fit_panel(random_panel(4, agents=agents, silent=0.3))
    assert pools.export(pool, tmp_path / "x.onnx").gap < 1e-13
