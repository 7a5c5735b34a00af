"""READINGS 4, checked: the paper's five agents on real data, pooled."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from dataset_requirements import needs
from published_run import published
from sklearn.model_selection import train_test_split

from truepool import Costs, Panel, agents, datasets, diversity, pools, scores
from truepool.core.arrays import FloatArray, IntArray
from truepool.datasets import Features
from truepool.pools import Pool
from truepool_lab.datasets import nsl_kdd
from truepool_lab.paper.real_task import FIFTH
from truepool_lab.paper.settings import UNCLIPPED

SEEDS = (0, 1, 2)
VALIDATION = 0.2  # of the train part: apd:hyperparams
HALF_A_DIGIT = 0.0005

POOLS: Mapping[str, Callable[[], Pool]] = {
    "vcg": lambda: pools.make("vcg", loss="brier"),
    "vcg at cost": lambda: pools.make(
        "vcg", loss="cost", costs=Costs(fn=10, fp=1), threshold=0.5
    ),
    "brier": lambda: pools.make("brier"),
    "log-odds": lambda: pools.make("log-odds", clip=UNCLIPPED),
    "stacked-lr": lambda: pools.make("stacked-lr"),
}

# READINGS 4 gives one row for VCG; both of its losses are held against it.
VCG = {"recall": 0.991, "f1": 0.990, "fn_rate": 0.009, "ece": 0.005}
READINGS: Mapping[str, Mapping[str, float]] = {
    "vcg": VCG,
    "vcg at cost": VCG,
    "brier": {"recall": 0.991, "f1": 0.990, "fn_rate": 0.009, "ece": 0.009},
    "log-odds": {"ece": 0.004},  # see CLIPPED
    "stacked-lr": {"recall": 0.991, "f1": 0.990, "fn_rate": 0.009, "ece": 0.004},
}

# READINGS does not say where a report of 0 or 1 is clipped before its logit is taken.
# Clipped at 0.001 its figure comes out; as built (at 1e-12) log-odds does better. The
# clip was looked for after the figure had missed: an explanation, no confirmation.
CLIPPED = {"log-odds": 0.001}

pytestmark = pytest.mark.slow  # five agents are trained on each data set
needs_data = needs("nsl-kdd")
needs_agents = pytest.mark.skipif(
    not all(find_spec(name) for name in ("lightgbm", "catboost", "xgboost")),
    reason="lightgbm, catboost and xgboost are needed: pip install 'truepool[agents]'",
)


class SplitReports(NamedTuple):
    """Reports of one seed on rows no agent was trained on."""

    validation: FloatArray
    validation_outcomes: IntArray
    test: FloatArray
    test_outcomes: IntArray


def train_and_report(rows: Features, seed: int) -> SplitReports:
    X, y = rows.values, rows.outcomes
    rest, test = train_test_split(
        np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed
    )
    learn, validation = train_test_split(
        rest, test_size=VALIDATION, stratify=y[rest], random_state=seed
    )
    X = rows.encoder().fit(X[learn]).transform(X)
    trained = agents.train(
        X[learn], y[learn], features=0.6, seed=seed, n_jobs=2, cache=False
    )
    report = trained.reports
    return SplitReports(report(X[validation]), y[validation], report(X[test]), y[test])


@pytest.fixture(scope="module")
def splits() -> list[SplitReports]:
    rows = nsl_kdd(rows=None, train=FIFTH)
    return [train_and_report(rows, seed) for seed in SEEDS]


def seed_error(values: FloatArray) -> float:
    """Standard error of a mean over seeds."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


@pytest.mark.data
@needs_data
@needs_agents
@pytest.mark.parametrize(
    ("pool", "score"),
    [(pool, score) for pool, printed in READINGS.items() for score in printed],
)
def test_a_pool_scores_on_nsl_kdd_what_readings_says(
    splits: list[SplitReports], pool: str, score: str
) -> None:
    measured = np.array(
        [
            score_of(POOLS[pool](), part, score, CLIPPED.get(pool, 0.0))
            for part in splits
        ]
    )
    ours = measured.mean()
    if score in ("recall", "fn_rate"):  # a share of the attacks tested
        attacks = sum(part.test_outcomes.sum() for part in splits)
        error = np.sqrt(ours * (1 - ours) / attacks)
    else:
        error = seed_error(measured)
    assert abs(ours - READINGS[pool][score]) <= 3 * error + HALF_A_DIGIT


