import json
import pickle
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import random_panel
from sklearn.model_selection import RepeatedStratifiedKFold
from threadpoolctl import threadpool_limits

from truepool import compare, pools
from truepool.comparison.tested_cases import _estimates
from truepool.core.engine import Engine, Processes
from truepool.core.errors import SettingError, UnknownNameError
from truepool.measures.folds import out_of_fold, splits
from truepool.measures.losses import Loss
from truepool.pages.comparison import grid, groups
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.mean import Mean
from truepool.pools.platt import Platt
from truepool.pools.vcg import VCG

COSTS = Costs(fn=10, fp=1)
FEW = ["vcg", "log-odds"]


def test_of_pools_that_cost_the_same_the_plain_mean_comes_first():
    sure, unsure = (0.9, 0.9, 0.6), (0.1, 0.1, 0.4)  # the median is sharper
    panel = Panel([sure, unsure] * 20, [1, 0] * 20)
    result = compare(panel, costs=Costs(), pools=["median"], resamples=20)
    assert result["median"].brier < result["mean"].brier
    assert result.rows[0].pool == "mean"


def test_every_pool_that_is_not_costly_is_compared_with_the_mean_and_the_best_agent():
    seen = []
    result = compare(
        random_panel(1, cases=60),
        costs=COSTS,
        resamples=20,
        progress=lambda name, done, total: seen.append((name, done, total)),
    )
    usual = {name for name, pool in pools.every().items() if pool.by_default}
    assert {row.pool for row in result.rows} == usual
    assert [done for _, done, _ in seen] == list(range(len(usual)))
    assert set(pools.every()) - usual == {*pools.every()} & {
        "attention", "crowd", "deep-sets", "mlp-2", "mlp-4",
    }  # fmt: skip


def test_any_pool_is_compared_when_it_is_named():
    result = compare(random_panel(1), pools=["crowd"], resamples=20)
    assert {row.pool for row in result.rows} == {"crowd", "mean", "best-agent"}


def test_with_more_than_two_classes_recall_is_by_class_and_no_class_is_positive():
    panel = random_panel(3, cases=120, classes=3)
    result = compare(panel, costs=Costs(), pools=["mean"], resamples=20)
    pooled = out_of_fold(Mean(), panel, splits(panel.outcomes, 5))
    decided = pooled.argmax(axis=1)
    expected = [(decided[panel.outcomes == k] == k).mean() for k in range(3)]
    assert_allclose(result["mean"].recalls, expected)
    (row,) = [r for r in result.to_dict()["rows"] if r["pool"] == "mean"]
    assert row["fn_rate"] is None is row["fp_rate"]
    assert_allclose(row["recalls"], expected)
    table = grid(result)
    assert table.headers[-3:] == tuple(f"recall of class {k}" for k in range(3))


def test_losses_are_out_of_fold_and_sorted():
    panel = random_panel(2, cases=120)
    result = compare(panel, costs=COSTS, pools=FEW, resamples=50)
    pairs = splits(panel.outcomes, 5)
    pooled = out_of_fold(VCG(costs=COSTS), panel, pairs)
    assert_allclose(
        result["vcg"].loss.value,
        Loss("cost", COSTS).evaluate(pooled, panel.outcomes).mean(),
    )
    values = [row.loss.value for row in result.rows]
    assert values == sorted(values)
    assert_allclose(result["vcg"].cost, result["vcg"].loss.value)


def test_differences_are_paired():
    result = compare(random_panel(2, cases=120), pools=FEW, loss="brier", resamples=200)
    vcg, mean = result["vcg"], result["mean"]
    assert_allclose(vcg.to_mean.value, vcg.loss.value - mean.loss.value)
    assert mean.to_mean.low == mean.to_mean.high == 0
    # Pairing takes out what both share: the difference is known better than it would
    # be from two separate sets of cases.
    apart = np.hypot(vcg.loss.high - vcg.loss.low, mean.loss.high - mean.loss.low)
    assert vcg.to_mean.high - vcg.to_mean.low < 0.95 * apart


def test_a_worse_pool_is_told_apart():
    panel = random_panel(3, cases=2000)
    noisy = np.hstack(
        [panel.reports, 1 - panel.reports[:, :1], 1 - panel.reports[:, :1]]
    )
    result = compare(
        Panel(noisy, panel.outcomes), pools=["vcg"], loss="brier", resamples=200
    )
    assert result["vcg"].to_mean.high < 0


def test_with_times_the_first_cases_only_teach():
    base = random_panel(1, cases=120)
    panel = Panel(base.reports, base.outcomes, times=np.arange(120))
    result = compare(panel, pools=FEW, resamples=20)
    assert (result.cases, result.tested) == (120, 100)


def test_a_comparison_is_plain_data():
    result = compare(random_panel(1, classes=3), pools=FEW, resamples=20)
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["rows"][0]["pool"] == result.rows[0].pool
    assert plain["classes"] == 3
    assert "pools on 80 cases" in repr(result)


def test_variants_of_a_pool_are_told_apart_by_labels():
    variants = {"by log": VCG(loss="log"), "by brier": VCG(), "mean": "mean"}
    result = compare(random_panel(1), pools=variants, resamples=20)
    assert {row.pool for row in result.rows} == {
        "by log",
        "by brier",
        "mean",
        "best-agent",
    }
    assert compare(random_panel(1), pools=[Mean()], resamples=20)["mean"].p_mean == 1


