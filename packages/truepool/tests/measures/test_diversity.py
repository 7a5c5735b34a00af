"""Correlation and disagreement against numpy, pandas and brute force."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import panels, random_panel
from scipy.special import expit, logit

from truepool.core import arrays
from truepool.core.errors import CostError, SettingError
from truepool.measures.decisions import choose
from truepool.measures.diversity import (
    correlation,
    disagreement,
    diversity,
    effective_agents,
    mean_over_pairs,
)
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.panel.weights import effective_number

ANY_PANEL = st.one_of(panels(), panels(classes=3))
NAN = float("nan")


# Correlation


@given(seed=st.integers(0, 1000), agents=st.integers(2, 7))
def test_without_missing_reports_it_is_numpys_corrcoef(seed, agents):
    panel = random_panel(seed, cases=30, agents=agents)
    assert_allclose(correlation(panel), np.corrcoef(panel.reports.T), atol=1e-13)


@given(seed=st.integers(0, 1000), silent=st.floats(0.05, 0.7))
def test_with_missing_reports_it_is_pandas_pairwise_complete_corr(seed, silent):
    panel = random_panel(seed, cases=25, silent=silent)
    frame = pd.DataFrame(panel.reports)
    assert_allclose(correlation(panel), frame.corr(min_periods=2), atol=1e-11)


def _brute(panel, i, j):
    """Pearson of two agents' reports as vectors over the classes."""
    both = ~np.isnan(panel.values[:, [i, j], 0]).any(axis=1)
    one, other = panel.values[both, i], panel.values[both, j]
    if not both.any():
        return np.nan
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    spread = min((one**2).sum(), (other**2).sum())
    if spread < 1e-20:  # nothing, or too little to say by hand
        return np.nan if spread < 1e-30 else None
    return (one * other).sum() / np.sqrt((one**2).sum() * (other**2).sum())


@given(ANY_PANEL)
def test_it_is_the_sum_over_classes_of_covariance_by_variance(panel):
    found = correlation(panel)
    for i in range(len(panel.agents)):
        for j in range(len(panel.agents)):
            wanted = _brute(panel, i, j)
            if wanted is not None:
                assert_allclose(found[i, j], wanted, atol=1e-6)


def test_two_classes_spelled_out_as_three_are_the_binary_case():
    panel = random_panel(3, silent=0.2)
    p = panel.reports
    three = np.stack([1 - p, p, np.where(np.isnan(p), np.nan, 0.0)], axis=2)
    many = Panel(three, panel.outcomes)
    assert_allclose(correlation(many), correlation(panel), atol=1e-12)
    assert_array_equal(disagreement(many), disagreement(panel))


def test_tiny_and_lopsided_reports_do_not_cancel():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(1000, 1)) + 0.5 * rng.normal(size=(1000, 3))
    faint = np.c_[
        0.5 + 1e-9 * base[:, 0], 0.999 + 1e-7 * base[:, 1], 1e-6 + 1e-8 * base[:, 2]
    ]
    panel = Panel(faint, rng.integers(0, 2, 1000))
    # The reports themselves are rounded to 1e-16, or 1e-7 of the faintest spread.
    assert_allclose(correlation(panel), np.corrcoef(base.T), atol=1e-6)


@pytest.mark.parametrize("silent", [0.0, 0.3])
def test_a_constant_agent_has_no_correlation(silent):
    panel = random_panel(1, silent=silent)
    reports = panel.reports.copy()
    reports[:, 2] = np.where(np.isnan(reports[:, 2]), np.nan, 0.1)
    found = correlation(Panel(reports, panel.outcomes))
    assert np.isnan(found[2]).all()
    assert np.isnan(found[:, 2]).all()
    block = np.ix_([0, 1, 3], [0, 1, 3])
    assert_allclose(found[block], correlation(panel)[block])


def test_agents_without_common_cases_cannot_be_compared():
    panel = Panel(
        [[0.1, NAN, 0.3], [0.8, NAN, 0.4], [NAN, 0.5, 0.6], [NAN, 0.9, 0.2]],
        [0, 1, 0, 1],
    )
    found = diversity(panel)
    assert np.isnan(found.correlation[0, 1])
    assert np.isnan(found.disagreement[0, 1])
    assert np.isfinite(found.mean_correlation)
    known = found.correlation[[0, 1], [2, 2]]
    assert_allclose(found.effective_agents, 3 / (1 + 2 * np.square(known).mean()))


