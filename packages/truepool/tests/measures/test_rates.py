"""The true rate from a few labels and many predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from truepool.core.errors import SettingError
from truepool.measures.inference import rates
from truepool.measures.inference.rates import estimate_class_rate, estimate_rate

M = [1, 0, 1, 1, 0, 0, 1, 0, 0, 0]
F = [0.9, 0.2, 0.7, 0.6, 0.1, 0.4, 0.8, 0.3, 0.2, 0.1]
OTHERS = [0.9, 0.8, 0.1, 0.2, 0.3, 0.6, 0.7, 0.1, 0.05, 0.4] * 10
LEVEL = 2 * ndtr(1.96) - 1


def test_the_values_of_the_study():
    rate = estimate_rate(M, F, OTHERS, level=LEVEL)
    assert rate.trust == 1.0
    assert rate.low == pytest.approx(0.219845, abs=1e-6)
    assert rate.high == pytest.approx(0.615869, abs=1e-6)


def test_without_pseudo_labels_it_is_plain_prediction_powered_inference(monkeypatch):
    monkeypatch.setattr(rates, "PSEUDO_LABELS", 0.0)
    rate = estimate_rate(M, F, OTHERS, level=LEVEL)
    assert rate.low == pytest.approx(0.209457, abs=1e-6)
    assert rate.high == pytest.approx(0.560543, abs=1e-6)


def test_labels_alone_give_the_interval_of_agresti_and_coull():
    rate = estimate_rate(M, F, level=LEVEL)
    centre = (4 + 2) / (10 + 4)
    reach = 1.96 * np.sqrt(centre * (1 - centre) / 14)
    assert rate.trust == 0.0
    assert rate.estimate == pytest.approx(4 / 10)  # pseudo-labels do not move it
    assert (rate.low + rate.high) / 2 == pytest.approx(centre)
    # The sample variance divides by one label less.
    assert rate.high - centre == pytest.approx(reach * np.sqrt(14 / 13), rel=0.01)


def simulate(seed, labels, prevalence, informative):
    rng = np.random.default_rng(seed)
    y = rng.random(3000) < prevalence
    noise = rng.normal(size=3000)
    score = (2 * y - 1) * (1.0 if informative else 0.0) + noise + 0.8  # biased upwards
    f = 1 / (1 + np.exp(-1.5 * score))
    return y[:labels], f[:labels], f[labels:], y


@pytest.mark.parametrize(
    ("labels", "prevalence"),
    [(20, 0.6), (50, 0.3), (200, 0.3), (50, 0.02), (200, 0.02)],
)
def test_the_interval_covers_the_true_rate(labels, prevalence):
    covered = 0
    for seed in range(400):
        m, f, others, _ = simulate(seed, labels, prevalence, informative=True)
        rate = estimate_rate(m, f, others)
        covered += rate.low <= prevalence <= rate.high
    # 93 % of 400: two standard errors below 95 %.
    assert covered >= 372


def test_the_mean_of_the_pool_alone_is_far_off_where_the_interval_is_not():
    m, f, others, y = simulate(0, 50, 0.3, informative=True)
    rate = estimate_rate(m, f, others)
    assert abs(others.mean() - y.mean()) > 0.2
    assert rate.low < y.mean() < rate.high


def test_predictions_make_it_narrower_where_they_are_good_and_never_much_wider():
    widths = {}
    for informative in (True, False):
        ratios = []
        for seed in range(50):
            m, f, others, _ = simulate(seed, 100, 0.4, informative)
            powered, alone = estimate_rate(m, f, others), estimate_rate(m, f)
            ratios.append((powered.high - powered.low) / (alone.high - alone.low))
        widths[informative] = np.mean(ratios)
    assert widths[True] < 0.85
    assert widths[False] < 1.02


@given(
    st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1)), min_size=2, max_size=30),
    st.lists(st.floats(0, 1), max_size=30),
)
def test_a_rate_is_a_share_within_its_interval(pairs, others):
    m, f = zip(*pairs, strict=True)
    rate = estimate_rate(m, f, others)
    assert 0 <= rate.low <= rate.estimate <= rate.high <= 1
    assert 0 <= rate.trust <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], [0.5]), "at least 2 labels; got 1. Label more cases."),
        (([1, 0], [0.5]), "got 2 labels and 1 predictions"),
        (([1, 2], [0.5, 0.5]), "labels must be 0 or 1; got 2.0"),
        (([1, 0], [0.5, 1.5]), r"predictions must lie in \[0, 1\]; got 1.5"),
        (([1, 0], [0.5, 0.5], [np.nan]), r"predictions must lie in \[0, 1\]; got nan"),
    ],
)
def test_what_is_no_label_or_no_probability_is_refused(arguments, message):
    with pytest.raises(SettingError, match=message):
        estimate_rate(*arguments)


def test_a_level_is_a_share():
    with pytest.raises(
        SettingError, match="level must lie between 0 and 1, such as 0.95; got 95"
    ):
        estimate_rate(M, F, level=95)


# Weights and classes


def test_equal_weights_change_nothing():
    plain = estimate_rate(M, F, OTHERS)
    weighted = estimate_rate(M, F, OTHERS, weights=np.full(10, 3.0))
    for name in ("estimate", "low", "high", "trust"):
        assert vars(weighted)[name] == pytest.approx(vars(plain)[name], rel=1e-12)


def test_a_weight_of_two_moves_the_rate_like_two_labels():
    weighted = estimate_rate([1, 0, 1], [0.5] * 3, weights=[2.0, 1.0, 1.0])
    doubled = estimate_rate([1, 1, 0, 1], [0.5] * 4)
    # 16 / 6 effective labels instead of 4: the same mean, a wider interval.
    assert weighted.estimate == pytest.approx(3 / 4)
    assert weighted.high - weighted.low > doubled.high - doubled.low


def test_a_weight_beyond_all_others_is_one_label():
    rate = estimate_rate([1, 0, 0], [0.9, 0.1, 0.2], [0.5, 0.6], weights=[1e300, 1, 1])
    assert (rate.trust, rate.estimate) == (0.0, pytest.approx(1.0))
    assert 0 <= rate.low < rate.high <= 1


def test_labels_alone_give_each_class_the_interval_of_agresti_and_coull():
    # Of four positive cases three are decided so.
    found = estimate_class_rate(M, [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], F, level=LEVEL)
    centre = (3 + 2) / (4 + 4)
    squares = 4 * 0.75 * 0.25 + 2 * 0.75**2 + 2 * 0.25**2
    reach = 1.96 * np.sqrt(squares / 7 / 8)
    assert found.estimate == pytest.approx(3 / 4)
    assert found.low == pytest.approx(centre - reach)
    # To the other side it reaches as far as from the estimate: no pull inwards.
    assert found.high == pytest.approx(min(3 / 4 + reach, 1.0))


def test_an_estimate_lies_in_its_interval_at_any_level():
    for level in (0.01, 0.5, 0.95):
        rate = estimate_rate([0] * 10, [0.1] * 10, level=level)
        assert rate.low <= rate.estimate <= rate.high


@pytest.mark.parametrize("prevalence", [0.3, 0.6])
def test_the_interval_covers_the_rate_of_a_class_and_predictions_narrow_it(prevalence):
    covered, widths = 0, []
    for seed in range(200):
        m, f, others, y = simulate(seed, 80, prevalence, informative=True)
        said = np.concatenate([f, others]) > 0.5
        pair = [
            estimate_class_rate(m, said[:80], f, *rest)
            for rest in ((others, said[80:]), ())
        ]
        covered += pair[0].low <= said[y].mean() <= pair[0].high
        widths.append([rate.high - rate.low for rate in pair])
    assert covered >= 0.95 * 200 - 3 * np.sqrt(200 * 0.05 * 0.95)
    assert np.mean(widths, axis=0)[0] <= np.mean(widths, axis=0)[1] * 1.01


def test_a_class_without_labels_and_weights_that_are_none_are_refused():
    with pytest.raises(SettingError, match="needs a label of that class"):
        estimate_class_rate([0, 0], [0, 1], [0.1, 0.2])
    for weights in ([1.0], [0.0, 1.0], [np.nan, 1.0]):
        with pytest.raises(SettingError, match="every label needs one weight above 0"):
            estimate_rate([0, 1], [0.1, 0.2], weights=weights)
