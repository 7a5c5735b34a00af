"""A monitor finds on a stream what the audit finds in a whole table."""

import pickle

import numpy as np
import pytest
from simulated_faults import quality_panel

from truepool.core.errors import AgentError, OutcomeError, PanelError, SettingError
from truepool.online.alarms import Monitor, monitor_panel
from truepool.online.alarms.conformal import MEMORY, RankDetector, bets
from truepool.online.alarms.monitor import FIRST_DRIFT, FIRST_SETTLED
from truepool.online.alarms.repeats import RepeatDetector
from truepool.online.alarms.runs import RunDetector
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

COSTS = Costs(fn=10, fp=1)
SKILLS = [1.1, 1.0, 1.2, 1.05]
CASES, BROKEN = 2_000, 1_200


def simulate(reports=None, seed=0, missing=0.0):
    """Four agents; the reports of agent2 are replaced from case 1,200 on."""
    panel = quality_panel(
        "none", before=SKILLS, after=SKILLS, cases=CASES, base_rate=0.2,
        correlation=0.3, honest=True, seed=seed,
    )  # fmt: skip
    rng = np.random.default_rng([seed, 7])
    values = panel.reports.copy()
    if reports is not None:
        values[BROKEN:, 2] = reports(values[:, 2], rng)
    quiet = rng.random(values.shape) < missing
    quiet[:, 0] = False
    values[quiet] = np.nan
    return Panel(values, panel.outcomes, times=np.arange(CASES))


def constant(values, rng):
    return 0.05


def stopped(values, rng):
    return np.nan


def delayed(values, rng):
    return values[BROKEN - 200 : CASES - 200]


def noise(values, rng):
    return rng.permutation(values)[BROKEN:]


def overconfident(values, rng):
    odds = 3 * np.log(values[BROKEN:] / (1 - values[BROKEN:]))
    return 1 / (1 + np.exp(-odds))


def test_nobody_is_compared_with_a_feed_that_is_constant():
    """Two of four feeds die at once: the others no longer move with them."""
    panel = simulate()
    values = panel.reports.copy()
    values[BROKEN:, 1:3] = 0.97, 0.98
    broken = Panel(values, panel.outcomes, times=panel.times)
    alarms = monitor_panel(broken, costs=COSTS)
    assert {(a.who, a.kind) for a in alarms} == {
        (panel.agents[1], "constant"),
        (panel.agents[2], "constant"),
    }


@pytest.mark.parametrize(
    ("reports", "kind", "within"),
    [
        (constant, "constant", 0),
        (stopped, "stopped", 0),
        (delayed, "repeated", 1),
        (noise, "link", 150),
        (overconfident, "scale", 150),
    ],
)
def test_every_broken_feed_is_found_without_outcomes(reports, kind, within):
    panel = simulate(reports)
    monitor = Monitor(panel.agents)
    found = [a for row in panel.reports for a in monitor.update(row)]
    assert {a.who for a in found} == {"agent2"}
    (first,) = [a for a in found if a.kind == kind][:1]
    assert abs(first.since - BROKEN) <= within
    assert BROKEN < first.case < BROKEN + 500


def test_an_agent_that_got_worse_is_found_by_its_outcomes():
    found = monitor_panel(simulate(noise), costs=COSTS, cases_per_false_alarm=1_000)
    assert {a.who for a in found} == {"agent2"}
    assert {"discrimination"} <= {a.kind for a in found}


@pytest.mark.no_cover
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_sound_streams_raise_few_alarms(missing):
    # 3 streams of 4 agents and some 25 detectors, one false alarm in 100,000 cases each:
    # about 1.5 would be expected if cases_per_false_alarm detector had as many as it may.
    found = [
        a for s in range(3) for a in monitor_panel(simulate(seed=s, missing=missing))
    ]
    assert len(found) <= 2


