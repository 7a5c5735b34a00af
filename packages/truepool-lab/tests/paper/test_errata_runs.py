"""Small runs behind docs/errata.md that no other test of the suite makes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from panels import stationary
from printed_cells import cell

from truepool import Costs, Panel, credit, replay
from truepool.core.engine import Cell, one_thread
from truepool.datasets import synthetic
from truepool.pools.vcg import VCG
from truepool_lab.games import draw_beliefs, theory
from truepool_lab.paper.experiments.data_efficiency import DataEfficiency
from truepool_lab.paper.experiments.robustness import Robustness


def test_x9_reports_of_a_mean_belief_of_0_3_cannot_fall_by_more_than_0_3():
    beliefs = draw_beliefs(5, 0.5, 0.3, cases=20_000).values
    for shift in (-0.375, -0.45, -1.0):
        sent = np.clip(beliefs + shift, 0, 1)
        assert sent.mean() - beliefs.mean() >= -beliefs.mean() > -0.31
    assert cell("tab:poa", "Brier", "bias") == -0.375
    assert cell("tab:n2_verify", ("Brier", "(0.3, 0.3)"), "rho=0") == -0.450


@pytest.mark.parametrize("tau", [0.2, 0.3, 0.4, 0.5])
def test_x41_at_a_correlation_of_0_97_there_is_next_to_nothing_to_pay(tau):
    assert theory.shrinkage(5, 0.97) == pytest.approx(0.976)
    assert_allclose(theory.price_of_anarchy(5, 0.97, 0.3, tau), 1, atol=0.04)


def test_x38_the_mean_of_calibrated_agents_says_too_much_below_and_too_little_above():
    beliefs = draw_beliefs(5, 0.5, model="factor", truth="latent", cases=100_000)
    pooled, outcomes = beliefs.values.mean(axis=1), beliefs.outcomes
    low, high = pooled < 0.2, pooled > 0.7
    assert (
        outcomes[low].mean() < pooled[low].mean() - 0.05
    )  # its curve is below the line
    assert outcomes[high].mean() > pooled[high].mean() + 0.1


# --- Online weights -------------------------------------------------------------------


def turned(T):
    """Two agents, each always right in one half of the cases and wrong in the other."""
    outcomes = np.arange(T) % 2
    first = np.where(np.arange(T) < T // 2, outcomes, 1 - outcomes)
    return Panel(np.stack([first, 1 - first], axis=1).astype(float), outcomes)


@pytest.mark.parametrize("name", ["marginal", "hedge"])
@pytest.mark.parametrize("T", [1000, 10_000])
def test_regret_to_the_best_weighting_is_not_bounded_as_thm_regret_says(name, T):
    # Half and half loses T / 4, each agent T / 2: being as good as an agent is not much.
    # Without one of two agents the other is left, so alg:vcg is Hedge here.
    trace = replay(name, turned(T), rate=np.sqrt(np.log(2) / T), path=False)
    bound = 2 * np.sqrt(T * np.log(2))
    assert trace.regret[-1] > max(4 * bound, 0.2 * T)
    assert trace.regret_to_agent[-1] < bound
    followed = replay("gradient", turned(T), path=False)
    assert followed.regret[-1] < followed.bound < bound


@pytest.mark.parametrize("T", [1000, 10_000])
def test_with_a_loss_linear_in_the_weights_the_proofs_update_keeps_the_bound(T):
    # Hedge's own setting: the pool pays the weighted mean of the agents' losses.
    panel = turned(T)
    losses = (panel.reports - panel.outcomes[:, None]) ** 2  # (T, N)
    regret = hedge_regret(losses)
    assert regret < 2 * np.sqrt(T * np.log(2))
    rate = np.sqrt(np.log(2) / T)
    squared = replay("hedge", panel, rate=rate, path=False).regret[-1]
    assert squared > 10 * abs(regret)


def test_with_losses_of_up_to_ten_a_linear_loss_is_not_enough():
    # The paper's own cost of a miss is 10; two agents lose in turn.
    T = 10_000
    in_turn = np.eye(2)[np.arange(T) % 2]
    bound = 2 * np.sqrt(T * np.log(2))
    assert hedge_regret(in_turn) < bound < 1_000 < hedge_regret(10 * in_turn)


def hedge_regret(losses):
    """Regret of Hedge at the paper's rate that pays the weighted mean of losses."""
    return linear_regret(losses, lambda lost, weights: -lost)


def vcg_regret(losses):
    """Regret of alg:vcg at the paper's rate where a pool pays the mean of losses."""

    def credit(lost, weights):
        others = weights * (1 - np.eye(len(weights)))
        return others @ lost / others.sum(axis=1) - weights @ lost

    return linear_regret(losses, credit)


def linear_regret(losses, credit):
    """Regret of weights by exp(rate credit) where a pool pays the mean of losses."""
    T, N = losses.shape
    rate, log, paid = np.sqrt(np.log(N) / T), np.zeros(N), 0.0
    for lost in losses:
        weights = np.exp(log - log.max())
        weights /= weights.sum()
        paid += weights @ lost
        log += rate * credit(lost, weights)
    return paid - losses.sum(axis=0).min()  # least at a single agent


