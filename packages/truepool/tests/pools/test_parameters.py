"""What a pool learned is said in numbers and words."""

import numpy as np
import pytest
from scipy.special import expit, logit

from truepool.pages.pool_card import grids
from truepool.pools import every, make
from truepool.pools.interface.card import card_of


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(0)
    z = rng.normal(-0.5, 1.5, 600)
    outcomes = (rng.random(600) < expit(z)).astype(int)
    return expit((z[:, None] + rng.normal(0, 1.5, (600, 3))) / 2), outcomes


def learned(pool, cases):
    return {p.name: p for p in pool.fit(*cases).explain().learned}


def test_platts_slope_and_intercept_give_its_probabilities(cases):
    pool = make("platt")
    found = learned(pool, cases)
    by_hand = expit(found["slope"].value * logit(0.3) + found["intercept"].value)
    assert pool.predict_proba([[0.3] * 3])[0, 1] == pytest.approx(by_hand, abs=1e-12)
    assert found["slope"].value > 1
    assert found["slope"].meaning.endswith("above 1: mean was under-confident")


@pytest.mark.parametrize("name", ["platt", "beta", "extremized", "isotonic"])
def test_a_correction_is_shown_on_three_probabilities(name, cases):
    pool = make(name)
    found = learned(pool, cases)
    for p in (0.1, 0.5, 0.9):
        shown = found[f"{p:g} becomes"].value
        assert pool.predict_proba([[p] * 3])[0, 1] == pytest.approx(shown)


def test_a_curve_of_beta_is_its_two_shapes(cases):
    pool = make("beta")
    found = learned(pool, cases)
    assert [found["a"].value, found["b"].value] == pool.shape_[0].tolist()


def test_an_over_confident_pool_has_a_slope_below_one(cases):
    reports, outcomes = cases
    sharp = expit(6 * logit(reports))
    slope = learned(make("extremized", clip=1e-6), (sharp, outcomes))["slope"]
    assert slope.value < 1
    assert slope.meaning.endswith(
        "below 1: mean was over-confident, without an intercept"
    )
    kept = learned(make("extremized", factor=1.0), cases)["slope"]
    assert kept.meaning.endswith("exactly 1: no change")


def test_a_factor_by_the_number_of_agents_is_that_of_all_agents(cases):
    slope = learned(make("extremized", factor="neyman-roughgarden"), cases)["slope"]
    n = 3
    by_hand = n * (np.sqrt(3 * n * n - 3 * n + 1) - 2) / (n * n - n - 1)
    assert slope.value == pytest.approx(by_hand)
    assert "where all agents report" in slope.meaning


def test_ridge_has_one_slope_per_agent(cases):
    pool = make("ridge")
    found = learned(pool, cases)
    slopes = [found[f"slope of {agent}"].value for agent in pool.agents_]
    by_hand = expit(logit(0.3) * sum(slopes) + found["intercept"].value)
    assert pool.predict_proba([[0.3] * 3])[0, 1] == pytest.approx(by_hand)


def test_a_correction_keeps_the_weights_of_what_it_corrects(cases):
    explained = make("platt", base="vcg").fit(*cases).explain()
    assert explained.name == "platt"
    assert sum(explained.weights.values()) == pytest.approx(1)


@pytest.mark.parametrize("name", ["platt", "beta", "isotonic", "ridge"])
def test_three_classes_name_the_class(name):
    rng = np.random.default_rng(1)
    reports = rng.dirichlet([1, 1, 1], (200, 2))
    outcomes = np.array([rng.choice(3, p=p) for p in reports.mean(axis=1)])
    found = learned(make(name), (reports, outcomes))
    assert not any("becomes" in key for key in found)
    assert any(key.endswith(" of 2") for key in found) == (name != "ridge")


def test_the_card_shows_what_was_learned(cases):
    pool = make("platt").fit(*cases)
    card = card_of(pool)
    table = next(g for g in grids(card) if g.title == "What it learned")
    assert [row[0] for row in table.rows][:2] == ["slope", "intercept"]
    assert card.to_dict()["explanation"]["learned"][0]["name"] == "slope"


def test_every_recalibrated_pool_says_what_it_learned(cases):
    from truepool.pools.interface.recalibrated import RecalibratedPool

    for pool in every().values():
        if issubclass(pool, RecalibratedPool):
            assert pool().fit(*cases).explain().learned


def test_the_mean_regression_of_stacking_is_shown_by_agent(cases):
    pool = make("stacked-lr", cv=2)
    found = learned(pool, cases)
    of_models = pool.parameters_["coefficients"][:, 0]
    assert len(of_models) == 2
    names = [*(f"slope of {agent}" for agent in pool.agents_), "intercept"]
    assert list(found) == names
    shown = [found[name].value for name in names]
    np.testing.assert_allclose(shown, of_models.mean(axis=0), rtol=1e-12)
    # Where the models agree, their mean gives the pooled probability nearly.
    z = logit([[0.3, 0.6, 0.8]]) @ shown[:3] + shown[3]
    assert pool.predict_proba([[0.3, 0.6, 0.8]])[0, 1] == pytest.approx(
        expit(z)[0], abs=0.01
    )
