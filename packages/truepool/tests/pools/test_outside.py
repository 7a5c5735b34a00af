"""A pool from outside that breaks the contract is refused in one sentence."""

from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone

import truepool as tp
from truepool.core.errors import PoolError
from truepool.pools import FixedPool, LinearPool, Pool, configure, learned

REPORTS, OUTCOMES = [[0.9, 0.2], [0.1, 0.4], [0.7, 0.6]], [1, 0, 1]


class Given(LinearPool):
    """Weights as they are given."""

    name: ClassVar[str] = "given"
    complexity: ClassVar[int] = 2

    def __init__(self, given=(0.5, 0.5), *, costs=None, threshold=None):
        super().__init__(costs=costs, threshold=threshold)
        self.given = given

    def _weigh(self, panel, case_weights):
        return self.given


class Shaped(FixedPool):
    """Whatever the function makes of the reports."""

    name: ClassVar[str] = "shaped"

    def __init__(self, function, *, costs=None, threshold=None):
        super().__init__(costs=costs, threshold=threshold)
        self.function = function

    def combine(self, values):
        return self.function(values)


class Sharp(FixedPool):
    """Takes neither costs nor a threshold."""

    name: ClassVar[str] = "sharp"

    def __init__(self, power=2.0):
        self.power = power

    def combine(self, values):
        return np.nanmean(values, axis=1) ** self.power


class Forgetful(Sharp):
    """Takes them, and does not keep them."""

    def __init__(self, power=2.0, *, costs=None, threshold=None):
        self.power = power


class Moderate(FixedPool):
    """Has a setting and nothing else to say about it."""

    name: ClassVar[str] = "moderate"

    share: float = 0.5
    middle_: float = learned(0.5)

    def combine(self, values):
        mean = np.nanmean(values, axis=1)
        return (1 - self.share) * mean + self.share * self.middle_


def test_an_annotation_is_a_setting_that_is_stored_and_copied():
    pool = Moderate(share=1.0, threshold=0.4).fit(REPORTS, OUTCOMES)
    assert (pool.predict_proba(REPORTS) == 0.5).all()
    assert pool.get_params() == {"costs": None, "share": 1.0, "threshold": 0.4}
    assert repr(clone(pool)) == "Moderate(share=1.0, threshold=0.4)"
    with pytest.raises(TypeError, match="positional"):
        Moderate(0.3)


@pytest.mark.parametrize(
    "candidates", [("mean", "platt", "vcg"), ("mean", tp.Auto(candidates=("vcg",)))]
)
def test_settings_are_checked_once_for_a_pool_and_not_on_each_fold(
    candidates, monkeypatch
):
    checked = Counter()
    check = Pool.check

    def counted(self, panel):
        checked[self.name] += 1
        check(self, panel)

    monkeypatch.setattr(Pool, "check", counted)
    tp.Auto(candidates=candidates).fit(REPORTS * 30, OUTCOMES * 30)
    assert checked["auto"] == 1 + sum(not isinstance(c, str) for c in candidates)
    assert checked["mean"] == 1 + candidates.count("platt")


def test_a_candidate_with_settings_that_do_not_fit_is_left_out():
    candidates = ("mean", tp.pools.make("vcg", threshold=1.5), "brier")
    auto = tp.Auto(candidates=candidates).fit(REPORTS * 30, OUTCOMES * 30)
    assert {candidate.name for candidate in auto.table_} == {"mean", "brier"}


def test_weights_may_be_a_list():
    pool = Given([0.25, 0.75]).fit(REPORTS, OUTCOMES)
    np.testing.assert_array_equal(pool.weights_, [0.25, 0.75])
    assert pool.weights_.dtype == np.float64


