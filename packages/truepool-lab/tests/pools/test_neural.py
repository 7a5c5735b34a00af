"""Networks against the same networks in numpy, and what they promise beyond the contract."""

import pickle
import subprocess
import sys
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from panels import random_panel

from truepool import pools, scores
from truepool.core.arrays import from_log_scale, to_classes
from truepool.core.errors import SettingError
from truepool.measures.folds import splits
from truepool.panel.panel import Panel
from truepool.pools.auto import CANDIDATES, TWO_CLASSES
from truepool.pools.interface import configure
from truepool_lab.pools.attention import Attention
from truepool_lab.pools.deep_sets import DeepSets
from truepool_lab.pools.mlp_2 import MLP2
from truepool_lab.pools.mlp_4 import MLP4

pytest.importorskip("torch", reason="neural pools need truepool-lab[neural]")

NEURAL = [MLP2, MLP4, DeepSets, Attention]
QUICK = {"hidden": 8, "epochs": 20}
each = pytest.mark.parametrize("cls", NEURAL)


# The networks, written a second time


def _inputs(pool, reports):
    """Standardised log-odds (T, N, J), NaN where silent."""
    p = np.clip(reports, 1e-12, 1)
    if p.ndim == 2:
        z = (np.log(p) - np.log1p(-np.clip(reports, 0, 1 - 1e-12)))[..., None]
    else:
        z = np.log(p[..., 1:]) - np.log(p[..., :1])
    return (np.clip(z, -7, 7) - pool.centre_) / pool.spread_


def _relu_layers(parameters, name, x):
    places = [int(key.split(".")[1]) for key in parameters if key.startswith(name)]
    for i in sorted(set(places)):
        x = parameters[f"{name}.{i}.weight"] @ x + parameters[f"{name}.{i}.bias"]
        x = np.maximum(x, 0) if i < max(places) or name != "head" else x
    return x


def _softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def _mlp(p, z):
    silent = np.isnan(z[:, 0])
    full = np.where(silent[:, None], z[~silent].mean(axis=0), z)
    return _relu_layers(p, "head", np.append(full.ravel(), silent))


def _deep_sets(p, z):
    reported = z[~np.isnan(z[:, 0])]
    mean = np.mean([_relu_layers(p, "each", row) for row in reported], axis=0)
    return _relu_layers(p, "head", np.append(mean, 1 - len(reported) / len(z)))


def _attention(p, z):
    reported = np.flatnonzero(~np.isnan(z[:, 0]))
    slopes, shift = p["report.0.weight"], p["report.0.bias"]
    query, key, value = (p[f"{part}.weight"] for part in ("query", "key", "value"))
    h = [np.maximum(slopes @ z[i] + shift + p["agent"][i], 0) for i in reported]
    root = np.sqrt(len(h[0]))
    read = []
    for one in h:
        attention = _softmax(
            np.array([(query @ one) @ (key @ other) / root for other in h])
        )
        read.append(
            one + sum(a * value @ other for a, other in zip(attention, h, strict=True))
        )
    attention = _softmax(np.array([(p["question"] @ one)[0] / root for one in read]))
    summary = sum(a * one for a, one in zip(attention, read, strict=True))
    return _relu_layers(p, "head", summary)


AGAIN = {MLP2: _mlp, MLP4: _mlp, DeepSets: _deep_sets, Attention: _attention}


@each
@pytest.mark.parametrize("classes", [2, 4])
def test_a_pool_is_its_network_case_by_case(cls, classes):
    panel = random_panel(1, cases=60, classes=classes, silent=0.3)
    pool = cls(**QUICK, rate=0.02).fit(panel.reports, panel.outcomes)
    odds = [AGAIN[cls](pool.parameters_, z) for z in _inputs(pool, panel.reports)]
    expected = to_classes(from_log_scale(np.array(odds)))
    assert_allclose(pool.predict_proba(panel.reports), expected, atol=1e-12)
    assert expected.std(axis=0).min() > 1e-3  # the cases are told apart


@each
def test_before_the_first_lesson_the_answer_is_the_base_rate(cls):
    panel = random_panel(1, classes=3)
    pool = cls(hidden=8, epochs=1, rate=1e-15).fit(panel.reports, panel.outcomes)
    rate = np.bincount(panel.outcomes) / len(panel)
    assert_allclose(pool.predict_proba(panel.reports[:4]), [rate] * 4, atol=1e-9)


