"""What every pool owes. Pools are found by folder: a new one is tested by being there."""

import pickle

import numpy as np
import pandas as pd
import promises
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import panels, random_panel
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from truepool import pools
from truepool.core.arrays import to_classes
from truepool.core.errors import (
    AgentError,
    CostError,
    ReportError,
    SettingError,
    UnknownNameError,
)
from truepool.core.kernels import reference
from truepool.measures.decisions import decide
from truepool.measures.losses import NAMES
from truepool.measures.scores import loss
from truepool.panel.costs import Costs
from truepool.panel.reports import check_reports
from truepool.pools import LinearPool
from truepool.pools.interface import FixedPool

EVERY = list(pools.every())
NEURAL = {name for name, cls in pools.every().items() if "epochs" in cls.settings()}
COSTS = Costs(fn=3, fp=1)
LEARNED = {"classes": st.sampled_from([2, 3]), "seed": st.integers(0, 20)}

each = pytest.mark.parametrize("name", EVERY)


def owing(promise):
    """Every pool that makes this promise."""
    return promises.owing(pools.every(), promise)


def fitted(name, panel, **options):
    pool = pools.make(name, costs=COSTS, **options)
    return pool.fit(panel.reports, panel.outcomes)


@each
def test_an_exemption_is_for_a_known_promise_and_gives_a_reason(name):
    exemptions = pools.every()[name].exemptions
    assert set(exemptions) <= promises.POOLS
    assert all(len(reason) > 20 for reason in exemptions.values())


def test_only_pools_that_recalibrate_or_learn_a_model_are_exempt_from_unanimity():
    exemptions = {
        n for n, cls in pools.every().items() if "unanimity" in cls.exemptions
    }
    assert exemptions == {"auto", "bayes", "beta", "boosted", "crowd", "extremized", "isotonic",
                          "platt", "ridge", "shrunk", "simplest", "stacked-lr",
                          "stacked-mlp", *NEURAL} & {*EVERY}  # fmt: skip


def unclipped(name):
    """Settings by which a pool takes even certain reports as they are."""
    return {"clip": 1e-12} if "clip" in pools.every()[name].settings() else {}


@owing("unanimity")
@given(p=st.floats(0, 1), seed=st.integers(0, 20), silent=st.sampled_from([0, 0.3]))
@settings(max_examples=10)
def test_unanimous_reports_are_returned(name, p, seed, silent):
    pool = fitted(name, random_panel(seed, silent=silent), **unclipped(name))
    reports = np.where(np.isnan(random_panel(seed, silent=0.3).reports), np.nan, p)
    assert_allclose(pool.predict_proba(reports)[:, 1], p, atol=1e-9)


@owing("unanimity")
@given(seed=st.integers(0, 20))
@settings(max_examples=10)
def test_unanimous_agents_are_believed_about_classes(name, seed):
    pool = fitted(name, random_panel(seed, classes=3), **unclipped(name))
    p = np.random.default_rng(seed).dirichlet(np.ones(3))
    reports = np.tile(p, (5, 4, 1))
    assert_allclose(pool.predict_proba(reports), np.tile(p, (5, 1)), atol=1e-9)


@pytest.mark.no_cover
@each
@given(**LEARNED, silent=st.sampled_from([0.0, 0.3]))
@settings(max_examples=6)
def test_pools_are_probabilities_and_weights_lie_on_the_simplex(
    name, classes, seed, silent
):
    panel = random_panel(seed, classes=classes, silent=silent)
    pool = fitted(name, panel)
    pooled = pool.predict_proba(panel.reports)
    assert pooled.shape == (len(panel), classes)
    assert ((pooled >= 0) & (pooled <= 1)).all()
    assert_allclose(pooled.sum(axis=1), 1.0)
    assert set(pool.predict(panel.reports)) <= set(range(classes))
    if isinstance(pool, LinearPool):
        assert pool.weights_.shape == (4,)
        assert (pool.weights_ >= 0).all()
        assert_allclose(pool.weights_.sum(), 1.0)


