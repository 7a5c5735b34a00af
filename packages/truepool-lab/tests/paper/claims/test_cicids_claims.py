"""Claims about CICIDS2017, of which one agent of ours learns next to nothing."""

from functools import cache

import numpy as np
import pytest
from dataset_requirements import needs
from published_run import covers, interval_of, repeats

from truepool import VCG, Panel
from truepool.agents import feature_silos, zoo
from truepool.measures.scores import confusion
from truepool.pools.best_agent import BestAgent
from truepool.pools.brier import Brier
from truepool.pools.vote import Vote
from truepool_lab.datasets import cicids2017_mix
from truepool_lab.paper.experiments.rare_attacks import RareAttacks
from truepool_lab.paper.methods import pool_with
from truepool_lab.paper.real_task import prepare
from truepool_lab.paper.settings import COSTS, SILO_SHARE
from truepool_lab.paper.synthetic_task import FIXED
from truepool_lab.pools.confidence import Confidence
from truepool_lab.pools.externality import Externality

pytestmark = [pytest.mark.data, needs("cicids2017-mix")]
BROKEN = "lightgbm"
POOLS = {
    "Best Individual": lambda: BestAgent(loss="cost", costs=COSTS),
    "Brier": Brier,
    "Majority Vote": Vote,
    "VCG": lambda: VCG(loss="cost", costs=COSTS),
    "Externality": Externality,
    "Conf-Weighted": Confidence,
}


@cache
def flows():
    return cicids2017_mix(seed=FIXED, natural=True)


def repeat(number):
    """The rows of one repeat of the published run."""
    return prepare(flows(), RareAttacks().cells("full")[number])


def test_claims_108_143_188_lightgbm_diverges_where_a_class_has_ten_cases():
    pytest.importorskip("lightgbm")
    here = repeat(0)
    silo, *_ = feature_silos(here.X.shape[1], 5, SILO_SHARE)
    X, y = here.X[np.ix_(here.train_rows, silo)], here.y[here.train_rows]
    counts = np.bincount(y)
    assert sorted(counts)[:2] == [7, 10]  # bots and web attacks

    def fitted(rows, **settings):
        model = zoo.make(BROKEN, **settings).classifier(seed=here.seed)
        found = model.fit(X[rows], y[rows])
        score = np.abs(found.predict(X, raw_score=True)).max()
        return score, (found.predict(X[rows]) == y[rows]).mean()

    # A leaf is the gradient over the curvature, and may have a curvature of 0.001.
    every, frequent = np.arange(len(y)), np.flatnonzero(counts[y] > 10)
    score, right = fitted(every)
    assert score > 10_000  # log-odds
    assert right < 0.9  # of the very rows that it was trained on
    for rows, settings in (
        (every, {"min_child_weight": 1.0}), (every, {"reg_lambda": 1.0}), (frequent, {}),
    ):  # fmt: skip
        score, right = fitted(rows, **settings)
        assert score < 30
        assert right > 0.99


@cache
def panels(number):
    return repeat(number).panels()


def without(panel, name):
    kept = [i for i, agent in enumerate(panel.agents) if agent != name]
    agents = [panel.agents[i] for i in kept]
    return Panel(panel.values[:, kept], panel.outcomes, agents=agents)


def f1_macro(number, *, leave_out=None):
    """F1-macro of every method in one repeat."""
    validation, test = (
        without(panel, leave_out) if leave_out else panel for panel in panels(number)
    )
    return {
        method: confusion(pool_with(pool(), validation, test), test.outcomes).f1_macro
        for method, pool in POOLS.items()
    }


@pytest.mark.slow
def test_claims_108_143_188_the_methods_score_what_was_published():
    for number in range(10):
        for method, found in f1_macro(number).items():
            published = repeats("tab:cicids2017", method, "F1-macro")[number]
            assert found == pytest.approx(published, abs=0.001)


@pytest.mark.slow
def test_claims_108_143_188_one_agent_is_broken_and_catboost_is_the_best():
    f1, accuracy, best = [], [], []
    for number in range(10):
        validation, test = panels(number)
        counts = [
            confusion(test.values[:, i], test.outcomes) for i in range(len(test.agents))
        ]
        f1.append([each.f1_macro for each in counts])
        accuracy.append([each.accuracy for each in counts])
        chosen = BestAgent(loss="cost", costs=COSTS).fit_panel(validation)
        best.append(test.agents[np.argmax(chosen.weights_)])
        assert np.bincount(test.outcomes)[-2:].tolist() == [6, 4]  # web attacks, bots
    assert set(best) == {"catboost"}
    f1 = dict(zip(test.agents, np.transpose(f1), strict=True))
    accuracy = dict(zip(test.agents, np.transpose(accuracy), strict=True))
    means = [f1[name].mean() for name in (BROKEN, "catboost", "xgboost", "random-forest")]  # fmt: skip
    assert means == pytest.approx([0.39, 0.872, 0.880, 0.754], abs=0.005)
    assert (f1["random-forest"] < np.minimum(f1["catboost"], f1["xgboost"])).all()
    share = (test.outcomes == 0).mean()
    assert round(share, 2) == 0.82
    assert accuracy[BROKEN].mean() == pytest.approx(0.865, abs=0.005)
    assert (accuracy[BROKEN] < share).sum() == 2
    assert min(a.mean() for name, a in accuracy.items() if name != BROKEN) > 0.98


@pytest.mark.slow
def test_claims_108_143_188_without_that_agent_the_best_is_hardly_ahead():
    found = [f1_macro(number, leave_out=BROKEN) for number in range(10)]

    def lead(one, other):
        return np.array([each[one] - each[other] for each in found])

    best = "Best Individual"
    for one, other, mean, error, clear in (
        (best, "Majority Vote", 0.028, 0.012, True),
        (best, "Conf-Weighted", 0.028, 0.012, True),
        (best, "Externality", 0.016, 0.009, False),
        (best, "Brier", 0.013, 0.010, False),
        (best, "VCG", 0.015, 0.010, False),
        ("VCG", "Majority Vote", 0.013, 0.008, False),
    ):
        apart = lead(one, other)
        assert apart.mean() == pytest.approx(mean, abs=0.001)
        assert apart.std(ddof=1) / np.sqrt(10) == pytest.approx(error, abs=0.001)
        assert covers(interval_of(apart), 0) != clear
    assert interval_of(lead(best, "VCG"))[1] < 0.119  # as printed