# Sets, silences, and what only a network can learn


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), classes=st.sampled_from([2, 3]))
def test_deep_sets_do_not_depend_on_the_order_of_agents(seed, classes):
    panel = random_panel(seed, cases=30, classes=classes, silent=0.3)
    trained = DeepSets(**QUICK, rate=0.02, held_out=0.0)  # whatever is held out says
    pool = trained.fit(panel.reports, panel.outcomes)
    answer = pool.predict_proba(panel.reports)
    assert np.ptp(answer[:, 1]) > 1e-3
    for order in list(permutations(range(4)))[1::5]:
        other = pool.predict_proba(panel.reports[:, order])
        assert_allclose(other, answer, atol=1e-12)


@pytest.mark.parametrize("cls", [MLP2, MLP4, Attention])
def test_the_other_networks_distinguish_agents(cls):
    panel = random_panel(1, cases=200)
    pool = cls(**QUICK, rate=0.02).fit(panel.reports, panel.outcomes)
    pooled = pool.predict_proba([[0.9, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.9]])[:, 1]
    assert pooled[0] > pooled[1] + 0.01  # the first agent knows, the last one does not


@pytest.mark.parametrize("cls", [MLP2, MLP4])
def test_a_report_missing_for_the_first_time_counts_as_agreement(cls):
    panel = random_panel(1, cases=100)
    pool = cls(**QUICK).fit(panel.reports, panel.outcomes)
    nan = float("nan")
    agreed = pool.predict_proba([[0.8, 0.8, 0.8, 0.8]])
    assert_allclose(pool.predict_proba([[nan, 0.8, 0.8, nan]]), agreed)


@each
def test_informative_missing_reports_are_learned(cls):
    # Agent 0 knows nothing, but is silent when nothing happens.
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 1000)
    reports = rng.uniform(0.3, 0.7, (1000, 3))
    reports[outcomes == 0, 0] = np.nan
    pool = cls(rate=0.01, epochs=60).fit(reports, outcomes)
    assert scores.loss(pool.predict_proba(reports), outcomes) < 0.02


@each
def test_a_network_learns_what_no_weights_can(cls):
    rng = np.random.default_rng(0)
    outcomes = rng.integers(0, 2, 3000)
    lies = rng.integers(0, 2, 3000)
    first = np.where(outcomes ^ lies, 0.9, 0.1)
    reports = np.stack([first, np.where(lies, 0.8, 0.2)], axis=1)
    pool = cls(rate=3e-3).fit(reports[:2000], outcomes[:2000])
    lost = scores.loss(pool.predict_proba(reports[2000:]), outcomes[2000:])
    # The two differ in size, so that even a set of reports tells who said which.
    assert lost < 0.02


# What counts


@each
@pytest.mark.parametrize("classes", [2, 3])
def test_a_case_of_weight_two_counts_as_two_where_none_are_held_out(cls, classes):
    panel = random_panel(4, cases=40, silent=0.1, classes=classes)
    counts = np.arange(40) % 3
    rows = np.repeat(np.arange(40), counts)
    whole = {"hidden": 8, "epochs": 20, "held_out": 0.0, "batch": 1000, "rate": 0.01}
    weighted = cls(**whole).fit(panel.reports, panel.outcomes, counts.astype(float))
    repeated = cls(**whole).fit(panel.reports[rows], panel.outcomes[rows])
    assert_allclose(
        weighted.predict_proba(panel.reports),
        repeated.predict_proba(panel.reports),
        atol=1e-6,
    )


@each
def test_the_network_with_the_lowest_held_out_loss_is_kept(cls):
    panel = random_panel(3, cases=150)
    pool = cls(hidden=8, rate=0.03, patience=4).fit(panel.reports, panel.outcomes)
    _, test = splits(panel.outcomes, 5)[-1]
    lost = scores.loss(
        pool.predict_proba(panel.reports[test]), panel.outcomes[test], "log"
    )
    assert_allclose(lost, pool.held_out_losses_.min(), rtol=1e-3)
    assert len(pool.held_out_losses_) < 200
    assert len(pool.held_out_losses_) - pool.held_out_losses_.argmin() <= 2 * 4