@each
@given(data=st.data())
@settings(max_examples=8)
def test_ties_certainties_and_missing_reports_are_handled(name, data):
    panel = data.draw(st.one_of(panels(), panels(classes=3)))
    pooled = fitted(name, panel).predict_proba(panel.reports)
    assert ((pooled >= 0) & (pooled <= 1)).all()
    assert_allclose(pooled.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", ["isotonic", "bayes", "platt", "beta", "extremized"])
def test_weights_scaled_to_sum_to_one_count_as_the_cases_they_are(name):
    panel = random_panel(3, cases=200)
    plain = pools.make(name).fit(panel.reports, panel.outcomes)
    scaled = pools.make(name).fit(panel.reports, panel.outcomes, np.full(200, 1 / 200))
    assert_allclose(
        scaled.predict_proba(panel.reports),
        plain.predict_proba(panel.reports),
        atol=1e-4,
    )


@pytest.mark.no_cover
@owing("permutation")
@given(**LEARNED)
@settings(max_examples=6)
def test_the_order_of_the_agents_does_not_matter(name, classes, seed):
    panel = random_panel(seed, classes=classes, silent=0.1)
    order = np.random.default_rng(seed).permutation(4)
    pool = fitted(name, panel)
    other = clone(pool).fit(panel.reports[:, order], panel.outcomes)
    pooled = pool.predict_proba(panel.reports)
    assert_allclose(other.predict_proba(panel.reports[:, order]), pooled, atol=1e-7)
    if isinstance(pool, LinearPool):
        assert_allclose(other.weights_, pool.weights_[order], atol=1e-7)


@owing("permutation")
def test_agents_in_another_order_are_pooled_alike_where_trees_are_grown(name):
    panel = random_panel(5, cases=150, silent=0.1)  # `auto` boosts from 100 cases on
    pool = fitted(name, panel)
    other = clone(pool).fit(panel.reports[:, ::-1], panel.outcomes)
    pooled = pool.predict_proba(panel.reports)
    assert_allclose(other.predict_proba(panel.reports[:, ::-1]), pooled, atol=1e-7)


def test_only_the_last_digits_of_auto_depend_on_the_order_of_the_agents():
    every = pools.every().items()
    exempt = {name for name, cls in every if "permutation" in cls.exemptions}
    assert exempt == {"auto"}
    panel = random_panel(5, cases=150, silent=0.1)
    pool = fitted("auto", panel)
    other = clone(pool).fit(panel.reports[:, ::-1], panel.outcomes)
    pooled = pool.predict_proba(panel.reports)
    turned = other.predict_proba(panel.reports[:, ::-1])
    assert_allclose(turned, pooled, atol=1e-5)


@pytest.mark.no_cover
@owing("duplicate")
@given(**LEARNED)
@settings(max_examples=6)
def test_a_copy_of_an_agent_is_treated_as_the_agent(name, classes, seed):
    panel = random_panel(seed, classes=classes)
    twins = panel.reports[:, [0, 1, 2, 3, 1]]
    pool = pools.make(name, costs=COSTS).fit(twins, panel.outcomes)
    if isinstance(pool, LinearPool):
        assert_allclose(pool.weights_[1], pool.weights_[4], atol=1e-6)
    reports = random_panel(seed + 1, classes=classes, agents=5).reports
    swapped = reports[:, [0, 4, 2, 3, 1]]
    assert_allclose(pool.predict_proba(swapped), pool.predict_proba(reports), atol=1e-5)


@owing("label swap")
@given(seed=st.integers(0, 20))
@settings(max_examples=8)
def test_asking_the_opposite_question_gives_the_opposite_answer(name, seed):
    panel = random_panel(seed, silent=0.1)
    pool = fitted(name, panel)
    mirror = pools.make(name, costs=COSTS.swap())
    mirror.fit(1 - panel.reports, 1 - panel.outcomes)
    pooled = pool.predict_proba(panel.reports)
    mirrored = mirror.predict_proba(1 - panel.reports)
    assert_allclose(mirrored, pooled[:, ::-1], atol=2e-5)


@pytest.mark.no_cover
@each
def test_two_classes_spelled_out_are_the_binary_case(name):
    panel = random_panel(3)
    spelled = np.stack([1 - panel.reports, panel.reports], axis=2)
    binary = fitted(name, panel).predict_proba(panel.reports)
    both = pools.make(name, costs=COSTS).fit(spelled, panel.outcomes)
    assert_array_equal(both.predict_proba(spelled), binary)


@pytest.mark.parametrize(
    "name",
    [name for name in ("mean", "brier", "externality", "vote", "log-odds", "best-agent",
                       "median", "trimmed", "krum", "vcg", "shapley", "greedy", "convex")
     if name in EVERY],
)  # fmt: skip
def test_a_class_that_cannot_happen_changes_nothing(name):
    # The K-class mathematics on two classes, not the shortcut K = 2 takes.
    panel = random_panel(3, silent=0.1)
    p = panel.reports
    three = np.stack([1 - p, p, np.where(np.isnan(p), np.nan, 0.0)], axis=2)
    exact = unclipped(name)
    binary = fitted(name, panel, **exact).predict_proba(p)
    many = pools.make(name, costs=COSTS, **exact).fit(three, panel.outcomes)
    assert_allclose(many.predict_proba(three)[:, :2], binary, atol=1e-6)


@pytest.mark.no_cover
@each
@pytest.mark.parametrize("classes", [2, 3])
def test_the_same_panel_gives_the_same_numbers(name, classes):
    panel = random_panel(5, classes=classes, silent=0.1)
    pool = fitted(name, panel)
    again = clone(pool).fit(panel.reports, panel.outcomes)
    restored = pickle.loads(pickle.dumps(pool))
    pooled = pool.predict_proba(panel.reports)
    assert_array_equal(again.predict_proba(panel.reports), pooled)
    assert_array_equal(restored.predict_proba(panel.reports), pooled)


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_a_saved_pool_answers_to_the_last_bit(name, classes, tmp_path):
    panel = random_panel(5, classes=classes, silent=0.1)
    pool = fitted(name, panel)
    pool.save(tmp_path / "x.pool")
    loaded = pools.load_pool(tmp_path / "x.pool")
    assert type(loaded) is type(pool)
    assert repr(loaded) == repr(pool)
    new = random_panel(6, classes=classes, silent=0.2).reports
    assert_array_equal(loaded.predict_proba(new), pool.predict_proba(new))
    assert_array_equal(loaded.predict(new), pool.predict(new))
    assert loaded.explain() == pool.explain()
    assert vars(loaded).keys() == vars(pool).keys()
    loaded.save(tmp_path / "y.pool")
    first, second = ((tmp_path / f"{file}.pool").read_bytes() for file in "xy")
    assert first == second


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_a_contribution_is_the_pool_with_minus_without_the_report(name, classes):
    panel = random_panel(7, classes=classes, silent=0.3)
    pool = fitted(name, panel)
    found = pool.contributions(panel.reports)
    assert found.shape == panel.reports.shape
    rates = to_classes(panel.base_rate()[None])[0]
    for t in range(0, len(panel), 40):
        whole = pool.predict_proba(panel.reports[[t]])[0]
        for i in range(4):
            others = panel.reports[[t]].copy()
            others[:, i] = np.nan
            if np.isnan(panel.reports[t, i]).any():
                expected = np.zeros(classes)
            elif np.isnan(others).all():
                expected = whole - rates
            else:
                expected = whole - pool.predict_proba(others)[0]
            expected = expected[1] if classes == 2 else expected
            assert_allclose(found[t, i], expected, atol=1e-12)


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_one_case_given_by_agent_is_pooled_like_a_table(name, classes):
    panel = random_panel(6, classes=classes, silent=0.2)
    pool = fitted(name, panel)
    table = pool.predict_proba(panel.reports[:3])
    for t, row in enumerate(panel.reports[:3]):
        reported = [i for i in range(4) if not np.isnan(row[i]).any()]
        case = {f"agent{i}": row[i].tolist() for i in reversed(reported)}
        answer = pool.predict_proba_one(case)
        assert list(answer) == list(range(classes))
        assert_allclose(list(answer.values()), table[t], atol=1e-12)
        if classes > 2:
            named = {a: dict(enumerate(report)) for a, report in case.items()}
            assert pool.predict_proba_one(named) == answer
        assert pool.decide_one(case) == pool.predict(panel.reports[[t]])[0]
    with pytest.raises(AgentError, match="got 'agnet0' .did you mean 'agent0'"):
        pool.predict_proba_one({"agnet0": 0.5})
    with pytest.raises(ReportError):
        pool.predict_proba_one({})


@each
def test_one_case_is_pooled_as_it_is_among_others(name):
    panel = random_panel(6, silent=0.2)
    pool = fitted(name, panel)
    alone = np.concatenate([pool.predict_proba(row[None]) for row in panel.reports])
    assert_allclose(alone, pool.predict_proba(panel.reports), atol=1e-12)


@pytest.mark.parametrize(
    "name", [n for n, c in pools.every().items() if issubclass(c, FixedPool)]
)
@pytest.mark.parametrize("classes", [2, 3])
def test_an_agent_without_reports_counts_as_absent(name, classes):
    panel = random_panel(7, classes=classes)
    reports = panel.reports.copy()
    reports[:, 2] = np.nan
    absent = np.delete(panel.reports, 2, axis=1)
    without = pools.make(name, costs=COSTS).fit(absent, panel.outcomes)
    assert_allclose(
        fitted(name, panel).predict_proba(reports), without.predict_proba(absent)
    )


@pytest.mark.parametrize(
    "name", [n for n, c in pools.every().items() if issubclass(c, LinearPool)]
)
def test_weights_renormalise_over_those_who_reported(name):
    pool = fitted(name, random_panel(8, silent=0.2))
    reports = random_panel(9, silent=0.4)
    expected = reference.linear(reports.values, pool.weights_)
    assert_allclose(pool.predict_proba(reports.reports), to_classes(expected))


def pooled_without_an_agent(name):
    """Return a panel, and what a pool fitted on it says without its first agent."""
    panel = random_panel(8)
    reports = panel.reports.copy()
    reports[:, 0] = np.nan
    return panel, fitted(name, panel).predict_proba(reports)[:, 1]


@each
def test_a_case_without_the_report_of_an_agent_is_pooled(name):
    assert np.isfinite(pooled_without_an_agent(name)[1]).all()


@owing("better than a coin")
def test_without_the_reports_of_an_agent_the_others_beat_a_coin(name):
    panel, pooled = pooled_without_an_agent(name)
    assert ((pooled - panel.outcomes) ** 2).mean() < 0.25


# Those left out split the cases, and a case of weight two is in one part only; boosting
# asks for so many cases in a leaf, whatever they weigh.
WEIGHED = sorted(
    set(EVERY)
    - {"auto", "boosted", "ridge", "simplest", "stacked-lr", "stacked-mlp", *NEURAL}
)


@pytest.mark.parametrize("name", WEIGHED)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_case_of_weight_two_counts_as_two_cases(name, classes):
    panel = random_panel(4, cases=40, silent=0.1, classes=classes)
    counts = np.arange(40) % 3
    rows = np.repeat(np.arange(40), counts)
    weighted = pools.make(name).fit(panel.reports, panel.outcomes, counts.astype(float))
    repeated = pools.make(name).fit(panel.reports[rows], panel.outcomes[rows])
    assert_allclose(
        weighted.predict_proba(panel.reports),
        repeated.predict_proba(panel.reports),
        atol=2e-4,
    )


@each
def test_costs_move_decisions(name):
    panel = random_panel(2, skill=1.0)
    timid = pools.make(name, costs=Costs(fn=20, fp=1))
    bold = pools.make(name, costs=Costs(fn=1, fp=20))
    timid.fit(panel.reports, panel.outcomes)
    bold.fit(panel.reports, panel.outcomes)
    assert timid.predict(panel.reports).sum() > bold.predict(panel.reports).sum()


@each
def test_frames_are_matched_by_name(name):
    panel = random_panel(1)
    frame = pd.DataFrame(panel.reports, columns=["a", "b", "c", "d"])
    pool = pools.make(name).fit(frame, panel.outcomes)
    assert pool.agents_ == ("a", "b", "c", "d")
    shuffled = frame[["c", "a", "d", "b"]]
    assert_array_equal(pool.predict_proba(shuffled), pool.predict_proba(frame))
    with pytest.raises(AgentError, match="missing 'd'; unknown 'e'"):
        pool.predict_proba(frame.rename(columns={"d": "e"}))


@each
def test_a_pool_fitted_without_names_takes_a_frame_by_position(name):
    panel = random_panel(1)
    pool = pools.make(name).fit(panel.reports, panel.outcomes)
    frame = pd.DataFrame(panel.reports, columns=["a", "b", "c", "d"])
    assert_array_equal(pool.predict_proba(frame), pool.predict_proba(panel.reports))


def test_every_kind_of_frame_is_read():
    reports = [[0.9, 0.5], [0.1, None]]
    columns = {"a": [0.9, 0.1], "b": [0.5, None]}
    pool = pools.make("mean").fit(np.array(reports, dtype=float), [1, 0])
    for frame in (pa.table(columns), pd.DataFrame(columns).astype("Float64")):
        fitted = pools.make("mean").fit(frame, [1, 0])
        assert fitted.agents_ == ("a", "b")
        assert_allclose(fitted.predict_proba(frame), pool.predict_proba(frame))
    masked = np.ma.masked_invalid(np.array(reports, dtype=float))
    assert_allclose(pool.predict_proba(masked), pool.predict_proba(frame))


def test_a_setting_that_a_pool_does_not_have_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'loss'"):
        pools.make("vcg", los="log")
    with pytest.raises(UnknownNameError, match="did you mean 'loss'"):
        pools.configure("vcg", costs=COSTS, los="log")
    assert pools.make("platt", base="vcg").base == "vcg"


@each
def test_common_settings_go_to_the_pools_that_take_them(name):
    pool = pools.configure(name, costs=COSTS, threshold=0.3, seed=7)
    assert (pool.costs, pool.threshold) == (COSTS, 0.3)
    assert pool.get_params().get("seed", 7) == 7


def test_a_pool_object_keeps_its_settings():
    own = pools.make("vcg", threshold=0.2, seed=3)
    copy = pools.configure(own, costs=COSTS, threshold=0.3, seed=7)
    assert (copy.costs, copy.threshold, copy.seed) == (COSTS, 0.2, 3)
    assert own.costs is None
    with pytest.raises(SettingError, match="has its own settings; got loss"):
        pools.configure(own, loss="log")


@each
def test_pools_work_in_a_pipeline(name):
    panel = random_panel(1)
    logits = np.log(panel.reports / (1 - panel.reports))
    sigmoid = FunctionTransformer(lambda x: 1 / (1 + np.exp(-x)))
    pipe = make_pipeline(sigmoid, pools.make(name)).fit(logits, panel.outcomes)
    direct = pools.make(name).fit(panel.reports, panel.outcomes)
    assert_allclose(
        pipe.predict_proba(logits), direct.predict_proba(panel.reports), atol=1e-6
    )


@each
def test_settings_can_be_read_and_set(name):
    pool = pools.make(name)
    assert {"costs", "threshold"} <= set(pool.get_params())
    pool.set_params(threshold=0.3)
    assert pool.threshold == 0.3
    assert clone(pool).get_params() == pool.get_params()


@each
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda r: r * 100, ReportError),
        (lambda r: np.log(r / (1 - r)), ReportError),
        (lambda r: np.where(np.arange(len(r))[:, None] == 3, np.nan, r), ReportError),
        (lambda r: r[:, :1], AgentError),
        (lambda r: r[0], ReportError),
        (lambda r: np.where(r == r[0, 0], np.inf, r), ReportError),
    ],
    ids=["percentages", "logits", "no reports", "one agent", "flat", "infinite"],
)
def test_invalid_reports_are_refused_by_fit_and_by_predict(name, change, kind):
    panel = random_panel(1)
    bad = change(panel.reports)
    with pytest.raises(kind):
        pools.make(name).fit(bad, panel.outcomes)
    pool = fitted(name, panel)
    with pytest.raises(kind):
        pool.predict_proba(bad)