@pytest.mark.data
@needs_data
@needs_agents
def test_log_odds_as_built_is_better_calibrated_than_clipped(
    splits: list[SplitReports],
) -> None:
    built, clipped = (
        np.mean(
            [
                score_of(pools.make("log-odds", clip=UNCLIPPED), part, "ece", at)
                for part in splits
            ]
        )
        for at in (0.0, 0.001)
    )
    assert built < clipped


def score_of(
    pool: Pool,
    part: SplitReports,
    score: str,
    clip: float = 0.0,
    threshold: float = 0.5,
) -> float:
    pool.fit(part.validation, part.validation_outcomes)
    pooled = pool.predict_proba(np.clip(part.test, clip, 1 - clip))
    return scores.summary(pooled, part.test_outcomes, threshold=threshold)[score]


@pytest.mark.data
@needs_data
@needs_agents
def test_agents_agree_more_than_the_paper_prints(splits: list[SplitReports]) -> None:
    pairs = list(combinations(range(5), 2))
    tables = [np.corrcoef(part.test, rowvar=False) for part in splits]
    agreement = np.array([np.mean([t[pair] for pair in pairs]) for t in tables])
    # tab:empirical_rho has 0.978; the published run calls its own 0.989 no match by
    # the same rule: rounding plus twice the standard error of the difference.
    allowed = HALF_A_DIGIT + 2 * np.sqrt(2) * seed_error(agreement)
    assert agreement.mean() - 0.978 > allowed
    run = published()["tab:empirical_rho"].cells[("NSL-KDD",), "mean rho"]
    assert run.verdict != "match"
    assert agreement.mean() < run.measured.value  # fewer rows, less alike


# Threshold, mean pairwise correlation, and what READINGS 4 gives for two seeds each.
ELSEWHERE: Mapping[str, tuple[float, float, Mapping[str, Mapping[str, float]]]] = {
    "credit-card": (
        0.3,
        0.9545,
        {
            "vcg": {"recall": 0.831, "f1": 0.873, "fn_rate": 0.169},
            "brier": {"recall": 0.828, "f1": 0.891, "fn_rate": 0.172},
            "log-odds": {"recall": 0.818, "f1": 0.887, "fn_rate": 0.182},
        },
    ),
    "unsw-nb15": (
        0.5,
        0.977,
        {
            "vcg": {"recall": 0.974, "f1": 0.979, "fn_rate": 0.026, "ece": 0.012},
            "brier": {"recall": 0.973, "f1": 0.980, "fn_rate": 0.027},
        },
    ),
}


@pytest.fixture(scope="module", params=list(ELSEWHERE))
def elsewhere(request: pytest.FixtureRequest) -> tuple[str, list[SplitReports]]:
    rows = datasets.load(request.param)
    return request.param, [train_and_report(rows, seed) for seed in (0, 1)]


@pytest.mark.data
@needs("credit-card")
@needs("unsw-nb15")
@needs_agents
def test_pools_score_elsewhere_what_readings_says(
    elsewhere: tuple[str, list[SplitReports]],
) -> None:
    name, splits = elsewhere
    threshold, _, expected = ELSEWHERE[name]
    at_cost = pools.make(
        "vcg", loss="cost", costs=Costs(fn=10, fp=1), threshold=threshold
    )
    for pool, printed in expected.items():
        chosen = at_cost if pool == "vcg" else pools.make(pool)
        for score, figure in printed.items():
            each = [
                score_of(chosen, part, score, threshold=threshold) for part in splits
            ]
            ours = np.array(each)
            error = 3 * chance_of(score, ours, splits) + HALF_A_DIGIT
            assert abs(ours.mean() - figure) <= error, (pool, score, ours)


def chance_of(score: str, ours: FloatArray, splits: list[SplitReports]) -> float:
    """Standard error of a score: of a share of the positives, or over the seeds."""
    if score == "ece":
        return seed_error(ours)
    positives = sum(part.test_outcomes.sum() for part in splits)
    return float(np.sqrt(ours.mean() * (1 - ours.mean()) / positives))


@pytest.mark.data
@needs("credit-card")
@needs("unsw-nb15")
@needs_agents
def test_agents_agree_elsewhere_as_much_as_readings_says(
    elsewhere: tuple[str, list[SplitReports]],
) -> None:
    name, splits = elsewhere
    found = [
        diversity.diversity(Panel(part.test, part.test_outcomes)).mean_correlation
        for part in splits
    ]
    # What READINGS 4 gives is a range over two seeds, rounded to three digits.
    assert abs(np.mean(found) - ELSEWHERE[name][1]) <= 0.01
    place = ("UNSW-NB15" if name == "unsw-nb15" else "Credit Card",), "mean rho"
    assert published()["tab:empirical_rho"].cells[place].verdict == "match"
