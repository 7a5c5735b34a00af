"""Crowds are read from the published file, and their votes say more than their share."""

import numpy as np
import pytest
from dataset_requirements import needs

from truepool import datasets
from truepool.core.errors import SourceError
from truepool.pools.crowd import Crowd
from truepool.pools.mean import Mean
from truepool_jury.datasets.crowds import read_arrays


def test_a_file_with_other_arrays_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", y=[1])
    with pytest.raises(SourceError, match="with the arrays votes, y; it holds"):
        read_arrays(tmp_path / "other.npz", ("votes", "y"))


def test_nothing_in_a_file_can_run_code(tmp_path):
    np.savez(tmp_path / "pickled.npz", y=np.array([{}], dtype=object))
    with pytest.raises(SourceError, match="must be the published file"):
        read_arrays(tmp_path / "pickled.npz", ("y",))


@pytest.mark.data
@needs("product-crowd", "duck-crowd")
@pytest.mark.parametrize(
    ("name", "mean", "crowd"),
    [("product-crowd", 0.0922, 0.057), ("duck-crowd", 0.1638, 0.108)],
)
def test_on_real_crowds_it_beats_the_share_of_the_votes(name, mean, crowd):
    panel = datasets.load(name)
    assert brier(Mean().fit_panel(panel), panel.reports, panel.outcomes) == (
        pytest.approx(mean, abs=5e-5)
    )
    fitted = Crowd().fit_panel(panel)
    assert brier(fitted, panel.reports, panel.outcomes) < crowd


def brier(pool, reports, outcomes):
    return np.mean((pool.predict_proba(reports)[:, 1] - outcomes) ** 2)