# Of nine or eleven agents that tie, shares of 1/9 or 1/11 sum to a last bit above 1.
@each
@pytest.mark.parametrize("agents", [3, 9, 11])
@pytest.mark.parametrize("classes", [2, 3])
def test_pooled_values_are_probabilities_to_the_last_bit(name, agents, classes):
    learned = random_panel(1, cases=60, classes=classes)
    tied = np.repeat(learned.reports[:, :1], agents, axis=1)
    pool = pools.make(name).fit(tied, learned.outcomes)
    sure = np.zeros((classes, agents, classes))
    sure[np.arange(classes), :, np.arange(classes)] = 1.0
    reports = sure[:, :, 1] if classes == 2 else sure
    pooled = pool.predict_proba(reports)
    assert pooled.shape == (classes, classes)
    assert (pooled >= 0).all()
    assert (pooled <= 1).all()
    assert_allclose(pooled.sum(axis=1), 1.0, rtol=0, atol=4 * np.finfo(float).eps)
    loss(pooled, np.arange(classes))  # what is scored must be a probability


@each
@pytest.mark.parametrize("agents", [3, 9, 11])
def test_agents_that_are_all_certain_are_pooled_and_scored(name, agents):
    outcomes = np.arange(20) % 2
    reports = np.repeat(outcomes[:, None].astype(float), agents, axis=1)
    reports[:2] = 1.0  # one of them wrong
    pool = pools.make(name, **brief(name)).fit(reports, outcomes)
    pooled = pool.predict_proba(np.ones((1, agents)))
    assert ((pooled >= 0) & (pooled <= 1)).all()
    loss(pooled, [1])  # what is scored must be a probability


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_both_predictions_are_views_of_one_result(name, classes):
    panel = random_panel(2, classes=classes)
    pool = fitted(name, panel)
    values, _ = check_reports(panel.reports)
    result = pool.pool(values)
    assert_array_equal(pool.predict_proba(panel.reports), result.probabilities)
    assert_array_equal(pool.predict(panel.reports), result.decisions)
    assert_array_equal(result.decisions, decide(result.probabilities, COSTS))


