"""A monitor finds on a stream what the audit finds looking back."""

import numpy as np
import pytest

from truepool.core.errors import AgentError, OutcomeError, PanelError, SettingError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.online.alarms import Monitor, watch
from truepool.online.alarms.conformal import MEMORY, RankDetector, bets
from truepool.stress.drift import quality_panel

COSTS = Costs(fn=10, fp=1)
SKILLS = [1.1, 1.0, 1.2, 1.05]
CASES, BROKEN = 2_000, 1_200


def made(reports=None, seed=0, missing=0.0):
    """Four agents; what agent2 reports from case 1,200 on is replaced."""
    panel = quality_panel(
        "none", before=SKILLS, after=SKILLS, cases=CASES, base_rate=0.2,
        correlation=0.3, honest=True, seed=seed,
    )  # fmt: skip
    rng = np.random.default_rng([seed, 7])
    said = panel.reports.copy()
    if reports is not None:
        said[BROKEN:, 2] = reports(said[:, 2], rng)
    quiet = rng.random(said.shape) < missing
    quiet[:, 0] = False
    said[quiet] = np.nan
    return Panel(said, panel.outcomes, times=np.arange(CASES))


def constant(said, rng):
    return 0.05


def stopped(said, rng):
    return np.nan


def old(said, rng):
    return said[BROKEN - 200 : CASES - 200]


def noise(said, rng):
    return rng.permutation(said)[BROKEN:]


def sharper(said, rng):
    odds = 3 * np.log(said[BROKEN:] / (1 - said[BROKEN:]))
    return 1 / (1 + np.exp(-odds))


@pytest.mark.parametrize(
    ("reports", "kind", "within"),
    [
        (constant, "constant", 0),
        (stopped, "stopped", 0),
        (old, "repeated", 1),
        (noise, "link", 150),
        (sharper, "scale", 150),
    ],
)
def test_every_broken_feed_is_found_without_outcomes(reports, kind, within):
    panel = made(reports)
    monitor = Monitor(panel.agents)
    found = [a for row in panel.reports for a in monitor.update(row)]
    assert {a.who for a in found} == {"agent2"}
    (first,) = [a for a in found if a.kind == kind][:1]
    assert abs(first.since - BROKEN) <= within
    assert BROKEN < first.case < BROKEN + 500


def test_an_agent_that_got_worse_is_found_by_its_outcomes():
    found = watch(made(noise), costs=COSTS, every=1_000)
    assert {a.who for a in found} == {"agent2"}
    assert {"discrimination"} <= {a.kind for a in found}


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_sound_streams_are_left_alone(missing):
    # 3 streams of 4 agents and some 25 detectors, one false alarm in 100,000 cases each:
    # about 1.5 would be expected if every detector used its allowance up.
    found = [a for s in range(3) for a in watch(made(seed=s, missing=missing))]
    assert len(found) <= 2


@pytest.mark.parametrize("reports", [constant, noise])
def test_case_by_case_and_the_whole_panel_give_the_same_alarms(reports):
    panel = made(reports, missing=0.05)
    monitor = Monitor(panel.agents, costs=COSTS, every=5_000)
    stepwise = [
        a
        for t in range(CASES)
        for a in monitor.update(
            dict(zip(panel.agents, panel.reports[t], strict=True)),
            int(panel.outcomes[t]),
            panel.times[t],
        )
    ]
    assert repr(tuple(stepwise)) == repr(watch(panel, costs=COSTS, every=5_000))
    assert stepwise


def test_outcomes_may_come_late():
    panel = made(noise)
    monitor = Monitor(panel.agents, costs=COSTS, every=1_000)
    late = []
    for t in range(CASES):
        late += monitor.update(panel.reports[t])
        if t >= 50:
            late += monitor.settle(t - 50, int(panel.outcomes[t - 50]))
    assert {a.who for a in late} == {"agent2"}
    assert "discrimination" in {a.kind for a in late}


def test_cases_without_an_outcome_are_watched_where_they_stand():
    panel = made(constant)
    known = np.arange(CASES) % 4 > 0
    for times in (np.arange(CASES), None):
        when = (None, None) if times is None else (times[known], times[~known])
        part = Panel(panel.reports[known], panel.outcomes[known], times=when[0])
        part = part.with_pending(
            panel.reports[~known], times=when[1], position=np.cumsum(known)[~known]
        )
        (first, *_) = watch(part)
        assert (first.who, first.kind, first.since) == ("agent2", "constant", BROKEN)


def test_the_pool_and_the_outcomes_are_watched():
    rng = np.random.default_rng(0)
    monitor = Monitor(("ada", "bob"), every=1_000)
    found = []
    for t in range(1200):
        y = int(rng.random() < (0.1 if t < 600 else 0.5))
        found += monitor.update(rng.uniform(0.2, 0.4, 2), y, pooled=0.3)
    kinds = {(a.who, a.kind) for a in found}
    assert kinds == {("pool", "cost"), ("outcomes", "outcome rate")}
    assert all(abs(a.since - 600) < 60 and a.after > a.before for a in found)


def test_what_a_monitor_refuses():
    monitor = Monitor(("ada", "bob"))
    monitor.update([0.1, 0.2], time=5)
    monitor.update([float("nan")] * 2)  # nobody reported: no case to judge feeds by
    with pytest.raises(AgentError, match="at least 2 agents; got 1"):
        Monitor(("ada",))
    with pytest.raises(SettingError, match="above 1; got 0"):
        Monitor(("ada", "bob"), every=0)
    with pytest.raises(AgentError, match="come from ada, bob; got 'cy'"):
        monitor.update({"cy": 0.3})
    with pytest.raises(PanelError, match=r"one report per agent, 2; .*\(3,\)"):
        monitor.update([0.1, 0.2, 0.3])
    with pytest.raises(PanelError, match="got 4 after 5"):
        monitor.update([0.1, 0.2], time=4)
    with pytest.raises(OutcomeError, match="case 9 was never seen"):
        monitor.settle(9, 1)
    monitor.settle(0, 1)
    with pytest.raises(OutcomeError, match="case 0 has it already"):
        monitor.settle(0, 1)
    monitor.forget(1)
    with pytest.raises(OutcomeError, match="case 1 has it already"):
        monitor.settle(1, 0)
    three = Panel([[[0.5, 0.3, 0.2]] * 2] * 3, [0, 1, 2])
    with pytest.raises(PanelError, match="two classes; the panel has 3"):
        watch(three)


def test_bets_are_densities():
    u = (np.arange(20_000) + 0.5) / 20_000
    assert np.allclose(np.mean([bets(x) for x in u], axis=0), 1.0, atol=0.01)


def test_a_rank_detector_keeps_its_rate_of_false_alarms():
    alarmed = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        watched = RankDetector(every=1_000, seed=seed)
        alarmed.append(any(watched.update(x) for x in rng.exponential(size=200)))
    # On average not before 1,000: within 200 at most one in five, less by far.
    assert np.mean(alarmed) < 0.2


def test_a_rank_detector_remembers_so_much():
    watched = RankDetector(every=1e12)
    rng = np.random.default_rng(0)
    for x in rng.random(MEMORY + 50):
        watched.update(x)
    assert len(watched._sorted) == len(watched._order) == MEMORY
    assert watched._sorted == sorted(watched._order)
