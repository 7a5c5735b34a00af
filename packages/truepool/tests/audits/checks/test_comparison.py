"""Whether other pools cost significantly less: every test has an oracle."""

from functools import cache

import numpy as np
from checked import of
from faults import COSTS, drifted, sound
from numpy.testing import assert_allclose
from scipy import stats

from truepool.audits import audit
from truepool.measures.inference import diebold_mariano, with_unseen
from truepool.panel.panel import Panel
from truepool.pools.stacked_lr import StackedLR

QUICK = {"costs": COSTS, "resamples": 50}


@cache
def audited():
    return audit(sound(cases=600), **QUICK)


def test_a_better_pool_saves_what_the_comparison_says():
    result = audited()
    (found,) = of("better-pool", result.findings)
    rows = result.comparison
    saved = rows["mean"].loss.value - rows[found.facts["pool"]].loss.value
    assert_allclose(found.saving.value, 1000 * saved, rtol=1e-12)
    assert found.severity == "note"
    assert result.plan.pool == found.facts["pool"]


def test_leads_are_those_of_the_comparison_by_every_test():
    result = audited()
    by_case = result.comparison.by_case
    for other in result.significance:
        saved = by_case["mean"] - by_case[other.pool]
        assert_allclose(other.saved.value, saved.mean(), err_msg=other.pool)
        assert other.saved.low <= other.saved.value <= other.saved.high
        both = with_unseen(saved[:, None], result.comparison.unseen)[:, 0]
        expected = stats.ttest_1samp(both, 0).pvalue
        assert_allclose(other.paired_t, expected, err_msg=other.pool)
        ranked = stats.wilcoxon(saved, method="asymptotic").pvalue
        assert_allclose(other.signed_rank, ranked, rtol=1e-6, err_msg=other.pool)
        assert other.diebold_mariano is None


def test_chances_are_adjusted_for_every_pool_tried():
    result = audited()
    raw = np.array([other.paired_t for other in result.significance])
    assert len(raw) == len(result.comparison.rows) - 1
    shared = [other.bonferroni for other in result.significance]
    assert_allclose(shared, np.minimum(1, raw * len(raw)))
    holm = stats.false_discovery_control  # no Holm in scipy: bounds on both sides
    least = holm(raw, method="bh")
    adjusted = np.array([other.holm for other in result.significance])
    assert np.all(adjusted >= least - 1e-12)
    assert np.all(adjusted <= np.array(shared) + 1e-12)


def test_streams_are_tested_in_the_order_of_time_however_the_table_lies():
    panel = drifted(cases=600)
    mixed = np.random.default_rng(0).permutation(600)
    shuffled = Panel(
        panel.reports[mixed], panel.outcomes[mixed], panel.agents, times=panel.times[mixed]
    )  # fmt: skip
    finding, again = audit(panel, **QUICK), audit(shuffled, **QUICK)
    for other in finding.significance:
        by_case = finding.comparison.by_case
        expected = diebold_mariano(by_case["mean"] - by_case[other.pool])
        assert other.diebold_mariano == expected
    vote = {other.pool: other.diebold_mariano for other in again.significance}
    for other in finding.significance:
        if other.pool in ("median", "log-odds"):  # they learn nothing
            assert_allclose(other.diebold_mariano, vote[other.pool])


def test_too_few_cases_have_none():
    few = audit(Panel([[0.9, 0.5], [0.1, 0.5], [0.8, 0.2]], [1, 0, 1]))
    assert few.significance == ()


def test_a_saved_pool_that_is_kept_has_no_simpler_alternative():
    """It is called `as saved` beside the one of its kind that is fitted again."""
    panel = sound(cases=1200)
    learn = np.arange(1200) < 600
    pool = StackedLR(costs=COSTS).fit_panel(panel.take(learn))
    plan = audit(panel.take(~learn), pool=pool, resamples=50).plan
    assert (plan.in_use, plan.pool) == ("stacked-lr as saved",) * 2
    assert plan.alternative is None
