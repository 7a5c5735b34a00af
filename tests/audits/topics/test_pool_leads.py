"""Whether other pools are cheaper by more than luck: every test has an oracle."""

import json

import numpy as np
import pytest
from faults import COSTS, drifted, sound
from numpy.testing import assert_allclose
from scipy import stats

from truepool.audits import audit
from truepool.data.panel import Panel
from truepool.measures.inference import diebold_mariano

QUICK = {"costs": COSTS, "resamples": 50}
TOLD = audit(sound(cases=600), **QUICK)


@pytest.mark.parametrize("lead", TOLD.significance, ids=lambda lead: lead.pool)
def test_leads_are_those_of_the_comparison_by_every_test(lead):
    by_case = TOLD.comparison.by_case
    saved = by_case["mean"] - by_case[lead.pool]
    assert_allclose(lead.saved.value, saved.mean())
    assert lead.saved.low <= lead.saved.value <= lead.saved.high
    assert_allclose(lead.paired_t, stats.ttest_1samp(saved, 0).pvalue)
    ranked = stats.wilcoxon(saved, method="asymptotic")
    assert_allclose(lead.signed_rank, ranked.pvalue, rtol=1e-6)
    assert lead.diebold_mariano is None


def test_chances_are_adjusted_for_every_pool_tried():
    raw = np.array([lead.paired_t for lead in TOLD.significance])
    assert len(raw) == len(TOLD.comparison.rows) - 1
    shared = [lead.bonferroni for lead in TOLD.significance]
    assert_allclose(shared, np.minimum(1, raw * len(raw)))
    holm = stats.false_discovery_control  # no Holm in scipy: bounds on both sides
    least = holm(raw, method="bh")
    adjusted = np.array([lead.holm for lead in TOLD.significance])
    assert np.all(adjusted >= least - 1e-12)
    assert np.all(adjusted <= np.array(shared) + 1e-12)


def test_streams_are_tested_in_the_order_of_time_however_the_table_lies():
    panel = drifted(cases=600)
    mixed = np.random.default_rng(0).permutation(600)
    shuffled = Panel(
        panel.reports[mixed], panel.outcomes[mixed], panel.agents, times=panel.times[mixed]
    )  # fmt: skip
    finding, again = audit(panel, **QUICK), audit(shuffled, **QUICK)
    for lead in finding.significance:
        by_case = finding.comparison.by_case
        expected = diebold_mariano(by_case["mean"] - by_case[lead.pool])
        assert lead.diebold_mariano == expected
    vote = {lead.pool: lead.diebold_mariano for lead in again.significance}
    for lead in finding.significance:
        if lead.pool in ("median", "log-odds"):  # they learn nothing
            assert_allclose(lead.diebold_mariano, vote[lead.pool])


def test_they_reach_the_json_form():
    plain = json.loads(json.dumps(TOLD.to_dict(), allow_nan=False))
    assert set(plain["significance"][0]) == {
        "pool", "saved", "paired_t", "holm", "bonferroni", "signed_rank",
        "diebold_mariano",
    }  # fmt: skip


def test_too_few_cases_have_none():
    few = audit(Panel([[0.9, 0.5], [0.1, 0.5], [0.8, 0.2]], [1, 0, 1]))
    assert few.significance == ()
