"""Cases decided without a person, with a guarantee; and those for a person."""

from math import ceil

import numpy as np
import pytest
from scipy.stats import binomtest

from truepool.core.errors import SettingError
from truepool.panel.costs import Costs
from truepool_jury.measures.automation import (
    MIN_FORECAST,
    certify,
    error_bound,
    expected_decision_cost,
    labels_needed,
    review_order,
)


def crowd(seed, cases=2000):
    """A pool that is right in five of six cases, and too sure of itself."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, cases)
    evidence = rng.normal((2 * truth - 1) * 1.0, 1.0)
    return 1 / (1 + np.exp(-4 * evidence)), truth, rng


def test_more_errors_than_promised_are_as_rare_as_promised():
    broken, shares = 0, []
    for seed in range(200):
        p, truth, rng = crowd(seed)
        which = rng.choice(len(p), 200, replace=False)
        found = certify(p, which, truth[which], max_error=0.1, confidence=0.9)
        wrong = (p > 0.5) != truth
        if found.automatic.any():
            broken += wrong[found.automatic].mean() > 0.1
        shares.append(found.share)
    # One in ten is allowed; the chance of 33 or more of 200 would be below 0.5 %.
    assert broken < 33
    assert np.mean(shares) > 0.2


def test_trusting_the_pool_breaks_the_promise_that_the_certificate_keeps():
    p, truth, _ = crowd(0)
    assert np.minimum(p, 1 - p).mean() < 0.1  # as the pool sees it, all may be decided
    assert ((p > 0.5) != truth).mean() > 0.15


def test_more_labels_automate_more():
    p, truth, rng = crowd(0, 20_000)
    order = rng.permutation(len(p))
    shares = [certify(p, order[:n], truth[order[:n]]).share for n in (10, 500, 5000)]
    assert shares[0] == 0.0 < shares[1] <= shares[2]


def test_the_bound_is_that_of_clopper_and_pearson():
    for errors, labels in [(0, 10), (3, 50), (10, 11)]:
        exact = binomtest(errors, labels).proportion_ci(0.8, method="exact").high
        assert error_bound(errors, labels, 0.9) == pytest.approx(exact)
    assert error_bound(4, 4) == error_bound(0, 0) == 1.0


@pytest.mark.parametrize(("max_error", "least"), [(0.1, 22), (0.05, 45), (0.01, 230)])
def test_labels_without_an_error_that_a_certificate_needs(max_error, least):
    assert labels_needed(0.0, max_error=max_error) == least
    assert error_bound(0, least) <= max_error < error_bound(0, least - 1)


@pytest.mark.parametrize("rate", [0.0, 0.01, 2 / 39, 0.05, 0.08])
def test_labels_needed_are_enough_and_so_are_more(rate):
    needed = labels_needed(rate)
    enough = [
        error_bound(ceil(rate * n), n) <= 0.1 for n in range(needed - 1, needed + 800)
    ]
    assert enough == [False] + [True] * 800


def test_labels_needed_are_enough_and_none_can_be():
    needed = labels_needed(0.08)
    assert error_bound(int(np.ceil(0.08 * needed)), needed) <= 0.1
    assert labels_needed(0.1) is None
    assert labels_needed(0.0999999) is None


def test_too_few_labels_automate_nothing_and_say_how_many_would():
    p, truth, _ = crowd(0)
    found = certify(p, range(10), truth[:10], max_error=0.1)
    assert found.share == 0.0
    assert found.bound is None
    assert not found.automatic.any()
    # Nothing is known yet of the share of errors there: 22 labels without one.
    assert (found.outlook, found.labels_needed, found.forecast) == ("unknown", 44, ())


def halves(errors, labels, cases=1000):
    """Half of the cases are sure; so many labels fall there, with so many errors."""
    p = np.r_[np.full(cases // 2, 0.99), np.full(cases // 2, 0.51)]
    return certify(p, range(labels), [0] * errors + [1] * (labels - errors))


@pytest.mark.parametrize(
    ("errors", "labels", "outlook"),
    [(2, 19, "unknown"), (3, 22, "unknown"), (6, 22, "unlikely"), (2, 30, "possible")],
)
def test_more_labels_are_called_useless_only_where_that_is_shown(
    errors, labels, outlook
):
    found = halves(errors, labels)
    assert found.outlook == outlook
    lowest = binomtest(errors, labels).proportion_ci(0.8, method="exact").low
    assert (outlook == "unlikely") == (lowest > 0.1)
    assert (found.labels_needed is not None) == (labels == 19 or outlook == "possible")
    assert bool(found.forecast) == (labels >= MIN_FORECAST)


def test_no_more_labels_are_asked_for_than_there_are_cases():
    wide, narrow = halves(2, 30), halves(2, 30, cases=100)
    assert 100 < wide.labels_needed <= 1000
    assert (narrow.outlook, narrow.labels_needed) == ("beyond", None)
    few = certify([0.9] * 15 + [0.6] * 15, [0], [1])
    assert (few.outlook, few.labels_needed) == ("beyond", None)


def test_the_forecast_is_what_such_labels_would_certify():
    p, truth, rng = crowd(1, 20_000)
    order = rng.permutation(len(p))
    # The crowd errs too often for more than a few tenths beyond the surest half.
    now = certify(p, order[:200], truth[order[:200]])
    labels = [one.labels for one in now.forecast]
    assert labels == [500, 1000, 2000, 5000, 10_000]
    shares = [one.share for one in now.forecast]
    assert all(share >= now.share for share in shares)
    later = [certify(p, order[:n], truth[order[:n]]).share for n in labels]
    # 200 labels know the share of errors to 2 or 3 points: three steps of 5 %.
    np.testing.assert_allclose(shares, later, atol=0.15)
    assert halves(2, 30, cases=400).forecast[-1].labels <= 400


def test_unequal_costs_certify_what_they_decide():
    p = np.r_[np.full(60, 0.95), np.full(40, 0.2)]
    truth = [1] * 60 + [0] * 40
    found = certify(p, range(100), truth, costs=Costs(fn=10, fp=1))
    assert found.decisions.all()
    assert found.automatic.tolist() == [True] * 60 + [False] * 40
    equal = certify(p, range(100), truth)
    assert equal.decisions.tolist() == truth
    assert equal.automatic.all()


def test_cases_go_to_a_person_by_expected_cost():
    rng = np.random.default_rng(0)
    p = rng.random(50)
    costs = Costs(fn=rng.uniform(1, 100, 50), fp=5)
    brute = np.minimum(p * costs.fn, (1 - p) * 5)
    np.testing.assert_allclose(expected_decision_cost(p, costs), brute)
    assert (np.diff(brute[review_order(p, costs)]) <= 0).all()


def test_of_several_classes_the_surest_go_last():
    p = [[0.4, 0.3, 0.3], [0.9, 0.05, 0.05], [0.1, 0.8, 0.1]]
    assert review_order(p).tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_error": 0.0}, "max_error must lie between 0 and 1; got 0.0"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1; got 1.0"),
    ],
)
def test_shares_outside_the_unit_interval_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        certify([0.1, 0.9], [0], [0], **settings)


def test_a_label_for_every_labelled_case():
    with pytest.raises(SettingError, match="got 2 cases and 1 labels"):
        certify([0.1, 0.9], [0, 1], [0])