@pytest.mark.parametrize("reports", [constant, noise])
def test_case_by_case_and_the_whole_panel_give_the_same_alarms(reports):
    panel = simulate(reports, missing=0.05)
    monitor = Monitor(panel.agents, costs=COSTS, cases_per_false_alarm=5_000)
    stepwise = [
        a
        for t in range(CASES)
        for a in monitor.update(
            dict(zip(panel.agents, panel.reports[t], strict=True)),
            int(panel.outcomes[t]),
            panel.times[t],
        )
    ]
    assert repr(tuple(stepwise)) == repr(
        monitor_panel(panel, costs=COSTS, cases_per_false_alarm=5_000)
    )
    assert stepwise


def test_outcomes_may_be_late():
    panel = simulate(noise)
    monitor = Monitor(panel.agents, costs=COSTS, cases_per_false_alarm=1_000)
    late = []
    for t in range(CASES):
        late += monitor.update(panel.reports[t])
        if t >= 50:
            late += monitor.settle(t - 50, int(panel.outcomes[t - 50]))
    assert {a.who for a in late} == {"agent2"}
    assert "discrimination" in {a.kind for a in late}


def test_cases_without_an_outcome_are_monitored_in_their_place():
    panel = simulate(constant)
    known = np.arange(CASES) % 4 > 0
    for times in (np.arange(CASES), None):
        when = (None, None) if times is None else (times[known], times[~known])
        part = Panel(panel.reports[known], panel.outcomes[known], times=when[0])
        part = part.with_pending(
            panel.reports[~known], times=when[1], position=np.cumsum(known)[~known]
        )
        (first, *_) = monitor_panel(part)
        assert (first.who, first.kind, first.since) == ("agent2", "constant", BROKEN)


def test_the_pool_and_the_outcomes_are_monitored():
    rng = np.random.default_rng(0)
    monitor = Monitor(("ada", "bob"), cases_per_false_alarm=1_000)
    found = []
    for t in range(1200):
        y = int(rng.random() < (0.1 if t < 600 else 0.5))
        found += monitor.update(rng.uniform(0.2, 0.4, 2), y, pooled=0.3)
    kinds = {(a.who, a.kind) for a in found}
    assert kinds == {("pool", "cost"), ("outcomes", "outcome rate")}
    assert all(abs(a.since - 600) < 60 and a.after > a.before for a in found)


def test_each_watch_starts_at_its_case():
    """A series is tested once it has evidence: from its 31st value on."""
    monitor, rng, first = Monitor(("A", "B", "C")), np.random.default_rng(0), {}
    for case in range(1, FIRST_DRIFT + 1):
        monitor.update(rng.random(3), int(rng.random() < 0.5), pooled=0.5)
        for (_, kind), series in monitor._detectors.items():
            if any(series.detector._evidence):
                first.setdefault(kind, case)
    assert first == {
        "cost": FIRST_SETTLED,
        "outcome rate": FIRST_SETTLED,
        "level": FIRST_DRIFT,
        "scale": FIRST_DRIFT,
        "link": FIRST_DRIFT,
    }


def test_what_a_monitor_refuses():
    monitor = Monitor(("ada", "bob"))
    monitor.update([0.1, 0.2], time=5)
    monitor.update([float("nan")] * 2)  # an empty case
    with pytest.raises(AgentError, match="at least 2 agents; got 1"):
        Monitor(("ada",))
    with pytest.raises(SettingError, match="greater than 1; got 0"):
        Monitor(("ada", "bob"), cases_per_false_alarm=0)
    with pytest.raises(AgentError, match="one of ada, bob; got one of 'cy'"):
        monitor.update({"cy": 0.3})
    with pytest.raises(PanelError, match=r"one report per agent, 2; .*\(3,\)"):
        monitor.update([0.1, 0.2, 0.3])
    with pytest.raises(PanelError, match="got 4 after 5"):
        monitor.update([0.1, 0.2], time=4)
    with pytest.raises(OutcomeError, match="case 9 was never seen"):
        monitor.settle(9, 1)
    monitor.settle(0, 1)
    with pytest.raises(OutcomeError, match="case 0 no longer is"):
        monitor.settle(0, 1)
    monitor.drop(1)
    with pytest.raises(OutcomeError, match="case 1 no longer is"):
        monitor.settle(1, 0)
    three = Panel([[[0.5, 0.3, 0.2]] * 2] * 3, [0, 1, 2])
    with pytest.raises(PanelError, match="two classes; the panel has 3"):
        monitor_panel(three)


