"""What an agent contributed is what the decision without its report would have cost more."""

import numpy as np
import pytest
from server.service import FRAUD, Local

import truepool as tp

THREE = {
    "name": "fraud",
    "agents": ["ada", "bob", "cyd"],
    "labels": ["a", "b", "c"],
    "costs": {"matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]]},
}


def brute_force(local, pool, costs, threshold=None):
    """Pool again without each agent, by hand, with the weights that decided."""
    history = local.settled("fraud", 10_000)
    table = np.zeros((len(history.cases), len(history.agents)))
    names = pool["labels"]
    K = len(names)
    for t, case in enumerate(history.cases):
        reports, weights = case.record.reports, case.record.weights
        cost = costs
        if costs.columns:
            columns = {k: [v] for k, v in case.record.columns.items()}
            cost = costs.resolve(columns)

        def paid(agents, cost=cost, reports=reports, weights=weights, case=case):
            w = np.array([weights[a] for a in agents])
            m = [[1 - reports[a], reports[a]] if K == 2 else reports[a] for a in agents]
            pooled = w @ np.array(m) / w.sum() if len(agents) else np.full(K, 1 / K)
            if K == 2:
                chosen = tp.decide([pooled[1]], cost, threshold)[0]
            else:
                chosen = tp.decide([pooled], cost)[0]
            return float(
                np.ravel(
                    cost.cost_per_case(np.array([case.outcome]), np.array([chosen]), K)
                )[0]
            )

        for i, agent in enumerate(history.agents):
            if agent in reports:
                others = [name for name in reports if name != agent]
                table[t, i] = paid(others) - paid(list(reports))
    return history, table


@pytest.mark.parametrize("threshold", [None, 0.4])
@pytest.mark.parametrize("learner", ["gradient", "hedge", "wsu"])
def test_two_labels_against_brute_force(tmp_path, learner, threshold):
    rng = np.random.default_rng(5)
    extra = {} if threshold is None else {"threshold": threshold}
    pool = FRAUD | {"learner": learner} | extra
    with Local(tmp_path / "l.db", pool) as local:
        for i in range(60):
            who = rng.permutation(["ada", "bob", "cyd"])[: rng.integers(1, 4)]
            local.report("fraud", [(f"c{i}", a, float(rng.beta(1, 3))) for a in who])
            local.decide("fraud", f"c{i}", None)
            local.settle("fraud", [(f"c{i}", str(rng.choice(["ok", "fraud"])))])
        costs = tp.Costs(fn=10, fp=1)
        history, expected = brute_force(local, FRAUD, costs, threshold)
    found = history.savings
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert (found != 0).sum() > 5


def test_three_labels_against_brute_force(tmp_path):
    rng = np.random.default_rng(6)
    with Local(tmp_path / "l.db", THREE) as local:
        for i in range(40):
            reports = rng.dirichlet(np.ones(3), size=3).tolist()
            local.report(
                "fraud",
                [
                    (f"c{i}", a, r)
                    for a, r in zip(THREE["agents"], reports, strict=True)
                ],
            )
            local.decide("fraud", f"c{i}", None)
            local.settle("fraud", [(f"c{i}", str(rng.choice(["a", "b", "c"])))])
        costs = tp.Costs(matrix=THREE["costs"]["matrix"])
        history, expected = brute_force(local, THREE, costs)
    np.testing.assert_allclose(history.savings, expected, atol=1e-9)
    assert (expected != 0).any()


def test_costs_per_case_against_brute_force(tmp_path):
    rng = np.random.default_rng(7)
    pool = FRAUD | {"costs": {"fn": "amount", "fp": 1}}
    with Local(tmp_path / "l.db", pool) as local:
        for i in range(40):
            local.report(
                "fraud", [(f"c{i}", a, float(rng.beta(1, 3))) for a in FRAUD["agents"]]
            )
            local.decide("fraud", f"c{i}", {"amount": float(rng.uniform(1, 50))})
            local.settle("fraud", [(f"c{i}", str(rng.choice(["ok", "fraud"])))])
        costs = tp.Costs(fn="amount", fp=1)
        history, expected = brute_force(local, FRAUD, costs)
    np.testing.assert_allclose(history.savings, expected, atol=1e-9)
    assert (expected != 0).any()


def test_what_is_not_known_is_not_made_up(tmp_path):
    with Local(tmp_path / "l.db", FRAUD | {"learner": "auto"}) as local:
        local.fill(3, np.random.default_rng(0))
        assert np.isnan(local.settled("fraud", 10).savings).all()


def test_without_cases_there_is_nothing(tmp_path):
    with Local(tmp_path / "l.db") as local:
        assert local.settled("fraud", 10).savings.shape == (0, 3)
