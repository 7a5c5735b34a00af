"""The analysis of a jury, in passes of the bootstrap over its table."""

import numpy as np
import pytest

import truepool as tp
from truepool.measures.credit import leave_one_out

ITEMS, JUDGES, LABELS = 10_000, 5, 100


@pytest.fixture(scope="module")
def panel():
    """Five judges, 10,000 items, 100 labels."""
    rng = np.random.default_rng(0)
    truth = (rng.random(ITEMS) < 0.6).astype(int)
    log_odds = (2 * truth - 1)[:, None] * rng.uniform(0.6, 1.6, JUDGES)
    reports = 1 / (1 + np.exp(-2 * (log_odds + rng.normal(size=(ITEMS, JUDGES)))))
    known = tp.Panel(reports[:LABELS], truth[:LABELS])
    return tp.Panel(reports, truth), known.with_pending(reports[LABELS:])


def test_a_jury_takes_about_ten_bootstrap_passes(ratio, panel):
    # A pass draws the whole table anew and computes the credit of every judge on it.
    whole, few = panel
    rng = np.random.default_rng(1)

    def ten_passes():
        for _ in range(10):
            leave_one_out(whole.take(rng.integers(0, ITEMS, ITEMS)), loss="brier")

    ratio(lambda: tp.jury(few), ten_passes, at_most=2.0)
