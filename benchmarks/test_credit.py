"""Credit: exact Shapley in seconds, leave-one-out against re-pooling."""

import time

import numpy as np
import pytest

from truepool import credit
from truepool.panel.panel import Panel


def panel_of(cases, agents):
    rng = np.random.default_rng(0)
    return Panel(rng.random((cases, agents)), rng.integers(0, 2, cases))


@pytest.mark.parametrize("loss", ["brier", "log", "cost"])
def test_exact_shapley_credit_of_twelve_agents_takes_under_two_seconds(loss):
    panel = panel_of(10_000, 12)
    start = time.perf_counter()
    credit.shapley(panel, loss=loss)
    assert time.perf_counter() - start < 2


def test_sampled_shapley_credit_of_two_hundred_agents_reports_its_error(benchmark):
    panel = panel_of(10_000, 200)
    found = benchmark.pedantic(lambda: credit.sample_shapley(panel), rounds=1)
    assert (found.standard_errors > 0).all()


def test_leave_one_out_against_pooling_again(ratio):
    panel = panel_of(100_000, 20)
    y = panel.outcomes

    def again():
        base = ((panel.reports.mean(axis=1) - y) ** 2).mean()
        for i in range(20):
            without = np.delete(panel.reports, i, axis=1).mean(axis=1)
            ((without - y) ** 2).mean() - base

    ratio(lambda: credit.leave_one_out(panel), again, at_most=0.05)


def test_credit_of_four_times_the_agents_takes_about_four_times_as_long(record):
    def seconds(agents):
        panel = panel_of(2000, agents)
        credit.leave_one_out(panel)  # compile, and touch the memory
        best = float("inf")
        for _ in range(7):
            start = time.perf_counter()
            credit.leave_one_out(panel)
            best = min(best, time.perf_counter() - start)
        return best

    found = seconds(800) / seconds(200)
    record("credit of 800 agents over that of 200", found, at_most=8)
    assert found < 8  # linear is 4, quadratic 16