@pytest.mark.parametrize(
    "weights",
    [(-1.0, 2.0), (1.0,), (0.2, 0.3, 0.5), (0.5, 0.6), (np.nan, 1.0), None, "ab"],
    ids=str,
)
def test_weights_off_the_simplex_are_refused_when_the_pool_is_fitted(weights):
    with pytest.raises(PoolError, match=r"must be 2 numbers.*_weigh\(\) of Given"):
        Given(weights).fit(REPORTS, OUTCOMES)


@pytest.mark.parametrize(
    "function",
    [
        lambda values: np.nanmean(values, axis=1)[:, 0],
        lambda values: np.nanmean(values, axis=1).tolist(),
        lambda values: np.nanmean(values, axis=0),
    ],
    ids=["one axis", "a list", "over the cases"],
)
def test_combine_returns_one_row_per_case(function):
    pool = Shaped(function).fit(REPORTS, OUTCOMES)
    with pytest.raises(PoolError, match=r"here \(3, 1\); combine\(\) of Shaped"):
        pool.predict_proba(REPORTS)
    with pytest.raises(PoolError, match=r"here \(1, 1\); combine\(\) of Shaped"):
        pool.predict_proba_one(dict(zip(pool.agents_, [0.2, 0.4], strict=True)))


@pytest.mark.parametrize("value", [1.3, -0.2, 1 + 2e-9, -2e-9, np.nan], ids=str)
def test_pooled_values_beyond_rounding_are_refused(value):
    pool = Shaped(lambda values: np.where(values[:, 0] > 0.5, value, 0.5))
    pool.fit(REPORTS, OUTCOMES)
    match = r"must lie in \[0, 1\]; combine\(\) of pool 'shaped' returned"
    with pytest.raises(PoolError, match=f"{match} {value} in case 1 of 3"):
        pool.predict_proba(REPORTS)
    with pytest.raises(PoolError, match=f"{match} {value} in case 2 of 2"):
        pool.predict(REPORTS[1:])
    with pytest.raises(PoolError, match=f"{match} {value} in case 1 of 1"):
        pool.predict_proba_one(dict(zip(pool.agents_, [0.9, 0.4], strict=True)))


@pytest.mark.parametrize(("value", "expected"), [(1 + 1e-10, 1.0), (-1e-10, 0.0)])
def test_rounding_is_clipped(value, expected):
    pool = Shaped(lambda values: np.full((len(values), 1), value))
    pool.fit(REPORTS, OUTCOMES)
    assert (pool.predict_proba(REPORTS)[:, 1] == expected).all()
    one = pool.predict_proba_one(dict(zip(pool.agents_, [0.9, 0.4], strict=True)))
    assert one[1] == expected


@pytest.mark.parametrize("pool", [Sharp(), Forgetful()], ids=["takes", "stores"])
@pytest.mark.parametrize(
    "use",
    [
        lambda pool: pool.fit(REPORTS, OUTCOMES),
        lambda pool: configure(pool, threshold=0.3),
        lambda pool: tp.compare(tp.Panel(REPORTS * 9, OUTCOMES * 9), pools=[pool]),
    ],
    ids=["fit", "configure", "compare"],
)
def test_a_constructor_must_store_costs_and_threshold(pool, use):
    with pytest.raises(
        PoolError, match=r"does not store costs, threshold\. Leave __init__"
    ):
        use(pool)


def test_a_pool_with_a_setting_keeps_it_with_costs_and_threshold():
    pool = configure(Given([0.3, 0.7]), threshold=0.4)
    assert (pool.given, pool.threshold) == ([0.3, 0.7], 0.4)


def test_a_pool_that_answers_nonsense_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "truepool.pools.persistence.registry.names", lambda kind: {"shaped": Shaped}
    )
    pool = Shaped(None).fit(REPORTS, OUTCOMES)
    pool.combine = lambda values: np.full((len(values), 1), np.inf - np.inf)
    with pytest.raises(PoolError, match="must lie in .* returned nan"):
        pool.save(tmp_path / "p.pool")
    assert not list(tmp_path.iterdir())