@each
def test_a_pool_explains_itself_by_agent(name):
    panel = random_panel(2)
    pool = fitted(name, panel)
    explanation = pool.explain()
    assert explanation.name == (pool.choice_ if name == "simplest" else name)
    assert (explanation.why is None) == (name not in ("auto", "simplest"))
    assert (explanation.members is None) == (name != "auto")
    assert (explanation.scores is None) == (name not in ("auto", "simplest"))
    if explanation.scores is not None:
        assert {row.name for row in pool.table_} == set(explanation.scores)
        losses = list(explanation.scores.values())
        assert losses == sorted(losses)
        assert explanation.scored_by == ("log" if name == "auto" else "cost")
    if isinstance(pool, LinearPool):
        assert_array_equal(list(explanation.weights.values()), pool.weights_)
    for numbers in (explanation.weights, explanation.credit):
        assert numbers is None or tuple(numbers) == panel.agents
    if explanation.weights is not None:
        assert_allclose(sum(explanation.weights.values()), 1.0)
    if explanation.credit is not None:
        assert explanation.loss in NAMES


def test_these_pools_have_weights_credit_and_a_loss_to_explain():
    panel = random_panel(2)
    every = {name: fitted(name, panel).explain() for name in pools.every()}
    del every["simplest"]  # explains another
    # A pool that recalibrates another one has the weights of that.
    inner = {"beta", "extremized", "isotonic", "platt"}
    weighed = {name for name, e in every.items() if e.weights is not None}
    assert weighed - inner == {
        "best-agent", "brier", "convex", "externality", "greedy", "mean", "shapley",
        "vcg",
    } & every.keys()  # fmt: skip
    for name in inner:
        assert every[name].weights == every["mean"].weights
    assert {n for n, e in every.items() if e.credit} == {"shapley", "vcg"}
    assert {name for name, e in every.items() if e.loss} == {
        "auto", "best-agent", "convex", "greedy", "shapley", "vcg",
    }  # fmt: skip


