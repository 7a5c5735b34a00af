"""Every pool as ONNX: it pools alike in onnxruntime."""

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_allclose
from panels import random_panel

import truepool as tp
from truepool import pools
from truepool.pools.onnx.export import REPORTS, TOLERANCE

QUICK = {
    name: {"epochs": 5, "rate": 0.02}
    for name, cls in pools.every().items()
    if "epochs" in cls.settings()
}
"""What is exported need not be good; it must not be what training started from."""


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", list(pools.every()))
def test_an_export_pools_as_the_pool_does(name, classes, tmp_path):
    pool = pools.make(name, costs=tp.Costs(fn=3), **QUICK.get(name, {}))
    pool.fit_panel(random_panel(1, cases=90, classes=classes, silent=0.2))
    path = tmp_path / "x.onnx"
    found = pools.export(pool, path)
    assert found.gap <= TOLERANCE
    session = onnxruntime.InferenceSession(path)
    new = random_panel(2, cases=60, classes=classes, silent=0.4).reports
    (pooled,) = session.run(None, {REPORTS: new})
    assert_allclose(pooled, pool.predict_proba(new), rtol=0, atol=TOLERANCE)
    (nobody,) = session.run(None, {REPORTS: np.full_like(new[:1], np.nan)})
    assert np.isnan(nobody).all()