def test_blocks_add_up(monkeypatch):
    for silent in (0.0, 0.3):
        panel = random_panel(1, cases=500, classes=3, silent=silent)
        whole = diversity(panel)
        monkeypatch.setattr(arrays, "BLOCK", 100)
        parts = diversity(panel)
        monkeypatch.undo()
        assert_allclose(parts.correlation, whole.correlation, atol=1e-12)
        assert_array_equal(parts.disagreement, whole.disagreement)


# Disagreement


@given(ANY_PANEL, st.sampled_from([Costs(), Costs(fn=5, fp=1)]))
def test_it_is_the_share_of_common_cases_decided_differently(panel, costs):
    found = disagreement(panel, costs=costs)
    assert_array_equal(np.diag(found), 0)
    spoke = ~np.isnan(panel.values[:, :, 0])
    for i, j in combinations(range(len(panel.agents)), 2):
        both = spoke[:, i] & spoke[:, j]
        one, other = (choose(panel.values[both, a], costs, None) for a in (i, j))
        share = (one != other).mean() if both.any() else np.nan
        assert_allclose(found[i, j], share, atol=1e-15)
        assert_allclose(found[j, i], share, atol=1e-15)


def test_where_agents_decide_matters():
    panel = Panel([[0.4, 0.6], [0.1, 0.2]], [1, 0])
    assert disagreement(panel)[0, 1] == 0.5
    assert disagreement(panel, threshold=0.3)[0, 1] == 0.0
    assert disagreement(panel, costs=Costs(fn=5.5, fp=1))[0, 1] == 0.5


def test_costs_and_thresholds_for_something_else_are_refused():
    with pytest.raises(SettingError, match="threshold"):
        disagreement(random_panel(), threshold=2.0)
    with pytest.raises(CostError, match="K = 2"):
        disagreement(random_panel(), costs=Costs(matrix=1 - np.eye(3)))


# How many they are


@given(seed=st.integers(0, 1000), agents=st.integers(2, 7))
def test_it_is_the_participation_ratio_of_the_eigenvalues(seed, agents):
    rho = correlation(random_panel(seed, cases=30, agents=agents))
    values = np.linalg.eigvalsh(rho)
    assert_allclose(effective_agents(rho), values.sum() ** 2 / (values**2).sum())


@pytest.mark.parametrize(("copies", "others"), [(1, 3), (3, 1), (4, 4)])
def test_copies_count_once_and_the_uncorrelated_each(copies, others):
    rho = np.eye(copies + others)
    rho[:copies, :copies] = 1.0
    N = copies + others
    assert_allclose(effective_agents(rho), N**2 / (copies**2 + others))


@given(rho=st.floats(0, 1), agents=st.integers(2, 30))
def test_equally_correlated_agents_have_a_closed_form(rho, agents):
    matrix = np.full((agents, agents), rho) + (1 - rho) * np.eye(agents)
    wanted = agents / (1 + (agents - 1) * rho**2)
    assert_allclose(effective_agents(matrix), wanted)
    assert_allclose(mean_over_pairs(matrix), rho)


def test_a_constant_agent_does_not_count():
    rho = np.array([[1.0, 0.0, NAN], [0.0, 1.0, NAN], [NAN, NAN, NAN]])
    assert effective_agents(rho) == 2.0
    assert mean_over_pairs(rho) == 0.0
    assert np.isnan(effective_agents(np.full((2, 2), NAN)))
    assert np.isnan(mean_over_pairs(np.full((2, 2), NAN)))


def test_equal_weights_on_copies_are_many_weights_and_one_agent():
    panel = random_panel(1, cases=200)
    panel = Panel(panel.reports[:, [0, 0, 0]], panel.outcomes)
    assert_allclose(effective_number(np.full(3, 1 / 3)), 3.0)
    assert_allclose(diversity(panel).effective_agents, 1.0)


def test_a_miscalibrated_agent_agrees_on_decisions_but_not_wholly_on_reports():
    panel = random_panel(1, cases=500)
    reports = panel.reports[:, [0, 0, 1]]
    reports[:, 1] = expit(logit(reports[:, 1]) / 0.4)
    found = diversity(Panel(reports, panel.outcomes))
    assert found.disagreement[0, 1] == 0.0
    assert 0.9 < found.correlation[0, 1] < 1.0


def test_its_representation():
    text = repr(diversity(random_panel(1)))
    assert text.startswith("Diversity(4 agents, mean correlation 0.")
    assert text.endswith(" effective)")
