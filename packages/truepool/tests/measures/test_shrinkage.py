"""Rare forecasters are shrunk towards the crowd."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from truepool import pools
from truepool.measures.losses import Loss, agent_losses
from truepool.measures.shrinkage import (
    comparable_losses,
    reports_are_rare,
    shrink_means,
)
from truepool.panel.panel import Panel
from truepool.panel.sparse import SparseReports


def cells_with(counts, cases):
    """Agents who reported on this many of the cases."""
    table = np.full((cases, len(counts)), np.nan)
    for i, count in enumerate(counts):
        table[:count, i] = 0.5
    return SparseReports.from_dense(table)


def test_who_reported_on_every_case_stays_where_it_is():
    cells = cells_with([30, 30, 30], 30)
    numbers = np.random.default_rng(0).random(90)
    means = cells.by_agent(numbers) / 30
    assert_allclose(shrink_means(cells, numbers), means, atol=1e-15)


def test_the_fewer_the_reports_the_nearer_to_the_crowd():
    rng = np.random.default_rng(1)
    counts = np.array([10, 40, 160, 640] * 25)
    cells = cells_with(counts, 1000)
    skill = rng.normal(0.0, 0.1, len(counts))
    numbers = skill[cells.agent] + rng.normal(0.0, 1.0, len(cells.values))
    raw = cells.by_agent(numbers) / counts
    shrunk = shrink_means(cells, numbers)
    error = [
        np.square(est - skill).reshape(-1, 4).mean(axis=0) for est in (raw, shrunk)
    ]
    assert (error[1] <= error[0]).all()
    assert error[1][0] < 0.3 * error[0][0]
    kept = (shrunk.std() / raw.std(), np.std(shrunk[3::4]) / np.std(raw[3::4]))
    assert kept[0] < kept[1]


def test_the_estimate_is_the_posterior_mean_of_the_random_effects_model():
    cells = cells_with([2, 2, 4], 8)
    numbers = np.array([0.0, 1.0, 5.0, 2.0, 1.0, 5.0, 5.0, 6.0])
    n, m = np.array([2, 2, 4]), cells.by_agent(numbers) / [2, 2, 4]
    within = np.square(numbers - m[cells.agent]).sum() / (8 - 3)
    apart = n @ (m - n @ m / 8) ** 2 - 2 * within
    between = max(0.0, apart / (8 - (n @ n) / 8))
    assert between > 0
    share = 1 / (between + within / n)
    crowd = share @ m / share.sum()
    factor = (between + within / 8) * share
    assert_allclose(shrink_means(cells, numbers), crowd + factor * (m - crowd))


def test_an_agent_without_a_report_has_no_estimate():
    assert np.isnan(shrink_means(cells_with([3, 0, 2], 4), np.arange(5.0))[1])


@pytest.mark.parametrize("counts", [[1, 1], [1, 0]])
def test_without_repeated_reports_nothing_is_known_of_their_spread(counts):
    cells = cells_with(counts, 3)
    numbers = np.arange(1.0, 1 + sum(counts))
    assert_allclose(shrink_means(cells, numbers)[0], 1.0)


def test_where_all_agree_there_is_nothing_to_shrink():
    assert_allclose(shrink_means(cells_with([2, 3], 9), np.ones(5)), 1.0)


def test_case_weights_count_as_repeated_cases():
    cells = cells_with([2, 2, 3], 5)
    numbers = np.array([0.0, 1.0, 5.0, 2.0, 1.0, 5.0, 3.0])
    once = shrink_means(cells, numbers)
    assert_allclose(shrink_means(cells, numbers, np.full(5, 7.0)), once)


def lucky_newcomer(filled):
    """Two hundred forecasters; the last one was right ten times in a row."""
    rng = np.random.default_rng(0)
    cases, agents = 2000, 200
    p = rng.uniform(0.1, 0.9, cases)
    outcomes = (rng.random(cases) < p).astype(np.int64)
    odds = np.log(p / (1 - p))[:, None] + rng.normal(0.0, 0.7, (cases, agents))
    table = 1 / (1 + np.exp(-odds))
    table[rng.random(table.shape) > filled] = np.nan
    table[:, -1] = np.nan
    table[:10, -1] = np.where(outcomes[:10] == 1, 0.999, 0.001)
    table[np.isnan(table).all(axis=1), 0] = 0.5
    return Panel(table, outcomes)


@pytest.mark.parametrize("filled", [0.05, 0.2, 0.4])
def test_ten_answers_do_not_earn_extreme_weights(filled):
    panel = lucky_newcomer(filled)
    assert reports_are_rare(panel)
    weights = pools.make("brier").fit_panel(panel).weights_
    assert weights[-1] < 2 * np.median(weights)
    fuller = Panel(panel.fill_missing().reports, panel.outcomes)
    assert not reports_are_rare(fuller)
    alone = np.nanmean((panel.reports[:, -1] - panel.outcomes) ** 2)
    crowd = np.nanmean((panel.reports[:, :-1] - panel.outcomes[:, None]) ** 2)
    assert crowd / alone > 1000  # what its weight would be, to that of the others
    credited = pools.make("vcg").fit_panel(panel).weights_
    assert credited[-1] < 3 * np.median(credited[credited > 0])


@pytest.mark.parametrize("filled", [0.05, 0.2, 0.4])
def test_a_lucky_newcomer_is_not_the_best_agent(filled):
    panel = lucky_newcomer(filled)
    assert np.argmin(agent_losses(panel, Loss("brier"))) == 199
    assert pools.make("best-agent").fit_panel(panel).weights_[-1] == 0.0


def easy_and_hard(agents=8):
    """Half of 600 cases are easy; the first agent saw those, the second is better."""
    rng = np.random.default_rng(3)
    cases = np.arange(600)
    p = np.where(cases < 300, rng.choice([0.03, 0.97], 600), 0.5)
    outcomes = (rng.random(600) < p).astype(np.int64)
    table = np.clip(p[:, None] + rng.normal(0.0, 0.15, (600, agents)), 0.01, 0.99)
    table[rng.random(table.shape) > 0.3] = np.nan
    table[:, 0] = np.where(cases < 150, np.clip(p + 0.1, 0, 1), np.nan)
    table[:, 1] = np.where(cases >= 300, 0.5 + 0.3 * (outcomes - 0.5), np.nan)
    table[:, -1] = np.where(np.isnan(table).all(axis=1), 0.5, table[:, -1])
    return Panel(table, outcomes)


def test_who_reported_on_easy_cases_is_not_the_best_for_that():
    panel, loss = easy_and_hard(), Loss("brier")
    assert reports_are_rare(panel)
    assert np.argmin(agent_losses(panel, loss)) == 0
    assert np.argmin(comparable_losses(panel, loss)) == 1


def test_where_most_cells_are_filled_the_best_agent_has_the_lowest_mean_loss():
    panel = Panel(easy_and_hard().fill_missing().reports, easy_and_hard().outcomes)
    loss = Loss("brier")
    assert (comparable_losses(panel, loss) == agent_losses(panel, loss)).all()


def test_either_layout_has_the_same_comparable_losses():
    panel = easy_and_hard()
    cells = Panel(SparseReports.from_dense(panel.reports), panel.outcomes)
    assert cells.sparse is not None
    ours, theirs = (comparable_losses(one, Loss("brier")) for one in (panel, cells))
    assert_allclose(ours, theirs)