@each
def test_an_unfitted_pool_raises_not_fitted(name):
    pool = pools.make(name)
    panel = random_panel(1)
    for ask in (pool.explain, lambda: pool.pool(panel.values)):
        with pytest.raises(NotFittedError, match="not fitted"):
            ask()


@each
def test_reports_of_another_shape_than_learned_are_refused(name):
    pool = fitted(name, random_panel(1))
    with pytest.raises(AgentError, match="learned from 4 agents.*got reports of 5"):
        pool.predict_proba(random_panel(1, agents=5).reports)
    with pytest.raises(ReportError, match="learned 2 classes; got reports of 3"):
        pool.predict_proba(random_panel(1, classes=3).reports)


@each
def test_costs_and_thresholds_for_something_else_are_refused(name):
    panel = random_panel(1)
    with pytest.raises(CostError, match="K = 2"):
        pools.make(name, costs=Costs(matrix=1 - np.eye(3))).fit(
            panel.reports, panel.outcomes
        )
    with pytest.raises(SettingError, match="threshold"):
        pools.make(name, threshold=2.0).fit(panel.reports, panel.outcomes)
    three = random_panel(1, classes=3)
    with pytest.raises(SettingError, match="between two classes; the panel has 3"):
        pools.make(name, threshold=0.5).fit(three.reports, three.outcomes)


