"""Speed as ratios: ours against a yardstick, both timed in one run on one machine."""

import time

import pytest

RATIOS = []


@pytest.fixture
def ratio(benchmark, request):
    """Time ours (by pytest-benchmark) and theirs, in turns; hold ours to a floor."""

    def measure(ours, theirs, at_most, rounds=7):
        ours(), theirs()  # compile, and touch the memory
        best = float("inf")
        mine = float("inf")
        for _ in range(rounds):
            start = time.perf_counter()
            theirs()
            middle = time.perf_counter()
            ours()
            end = time.perf_counter()
            best, mine = min(best, middle - start), min(mine, end - middle)
        benchmark.pedantic(ours, rounds=3)
        found = mine / best
        benchmark.extra_info |= {"ratio": found, "at_most": at_most}
        RATIOS.append((request.node.name, found, f"at most {at_most:g}"))
        assert found <= at_most

    return measure


@pytest.fixture
def record():
    """Show a measured ratio at the end, and hold it to its floor or ceiling."""

    def note(what, found, *, at_most=float("inf"), at_least=0.0):
        limit = f"at least {at_least:g}" if at_least else f"at most {at_most:g}"
        limit = limit.replace("at most inf", "for information")
        RATIOS.append((what, found, limit))
        assert at_least <= found <= at_most

    return note


def pytest_terminal_summary(terminalreporter):
    if RATIOS:
        terminalreporter.section("ratios")
        for name, found, limit in RATIOS:
            terminalreporter.write_line(f"{name:60} {found:8.2f}   ({limit})")