def test_where_cases_have_times_the_last_ones_are_held_out():
    base = random_panel(3, cases=120)
    panel = Panel(base.reports, base.outcomes, times=np.arange(120)[::-1])
    pool = MLP2(**QUICK).fit_panel(panel)
    lost = scores.loss(
        pool.predict_proba(panel.reports[:20]), panel.outcomes[:20], "log"
    )
    assert_allclose(lost, pool.held_out_losses_.min(), rtol=1e-12)


def test_with_too_few_cases_to_hold_out_a_few_epochs_are_run():
    panel = random_panel(3, cases=8)
    blind = MLP2(patience=7).fit(panel.reports, panel.outcomes)
    assert len(blind.held_out_losses_) == 7
    assert np.isnan(blind.held_out_losses_).all()
    fitted = MLP2(held_out=0.0, epochs=30).fit(panel.reports, panel.outcomes)
    assert len(fitted.held_out_losses_) == 30


def test_a_class_too_rare_to_be_in_both_parts_is_learned_from_all():
    outcomes = np.zeros(60, int)
    outcomes[3] = 1
    pool = MLP2(**QUICK).fit(random_panel(1, cases=60).reports, outcomes)
    assert np.isnan(pool.held_out_losses_).all()


def test_cases_of_weight_0_do_not_stop_training():
    panel = random_panel(1, cases=60)
    _, test = splits(panel.outcomes, 5)[-1]
    weights = np.ones(60)
    weights[test] = 0.0
    pool = MLP2(**QUICK).fit(panel.reports, panel.outcomes, weights)
    assert np.isnan(pool.held_out_losses_).all()


def test_identical_reports_are_not_scaled_up():
    reports = np.full((40, 3), 0.3)
    pool = MLP2(**QUICK).fit(reports, np.arange(40) % 4 == 0)
    assert_allclose(pool.predict_proba(reports)[:, 1], 0.25, atol=0.05)


# Settings and surroundings


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hidden": 0}, "hidden must be a whole number"),
        ({"epochs": 1.5}, "epochs must be a whole number"),
        ({"patience": 0}, "patience must be"),
        ({"batch": -1}, "batch must be"),
        ({"rate": 0.0}, "a rate must be positive"),
        ({"decay": -0.1}, "decay must be 0 or more"),
        ({"held_out": 0.9}, "the share held out must lie in"),
        ({"device": "abacus"}, "device must be 'auto' or one that torch can use"),
        ({"device": "cuda:99"}, "device must be 'auto' or one that torch can use"),
    ],
)
def test_settings_outside_their_range_are_refused(setting, message):
    panel = random_panel(1)
    with pytest.raises(SettingError, match=message):
        MLP2(**setting).fit(panel.reports, panel.outcomes)


@each
def test_another_seed_is_another_network(cls):
    panel = random_panel(1)
    one, other = (
        cls(**QUICK, seed=seed).fit(panel.reports, panel.outcomes) for seed in (0, 1)
    )
    assert (
        one.predict_proba(panel.reports) != other.predict_proba(panel.reports)
    ).any()


@each
def test_the_parameters_are_numpy_arrays(cls):
    panel = random_panel(1)
    pool = cls(**QUICK).fit(panel.reports, panel.outcomes)
    assert all(type(v) is np.ndarray for v in pool.parameters_.values())
    assert b"torch" not in pickle.dumps(pool)
    for values in pool.parameters_.values():
        values.flags.writeable = False  # as a memory map is
    pool.predict_proba(panel.reports)


def test_listing_and_making_pools_does_not_import_torch():
    code = (
        "import sys, truepool as tp; tp.pools.every(); tp.MLP2(); tp.Attention(); "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_auto_tries_networks_only_on_request():
    names = {configure(pool).name for pool in (*CANDIDATES, *TWO_CLASSES)}
    assert not names & {cls.name for cls in NEURAL}
    panel = random_panel(1)
    auto = pools.make("auto", candidates=(MLP2(**QUICK),))
    auto.fit(panel.reports, panel.outcomes)
    assert [pool.name for pool in auto.pools_] == ["mlp-2"]


def test_another_batch_size_changes_the_path_but_not_the_quality():
    panel = random_panel(1, cases=300)
    lost = [
        scores.loss(
            MLP2(batch=batch)
            .fit(panel.reports, panel.outcomes)
            .predict_proba(panel.reports),
            panel.outcomes,
        )
        for batch in (32, 300)
    ]
    assert_allclose(lost[0], lost[1], atol=0.02)
    assert_array_equal(np.array(lost) < 0.12, True)