HISTORY = 300


def stream(cases, seed=0):
    """Reports of three agents, and outcomes for every other case."""
    rng = np.random.default_rng(seed)
    for t, row in enumerate(rng.random((cases, 3)).round(3)):
        yield row, t % 2 if t % 4 < 2 else None


def test_the_memory_of_a_monitor_does_not_grow_beyond_its_history():
    monitor, sizes = Monitor(("a", "b", "c"), history=100), []
    for row, outcome in stream(2_500):
        monitor.update(row, outcome)
        if monitor.case in (1_500, 2_500):
            sizes.append(len(pickle.dumps(monitor)))
    assert abs(sizes[1] - sizes[0]) < 0.01 * sizes[0]


@pytest.mark.parametrize("reports", [constant, delayed])
def test_a_short_history_finds_what_lies_within_it(reports):
    panel = simulate(reports, missing=0.05)
    whole, short = (
        [
            (a.kind, a.since)
            for row in panel.reports
            for a in monitor.update(row)
            if a.kind in ("constant", "repeated", "stopped")
        ]
        for monitor in (Monitor(panel.agents), Monitor(panel.agents, history=HISTORY))
    )
    assert whole == short
    assert whole


def test_reports_older_than_the_history_are_not_found_again():
    reports = np.random.default_rng(0).random(600)
    reports[400:] = reports[100:300]
    found = {}
    for history in (302, 301):
        detector = RepeatDetector(10_000, history)
        found[history] = [t for t, x in enumerate(reports) if detector.update(x)]
    assert found == {302: [419], 301: []}


def test_a_repeat_detector_forgets_the_pairs_that_are_too_old():
    detector = RepeatDetector(10_000, history=100)
    for x in np.random.default_rng(0).integers(0, 5, 1000) / 10:
        detector.update(x)
    assert len(detector._reports) == 100
    assert all(t > 900 for t in detector._pairs.values())


def test_a_run_detector_remembers_the_latest_values():
    detector = RunDetector(10_000, history=100)
    for x in [*np.repeat(np.arange(300.0), 2), *[0.0] * 15, 1.0]:
        detector.update(x)
    assert set(detector._own) == {0.0, *map(float, range(201, 300))}


def test_cases_that_wait_too_long_for_an_outcome_are_dropped():
    monitor = Monitor(("a", "b"), history=100)
    for _ in range(101):
        monitor.update([0.2, 0.4])
    with pytest.raises(OutcomeError, match="case 0 no longer is"):
        monitor.settle(0, 1)
    monitor.settle(1, 1)


def test_the_history_of_a_monitor_has_limits():
    with pytest.raises(SettingError, match="at least 100 cases; got 99"):
        Monitor(("a", "b"), history=99)
    assert Monitor(("a", "b")).history == 100_000


def test_bets_are_densities():
    u = (np.arange(20_000) + 0.5) / 20_000
    assert np.allclose(np.mean([bets(x) for x in u], axis=0), 1.0, atol=0.01)


def test_a_rank_detector_keeps_its_false_alarm_rate():
    alarmed = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        detector = RankDetector(cases_per_false_alarm=1_000, seed=seed)
        alarmed.append(any(detector.update(x) for x in rng.exponential(size=200)))
    # The mean time is at least 1,000: within 200 at most one in five alarms.
    assert np.mean(alarmed) < 0.2


def test_a_rank_detector_keeps_at_most_memory_values():
    detector = RankDetector(cases_per_false_alarm=1e12)
    rng = np.random.default_rng(0)
    for x in rng.random(MEMORY + 50):
        detector.update(x)
    assert len(detector._sorted) == len(detector._order) == MEMORY
    assert detector._sorted == sorted(detector._order)