def test_repeated_folds_do_not_make_cases_out_of_nothing():
    panel = random_panel(1, cases=100)
    once = compare(panel, pools=FEW, loss="brier", resamples=50)
    many = compare(panel, pools=FEW, loss="brier", resamples=50,
                   cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=10))  # fmt: skip
    assert many.tested == 100
    width = [r["vcg"].loss.high - r["vcg"].loss.low for r in (once, many)]
    assert width[1] > 0.5 * width[0]


def test_cases_count_by_their_weight():
    panel = random_panel(1, cases=100)
    weights = np.where(panel.outcomes == 1, 3.0, 1.0)
    result = compare(
        panel, pools=FEW, loss="brier", resamples=20, sample_weight=weights
    )
    pooled = out_of_fold(VCG(), panel, splits(panel.outcomes, 5), weights)
    lost = Loss("brier").evaluate(pooled, panel.outcomes)
    assert_allclose(result["vcg"].loss.value, np.average(lost, weights=weights))
    assert_allclose(result["vcg"].brier, result["vcg"].loss.value)


def test_pools_that_cannot_be_tried_are_named():
    panel = random_panel(3, cases=200)
    outcomes = np.zeros(200, int)
    outcomes[[5, 100]] = 1
    rare = Panel(panel.reports, outcomes)
    result = compare(rare, pools=["mean", Platt(base="vcg")], resamples=20)
    assert result.skipped == ("platt",)
    assert "platt" in grid(result).notes[0]
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["skipped"] == [
        "platt"
    ]


def test_pools_with_settings_can_be_compared():
    result = compare(random_panel(1), pools=[Platt(base="vcg"), "mean"], resamples=20)
    assert result["platt"].loss.value >= 0
    with pytest.raises(KeyError):
        result["vcg"]


@pytest.mark.parametrize(
    ("options", "kind", "match"),
    [
        ({"pools": ["vgc"]}, UnknownNameError, "did you mean 'vcg'"),
        ({"pools": ["vcg", VCG()]}, SettingError, "got 'vcg' twice"),
        ({"level": 1.0}, SettingError, "between 0 and 1"),
        ({"cv": 1}, SettingError, "at least 2 folds"),
        ({"loss": "x"}, UnknownNameError, "no loss"),
        (
            {"pools": {"best-agent": Platt(base="vcg", cv=1)}},
            SettingError,
            "at least 2 folds",
        ),
    ],
)
def test_settings_outside_their_range_are_refused(options, kind, match):
    with pytest.raises(kind, match=match):
        compare(random_panel(1), **{"pools": FEW, "resamples": 20, **options})


def test_a_group_that_is_too_small_has_no_pool():
    panel = random_panel(1, cases=80)
    kinds = np.where(np.arange(80) < 3, "few", "many")
    panel = panel.with_columns({"kind": kinds})
    found = compare(panel, pools=["vcg"], resamples=20, by="kind")
    rows = {row[0]: row[3:] for row in groups(found).rows}
    assert rows["few"] == ("-",) * 5
    assert (
        "vcg" in rows["many"] or "mean" in rows["many"] or "best-agent" in rows["many"]
    )


@pytest.mark.parametrize("settings", [{"level": 2}, {"resamples": 1}])
def test_impossible_intervals_are_refused_before_any_pool_is_fitted(settings):
    def progress(name, done, total):
        raise AssertionError(name)

    with pytest.raises(SettingError):
        compare(random_panel(1), pools=FEW, progress=progress, **settings)


def test_no_engine_changes_a_bit_of_a_comparison():
    panel = random_panel(3, cases=200)
    pools = ["vcg", "platt", "convex", "shrunk", "stacked-lr"]
    here = repr(compare(panel, pools=pools).rows)
    with Processes(2) as engine:
        assert repr(compare(panel, pools=pools, engine=engine).rows) == here


class Witness(Engine):
    """Sends work away, as bytes, and counts whose work it was."""

    def __init__(self):
        self.items = Counter()

    def map(self, work, items):
        for item in items:
            self.items[getattr(work, "func", work)] += 1
            yield pickle.loads(pickle.dumps(work))(pickle.loads(pickle.dumps(item)))

    def map_unordered(self, work, items):
        return enumerate(self.map(work, items))


def test_the_resamples_of_every_pool_and_segment_are_work_for_the_engine():
    drawn = random_panel(3, cases=200)
    region = np.array(["north", "south"])[np.arange(200) % 2]
    panel = Panel(drawn.reports, drawn.outcomes, columns={"region": region})
    here = compare(panel, pools=FEW, by="region")
    witness = Witness()
    there = compare(panel, pools=FEW, by="region", engine=witness)
    assert repr(there.rows) == repr(here.rows)
    assert repr(there.groups) == repr(here.groups)
    assert len(here.groups) == 2
    assert witness.items[_estimates] == 3 * len(here.rows)


def test_the_number_of_blas_threads_changes_no_bit_of_a_comparison():
    panel = random_panel(4, cases=3_000)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(repr(compare(panel, pools=["convex", "platt"]).rows))
    assert found[0] == found[1]
