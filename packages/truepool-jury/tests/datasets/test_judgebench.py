"""Scores and verdicts of judges become probabilities."""

import numpy as np
import pytest

from truepool_jury.datasets.judgebench import judge_probabilities


def test_a_deviation_of_score_is_one_and_a_half_log_odds_in_tenths():
    scores = np.zeros((4, 7))
    scores[:, 0] = [2.0, -2.0, 0.0, 0.0]  # a standard deviation of sqrt(2)
    p = judge_probabilities(scores + np.arange(4)[:, None] * 1e-9)
    assert p[:2, 0].tolist() == [0.9, 0.1]


@pytest.mark.parametrize(("verdict", "chance"), [(0, 0.1), (0.5, 0.5), (1, 0.9)])
def test_a_verdict_is_never_certain(verdict, chance):
    scores = np.hstack(
        [np.array([[1.0], [2.0]]) * np.ones(5), np.full((2, 2), verdict)]
    )
    assert judge_probabilities(scores)[0, 5:].tolist() == pytest.approx([chance] * 2)