@pytest.mark.parametrize("T", [4_000, 16_000])
def test_with_three_agents_and_a_linear_loss_alg_vcg_has_linear_regret(T):
    # Both good agents fail in turn; whoever lost weight then hardly learns again.
    parts = [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    losses = np.repeat(parts, [T // 8, T // 8, 3 * T // 4], axis=0).astype(float)
    bound = 2 * np.sqrt(T * np.log(3))
    assert hedge_regret(losses) < bound
    assert vcg_regret(losses) > max(10 * bound, 0.4 * T)
    pairs = turned(T)
    two = (pairs.reports - pairs.outcomes[:, None]) ** 2
    assert vcg_regret(two) == pytest.approx(hedge_regret(two))  # with two, it is Hedge


@pytest.mark.parametrize("seed", [0, 1])
def test_after_a_sudden_drift_following_the_mixture_beats_following_agents(seed):
    steady = stationary(100_000, seed)
    reports = steady.reports.copy()
    reports[50_000:] = reports[50_000:, ::-1]  # the best change places with the worst
    panel = Panel(reports, steady.outcomes)
    regret = {
        name: replay(name, panel, path=False).regret[-1]
        for name in ("gradient", "marginal", "wsu")
    }
    assert regret["gradient"] < 0 < regret["marginal"] < regret["wsu"]
    assert regret["wsu"] > 2 * np.sqrt(100_000 * np.log(5))


def without_each(weights, m):
    """Leave-one-out pools of alg:vcg, the other weights renormalised."""
    return np.array([
        np.delete(weights, i) @ np.delete(m, i) / np.delete(weights, i).sum()
        for i in range(len(m))
    ])  # fmt: skip


def without_each_in_short(weights, m):
    """The same in one subtraction and one division, as apd:edge has it."""
    return (weights @ m - weights * m) / (1 - weights)


def lasted(panel, left_out):
    """Cases until a weight of alg:vcg is no number: log loss, rate 0.1."""
    weights = np.full(5, 0.2)
    for t in range(len(panel)):
        m, y = np.clip(panel.reports[t], 1e-6, 1 - 1e-6), panel.outcomes[t]
        without, pooled = (
            -np.log(p if y else 1 - p) for p in (left_out(weights, m), weights @ m)
        )
        weights = weights * np.exp(0.1 * (without - pooled))
        weights = weights / weights.sum()
        if np.isnan(weights).any():
            return t
    return len(panel)


@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")
def test_the_leave_one_out_pool_of_apd_edge_is_no_number_after_some_thousand_cases():
    cases = [
        lasted(stationary(50_000, seed), without_each_in_short) for seed in range(8)
    ]
    assert all(1000 < t < 15_000 for t in cases)
    assert lasted(stationary(20_000, 0), without_each) == 20_000
    trace = replay("marginal", stationary(50_000, 0), loss="log", rate=0.1)
    assert np.isfinite(trace.weights).all()


def test_an_agent_of_a_tenth_of_the_weight_hears_about_a_tenth_of_its_credit():
    panel = stationary(2000, 0)

    def gap_at(weight):
        weights = np.append(weight, np.full(4, (1 - weight) / 4))
        return credit.leave_one_out(panel, weights=weights)[0]

    # D_i is -(w / (1 - w)) l'(p) (m_i - p) to first order, and p tends to a limit.
    assert_allclose(gap_at(0.002) / gap_at(0.0002), 10, rtol=0.05)


# --- Static weights, few labels, adversaries ------------------------------------------


def test_a_smooth_loss_gives_steadier_weights_than_decisions_do():
    def spread(**settings):
        learned = []
        for seed in range(30):
            panel = synthetic(200, seed, correlation=0.5)
            learned.append(VCG(**settings).fit(panel.reports, panel.outcomes).weights_)
        return np.std(learned, axis=0).mean()

    tally = spread(loss="cost", costs=Costs(fn=10, fp=1), threshold=0.5)
    assert tally > 1.5 * spread(loss="cost-brier", costs=Costs(fn=10, fp=1))
    assert tally > 1.5 * spread(loss="brier")


def test_x26_with_50_labels_a_network_misses_less_than_vcg_in_a_made_task():
    few = [cell for cell in DataEfficiency().cells("quick") if cell["rows"] == 50]
    for one in few:
        with one_thread():
            found = {r["column"]: r["value"] for r in DataEfficiency.measure(one)}
        assert found["MLP (2-layer)"] < found["VCG (5 agents)"]


def test_x37_weights_learned_before_the_attack_do_not_know_of_it():
    def missed(repeat):
        with one_thread():
            rows = Robustness.measure(Cell("robustness", (), repeat))
        return [
            r["value"]
            for who in ("VCG", "VCG, learned under attack")
            for r in rows
            if r["table"] == "tab:adversarial_basic"
            if (r["key"][0], r["column"]) == (who, "k=5")
        ]

    before, under = np.mean([missed(repeat) for repeat in range(3)], axis=0)
    assert before > 2 * under
