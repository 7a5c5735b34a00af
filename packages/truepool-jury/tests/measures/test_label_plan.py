"""Which cases to label next."""

import numpy as np
import pytest

from truepool.core.errors import SettingError
from truepool_jury.measures import label_plan
from truepool_jury.measures.label_plan import plan_labels


def pooled(cases=1000):
    return np.random.default_rng(0).beta(0.4, 1.2, cases)


def test_the_weighted_rate_is_unbiased_over_plans():
    p = pooled()
    y = np.random.default_rng(1).random(len(p)) < p**0.5  # the pool is far off
    rates = []
    for seed in range(400):
        plan = plan_labels(p, 60, seed=seed)
        rates.append(np.average(y[plan.cases], weights=plan.weights))
    error = np.std(rates) / 20
    assert abs(np.mean(rates) - y.mean()) < 3 * error


def test_it_is_sharper_than_a_plain_sample_where_the_pool_knows_something():
    p = pooled()
    rng = np.random.default_rng(1)
    y = rng.random(len(p)) < p
    planned, plain = [], []
    for seed in range(300):
        plan = plan_labels(p, 60, seed=seed)
        planned.append(np.average(y[plan.cases], weights=plan.weights))
        plain.append(y[rng.choice(len(p), 60, replace=False)].mean())
    assert np.var(planned) < 0.75 * np.var(plain)


@pytest.mark.parametrize("budget", [2, 7, 60, 999, 1000])
def test_no_case_is_labelled_twice_and_the_weights_count_all_cases(budget):
    plan = plan_labels(pooled(), budget)
    assert len(set(plan.cases)) == len(plan.cases) == budget
    assert plan.weights.sum() == pytest.approx(1000)


def test_less_sure_parts_get_more_labels_and_every_part_some():
    plan = plan_labels(pooled(), 100)
    counts = np.bincount(plan.strata, minlength=label_plan.STRATA)
    assert counts.min() >= label_plan.MIN_PER_STRATUM
    assert counts[-1] > 2 * counts[0]


def test_equal_probabilities_are_drawn_from_the_whole_table():
    plan = plan_labels([0.3] * 1000, 200)
    assert plan.cases.min() < 50
    assert plan.cases.max() > 950
    assert abs(plan.cases.mean() - 500) < 80


@pytest.mark.parametrize(
    ("budget", "message"),
    [(1, "at least 2 cases must be labelled; got a budget of 1"),
     (5, "at most all 4 cases can be labelled; got a budget of 5")],
)  # fmt: skip
def test_budgets_that_make_no_sense_are_refused(budget, message):
    with pytest.raises(SettingError, match=message):
        plan_labels([0.1, 0.2, 0.3, 0.4], budget)
