"""The analysis of a jury, beside the bootstrap of its table."""

import time

import numpy as np
import pytest

import truepool as tp
from truepool.measures.credit import leave_one_out
from truepool.measures.credit.bootstrap import intervals

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


def test_a_jury_takes_less_than_ten_bootstraps_of_its_table(ratio, panel):
    # A bootstrap of the table, as the audit makes it: the credit of every judge in a
    # thousand resamples of the items.
    whole, few = panel
    ratio(lambda: tp.jury(few), lambda: intervals(whole), at_most=10.0)


def test_a_jury_in_single_resamples(record, panel):
    whole, few = panel
    rng = np.random.default_rng(1)

    def resample():
        leave_one_out(whole.take(rng.integers(0, ITEMS, ITEMS)), loss="brier")

    found = shortest(lambda: tp.jury(few)) / shortest(resample)
    record("jury of 5 x 10,000, in single resamples of the table", found)


def shortest(work, rounds=10):
    """Least processor time of a few runs."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)
