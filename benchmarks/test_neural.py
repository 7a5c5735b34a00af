"""Networks on one core: seconds to learn, and what a case costs against the mean."""

import time

import pytest

from truepool.pools import make
from truepool_lab.stress.drift import quality_panel

NEURAL = ["mlp-2", "mlp-4", "deep-sets", "attention"]
SKILLS = [1.5, 1.2, 1.0, 0.8, 0.5]


@pytest.fixture(scope="module")
def panel():
    return quality_panel(
        "none", before=SKILLS, after=SKILLS, cases=20_000, correlation=0.4
    )


def best_of(pool, reports, rounds):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        pool.predict_proba(reports)
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.parametrize("name", NEURAL)
def test_learning_and_pooling(record, panel, name):
    mean = make("mean").fit(panel.reports, panel.outcomes)
    make(name, epochs=1).fit(panel.reports, panel.outcomes)  # import torch
    start = time.perf_counter()
    pool = make(name).fit(panel.reports, panel.outcomes)
    taken = time.perf_counter() - start
    record(f"{name}: seconds to learn 20,000 x 5", taken, at_most=30)
    one = panel.reports[:1]
    times = best_of(pool, one, 200) / best_of(mean, one, 200)
    record(f"{name}: one case alone, times the mean", times, at_most=20)
    times = best_of(pool, panel.reports, 5) / 20_000 * 1e6
    record(f"{name}: a case among 20,000, microseconds", times, at_most=40)