def absent(panel, agent=1):
    """The panel without any report of one agent, and without cases that are empty."""
    values = panel.values.copy()
    values[:, agent] = np.nan
    some = ~np.isnan(values[:, :, 0]).all(axis=1)
    return panel.reports[some], np.squeeze(values[some]), panel.outcomes[some]


def brief(name):
    return {"epochs": 2} if "epochs" in pools.every()[name].settings() else {}


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_an_agent_that_never_reported_has_no_weight_yet(name, classes):
    whole, seen, outcomes = absent(random_panel(0, 40, classes=classes, silent=0.3))
    pool = pools.make(name, costs=None, **brief(name)).fit(seen, outcomes)
    pooled = pool.predict_proba(whole)
    assert np.isfinite(pooled).all()
    assert_allclose(pooled.sum(axis=1), 1.0)
    if isinstance(pool, LinearPool) and name != "mean":
        assert pool.weights_[1] == 0.0
        assert_allclose(pool.weights_.sum(), 1.0)


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_outcomes_of_one_class_are_enough_to_fit(name, classes):
    panel = random_panel(0, 40, classes=classes, silent=0.3)
    some = panel.outcomes == 0
    pool = pools.make(name, **brief(name)).fit(
        panel.reports[some], panel.outcomes[some]
    )
    pooled = pool.predict_proba(panel.reports)
    assert pooled.shape == (len(panel), classes)
    assert np.isfinite(pooled).all()


@pytest.mark.no_cover
@each
def test_thousands_of_agents_are_pooled_or_refused_with_the_limit(name):
    panel = random_panel(0, cases=20, agents=2_000)
    pool = pools.make(name, **brief(name))
    if name == "attention":
        with pytest.raises(SettingError, match="at most 300 agents; got 2,000"):
            pool.fit(panel.reports, panel.outcomes)
        return
    pool.fit(panel.reports, panel.outcomes)
    pooled = pool.predict_proba(panel.reports[:3])
    assert_allclose(pooled.sum(axis=1), 1.0)


def test_weight_without_any_merit_goes_to_those_who_reported():
    reports = np.full((6, 3), 0.5)
    reports[:, 0] = np.nan
    pool = pools.make("vcg").fit(reports, [0, 1] * 3)
    assert_allclose(pool.weights_, [0.0, 0.5, 0.5])
