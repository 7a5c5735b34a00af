import numpy as np
from faults import COSTS, SKILLS, drifted, sound, timed
from numpy.testing import assert_allclose

from truepool.audit import audit
from truepool.losses import Loss
from truepool.panel import Panel
from truepool.stress.drift import quality_panel

QUICK = {"costs": COSTS, "resamples": 50}


def codes(panel):
    return [f.code for f in audit(panel, **QUICK).findings]


def test_its_cost_is_what_silence_since_then_saves():
    panel = drifted()
    told = audit(panel, **QUICK).findings[0]
    since = int(told.sentence.split("from case ")[1].split(" of")[0].replace(",", ""))
    assert abs(since - 1000) < 50
    kept = panel.reports.copy()
    kept[since:, 3] = np.nan
    loss = Loss("cost", COSTS)
    as_is, silenced = (
        loss.of(np.nanmean(reports, axis=1)[:, None], panel.outcomes).mean()
        for reports in (panel.reports, kept)
    )
    assert_allclose(told.cost.value, as_is - silenced)
    lost = (panel.reports - panel.outcomes[:, None]) ** 2
    beside = lost[:, 3] - np.delete(lost, 3, axis=1).mean(axis=1)
    rise = beside[since:].mean() - beside[:since].mean()
    assert_allclose(told.number.value, rise)
    assert 0 < told.number.low < rise < told.number.high


def test_without_times_nobody_drifts():
    panel = drifted()
    assert "drifted" not in codes(Panel(panel.reports, panel.outcomes))


def test_harder_cases_for_all_are_the_pools_drift_and_nobodys_fault():
    later = [skill / 3 for skill in SKILLS]
    panel = quality_panel(
        "sudden", before=SKILLS, after=later, cases=3000, base_rate=0.3,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    found = audit(timed(panel), **QUICK).findings
    told = {f.code: f for f in found}
    assert told["drifted-pool"].severity == "warning"
    assert not any(f.code == "drifted" and f.severity == "error" for f in found)


def test_an_agent_that_gets_better_is_not_blamed_nor_are_the_others():
    later = [*SKILLS[:3], 2.5, *SKILLS[4:]]
    panel = quality_panel(
        "sudden", before=SKILLS, after=later, cases=2000, base_rate=0.3,
        correlation=0.2, honest=True, seed=0,
    )  # fmt: skip
    found = audit(timed(panel), **QUICK).findings
    assert not any(f.code == "drifted" and "agent3" in f.who for f in found)


def test_silence_in_a_stream():
    panel = sound(cases=400)
    reports = panel.reports.copy()
    reports[::3, 1:] = np.nan
    told = audit(Panel(reports, panel.outcomes, times=np.arange(400)), **QUICK)
    assert "drifted" not in [f.code for f in told.findings]


def test_an_agent_that_hardly_spoke_is_not_judged():
    panel = sound(cases=300)
    reports = panel.reports.copy()
    reports[20:, 4] = np.nan
    told = audit(Panel(reports, panel.outcomes, times=np.arange(300)), **QUICK)
    assert not any(f.code == "drifted" and "agent4" in f.who for f in told.findings)
