"""k-LOO: leave-one-out credit from some removals per case, with a stated error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel

from truepool.core.errors import PanelError, SettingError
from truepool.measures.credit import leave_one_out, sample_removals
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports


def test_sampled_credit_is_unbiased_and_its_standard_errors_are_true():
    panel = random_panel(cases=60, agents=6, silent=0.3)
    exact = leave_one_out(panel)
    samples = [sample_removals(panel, 2, seed=seed) for seed in range(400)]
    credit = np.array([sample.credit for sample in samples])
    errors = samples[0].standard_errors
    assert_allclose(credit.std(axis=0), errors, rtol=0.2)
    assert (abs(credit.mean(axis=0) - exact) <= 4 * errors / np.sqrt(400)).all()


def test_with_as_many_removals_as_agents_credit_is_exact():
    panel = random_panel(agents=5, silent=0.2)
    weights = np.linspace(1.0, 2.0, len(panel))
    sampled = sample_removals(panel, 5, loss="log", sample_weight=weights)
    exact = leave_one_out(panel, loss="log", sample_weight=weights)
    assert_allclose(sampled.credit, exact, atol=1e-14)
    assert_allclose(sampled.standard_errors, 0.0)
    assert sampled.removals == 5


def test_there_must_be_a_removal():
    with pytest.raises(SettingError, match="removals must be at least 1; got 0"):
        sample_removals(random_panel(), 0)


def test_more_than_two_classes_are_refused_with_another_way():
    with pytest.raises(PanelError, match="of two classes; got 3. Use leave_one_out"):
        sample_removals(random_panel(0, classes=3), 1)


@pytest.mark.parametrize("removals", [1, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["brier", "log"])
def test_a_table_and_sparse_reports_have_one_formula(removals, weighted, loss):
    panel = random_panel(2, cases=80, agents=5, silent=0.4)
    cells = Panel(SparseReports.from_dense(panel.reports), panel.outcomes)
    given = {"sample_weight": np.linspace(1.0, 2.0, 80) if weighted else None}
    given |= {"removals": removals, "seed": 3, "loss": loss}
    assert cells.sparse is not None
    dense = leave_one_out(panel, **given)
    assert_allclose(leave_one_out(cells, **given), dense, rtol=0, atol=1e-14)


@pytest.mark.parametrize("silent", [0.0, 0.4])
def test_few_removals_are_right_on_average_whoever_reported(silent):
    panel = random_panel(4, cases=60, agents=5, silent=silent)
    draws = [leave_one_out(panel, removals=2, seed=seed) for seed in range(400)]
    error = np.std(draws, axis=0) / np.sqrt(len(draws))
    assert (abs(np.mean(draws, axis=0) - leave_one_out(panel)) <= 4 * error).all()
