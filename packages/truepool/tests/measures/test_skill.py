"""Skill within segments: its value, and the error that its influences give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ttest_1samp
from sklearn.metrics import roc_auc_score

from truepool.measures.skill import Contrast, SegmentedCases, auc_skill, brier_skill

EVERY = np.array([True])


def sample(cases=400, seed=0, classes=2, segments=1):
    rng = np.random.default_rng(seed)
    signal = rng.normal(0, 1, cases)
    chance = 1 / (1 + np.exp(1.5 - 1.5 * signal))
    outcomes = (rng.random(cases) < chance).astype(int)
    if classes > 2:
        outcomes = rng.integers(0, classes, cases)
    where = rng.integers(0, segments, cases)
    whole = SegmentedCases(
        outcomes, np.ones(cases), np.arange(cases), where, segments, classes
    )
    return np.round(chance, 2), whole


def weighted(cases, weights):
    return SegmentedCases(
        cases.outcomes,
        weights,
        cases.unit,
        cases.segment,
        cases.segments,
        cases.classes,
    )


def test_the_area_is_that_of_scikit_learn_with_ties_and_weights():
    reports, cases = sample()
    weights = np.random.default_rng(1).uniform(0.5, 2, 400)
    area = roc_auc_score(cases.outcomes, reports, sample_weight=weights)
    assert_allclose(auc_skill(reports, weighted(cases, weights)).values, [area])


@pytest.mark.parametrize("classes", [2, 3])
def test_the_base_rate_has_no_brier_skill_and_the_truth_has_all(classes):
    _, cases = sample(classes=classes)
    rates = np.bincount(cases.outcomes, minlength=classes) / 400
    scale = 0.5 if classes == 2 else 1.0
    truth = np.eye(classes)[cases.outcomes]
    lost = scale * np.square(rates - truth).sum(axis=1)
    assert_allclose(brier_skill(lost, cases).values, [0.0], atol=1e-12)
    assert_allclose(brier_skill(np.zeros(400), cases).values, [1.0])


@pytest.mark.parametrize("measure", ["auc", "brier", "three classes"])
def test_an_influence_is_the_derivative_by_the_weight_of_a_case(measure):
    reports, cases = sample(classes=3 if measure == "three classes" else 2)
    series = np.square(reports - cases.outcomes % 2) if measure != "auc" else reports
    skill = auc_skill if measure == "auc" else brier_skill
    found, step = skill(series, cases), 1e-6
    for t in (0, 7, 123):
        weights = np.ones(400)
        weights[t] += step
        moved = skill(series, weighted(cases, weights)).values[0]
        change = (moved - found.values[0]) / step
        assert_allclose(change, found.influence[t], rtol=1e-4, atol=1e-8)


def test_the_error_is_that_of_independent_samples():
    """The spread of the area over 400 samples is known to 1 / sqrt(800), 4 %."""
    found = [auc_skill(*sample(seed=seed)).mean(EVERY) for seed in range(400)]
    spread = np.std([one.value for one in found])
    assert_allclose(np.mean([one.error for one in found]), spread, rtol=0.12)


def test_an_area_of_one_is_not_certain():
    outcomes = np.repeat([0, 1], [100, 5])
    cases = SegmentedCases(
        outcomes, np.ones(105), np.arange(105), np.zeros(105, dtype=int), 1
    )
    found = auc_skill(outcomes.astype(float), cases).mean(EVERY)
    assert found.value == 1.0
    assert found.error > 0.05


def test_cases_of_one_unit_count_together():
    reports, cases = sample()
    copies = np.repeat(np.arange(400), 3)
    alone = auc_skill(reports, cases).mean(EVERY)
    together = auc_skill(reports[copies], cases.take(copies)).mean(EVERY)
    assert_allclose([together.value, together.error], [alone.value, alone.error])


def test_a_contrast_is_the_segment_minus_the_mean_of_the_others():
    reports, cases = sample(cases=2000, segments=3)
    skill = auc_skill(reports, cases)
    gap = skill.contrast(np.array([True, False, False]))
    others = skill.mass[1:] / skill.mass[1:].sum()
    assert_allclose(gap.value, skill.values[0] - others @ skill.values[1:])
    parts = [skill.mean(np.arange(3) == g).error for g in range(3)]
    assert_allclose(gap.error, np.hypot(parts[0], np.hypot(*(others * parts[1:]))))


def test_a_segment_of_one_class_has_no_skill_and_no_mass():
    reports, cases = sample(segments=2)
    cases.outcomes[cases.segment == 1] = 0
    for skill in (auc_skill(reports, cases), brier_skill(reports, cases)):
        assert np.isnan(skill.values[1])
        assert skill.mass[1] == 0
        assert np.isnan(skill.mean(np.array([False, True])).value)


def test_many_equal_units_give_the_t_test_of_a_mean():
    series = np.random.default_rng(0).choice([-1.0, 1.0], 200) + 0.2
    mean, apart = series.mean(), series - series.mean()
    gap = Contrast(float(mean), apart / 200, np.arange(200))
    expected = ttest_1samp(series, 0, alternative="greater").pvalue
    assert_allclose(gap.p_value(1), expected, rtol=0.05)  # 199 or 200 in the variance
    assert_allclose(gap.p_value(1) + gap.p_value(-1), 1)


def test_a_difference_without_any_spread_is_certain():
    none = np.zeros(5)
    one, zero = (Contrast(value, none, np.arange(5)) for value in (1.0, 0.0))
    assert (one.p_value(1), one.p_value(-1), zero.p_value(1)) == (0.0, 1.0, 1.0)
