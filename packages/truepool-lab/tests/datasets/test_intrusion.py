"""Twelve classes made by seed, against the paper's arithmetic and closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from truepool.core.errors import SettingError
from truepool_lab.datasets.intrusion import PARTS, SHARES, Intrusion, counts, intrusion

# tab:perclass, and accuracy and rare recall of tab:multiclass.
RECALLS = {
    "Majority Vote": [1.0, 1.0, 0.983, 0.924, 0.762, 0.417, 0.341, 0.059, 0.013, 0, 0, 0],
    "Weighted Avg": [0.998, 1.0, 1.0, 0.983, 0.931, 0.642, 0.571, 0.158, 0.053, 0, 0, 0],
    "VCG": [0.969, 1.0, 0.998, 0.983, 0.936, 0.682, 0.651, 0.277, 0.145, 0.020, 0, 0],
    "Brier": [1.0, 1.0, 0.995, 0.970, 0.876, 0.530, 0.492, 0.099, 0.013, 0, 0, 0],
    "Externality": [0.998, 1.0, 1.0, 0.983, 0.931, 0.649, 0.571, 0.158, 0.066, 0, 0, 0],
}  # fmt: skip
PRINTED = {
    "Majority Vote": (0.896, 0.199),
    "Weighted Avg": (0.922, 0.294),
    "VCG": (0.911, 0.339),
    "Brier": (0.912, 0.251),
    "Externality": (0.922, 0.297),
}


@pytest.mark.parametrize("method", RECALLS)
def test_the_shares_turn_one_table_of_the_paper_into_another(method):
    accuracy, rare = PRINTED[method]
    recalls = np.array(RECALLS[method])
    # Half a last digit of each printed recall, and of what is printed.
    assert abs(SHARES @ recalls - accuracy) <= 0.0005 + 0.0005
    assert abs(recalls[4:].mean() - rare) <= 0.0005 + 0.0005


@pytest.mark.parametrize(
    ("label", "tested"),
    [("PortScan", 404), ("DDoS", 303), ("DoS_GoldenEye", 202), ("FTP_Patator", 151),
     ("SSH_Patator", 126), ("DoS_Slowloris", 101), ("Bot", 76), ("Web_Attack", 50)],
)  # fmt: skip
def test_printed_recalls_are_fractions_of_the_rows_a_class_has(label, tested):
    k = list(PARTS).index(label)
    assert abs(SHARES[k] * 5000 - tested) < 1
    for recalls in RECALLS.values():
        caught = round(recalls[k] * tested)
        assert round(caught / tested, 3) == pytest.approx(recalls[k], abs=1e-9)


def test_most_rows_are_benign_and_the_rarest_attacks_are_below_two_percent():
    shares = dict(zip(PARTS, intrusion().shares(), strict=True))
    assert round(shares["BENIGN"], 2) == 0.61  # 60 parts of 99
    assert all(shares[k] < 0.02 for k in list(PARTS)[8:])
    assert len(shares) == 12


@given(st.integers(20, 5000))
def test_rows_are_shared_out_to_the_last(rows):
    found = counts(rows)
    assert found.sum() == rows
    assert (np.abs(found - SHARES * rows) < 1).all()


def test_classes_lie_where_they_should():
    rows = intrusion(200_000, seed=3, clear=5.0, faint=2.0)
    distances = [0.0, *np.linspace(5.0, 2.0, 11)]
    centres = np.array(
        [rows.values[rows.outcomes == k].mean(axis=0) for k in range(12)]
    )
    n = np.bincount(rows.outcomes)
    # The squared length of a mean of n rows has 30 / n of noise in it.
    lengths = np.sqrt((centres[1:] ** 2).sum(axis=1) - 30 / n[1:])
    assert_allclose(lengths, distances[1:], atol=5 / np.sqrt(n[1:].min()))
    cosines = centres[1:8] @ centres[1:8].T / np.outer(lengths[:7], lengths[:7])
    assert_allclose(cosines, np.eye(7), atol=0.1)


def test_the_best_recall_against_benign_is_the_closed_form():
    rows = intrusion(400_000, seed=0)
    for k, s in zip((1, 5, 9), np.linspace(6.0, 2.0, 11)[[0, 4, 8]], strict=True):
        theirs = rows.values[rows.outcomes == k]
        way = np.linalg.qr(np.random.default_rng(0).spawn(3)[0].normal(size=(30, 11)))[
            0
        ][:, k - 1]
        odds = np.log(SHARES[0] / SHARES[k])
        caught = (s * (theirs @ way) - s**2 / 2 > odds).mean()
        best = norm.cdf(s / 2 - odds / s)
        assert abs(caught - best) < 4 * np.sqrt(best * (1 - best) / len(theirs))


def test_another_seed_gives_other_data():
    assert not np.array_equal(intrusion(100, 1).values, intrusion(100, 2).values)
    made = intrusion(100, np.random.default_rng(1))
    assert_array_equal(made.values, intrusion(100, 1).values)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"rows": 19}, "at least 20; got 19"),
        ({"features": 10}, "at least 11"),
        ({"clear": np.inf}, "clear is inf"),
        ({"faint": -1.0}, "faint -1.0"),
        ({"seed": -1}, "must not be negative"),
    ],
)
def test_impossible_settings_are_refused(settings, fault):
    with pytest.raises(SettingError, match=fault):
        Intrusion.load(**settings)
