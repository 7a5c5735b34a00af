"""Correlation and disagreement of a million cases, against numpy and pandas."""

import numpy as np
import pandas as pd
import pytest

from truepool.measures.diversity import correlation, disagreement
from truepool.panel.panel import Panel


@pytest.fixture(scope="module")
def reports():
    return np.random.default_rng(0).random((1_000_000, 20))


@pytest.fixture(scope="module")
def panel(reports):
    return Panel(reports, np.arange(len(reports)) % 2, copy=False)


def test_correlation_against_corrcoef(ratio, panel, reports):
    ratio(lambda: correlation(panel), lambda: np.corrcoef(reports.T), at_most=1.5)


def test_correlation_with_silence_against_pandas(ratio, reports):
    gaps = np.where(
        np.random.default_rng(1).random(reports.shape) < 0.1, np.nan, reports
    )
    panel = Panel(gaps, np.arange(len(gaps)) % 2, copy=False)
    frame = pd.DataFrame(gaps)
    ratio(lambda: correlation(panel), frame.corr, at_most=0.8, rounds=3)


def test_disagreement_against_corrcoef(ratio, panel, reports):
    ratio(lambda: disagreement(panel), lambda: np.corrcoef(reports.T), at_most=4)
