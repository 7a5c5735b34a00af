import numpy as np
import pytest
from checked import candidates, found_by, ill, of, treated
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from truepool.audits import audit
from truepool.audits.checks.swapped_classes import swapped, tell_apart
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel

CLASSES = 4


def reports(rng, outcomes, skill):
    """Calibrated reports (T, K) on equally frequent classes."""
    z = rng.normal(size=(len(outcomes), CLASSES))
    z[np.arange(len(outcomes)), outcomes] += skill
    p = np.exp(skill * z)
    return p / p.sum(axis=1, keepdims=True)


def make(order, cases=800, seed=0):
    """Three agents; the columns of the second are in this order."""
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, CLASSES, cases)
    own = np.stack([reports(rng, outcomes, 1.5) for _ in range(3)], axis=1)
    own[:, 1] = own[:, 1][:, order]
    return Panel(own, outcomes, agents=("ada", "bob", "cleo"))


def test_swapped_columns_are_named_with_their_agent():
    """It was called over-confident, and nothing said that two columns are swapped."""
    panel = make([0, 2, 1, 3])
    result = audit(panel, resamples=50)
    assert ill(result) == {"bob": ("swapped-classes", "error")}
    found = result.agents[1].finding
    assert found.facts["classes"] == (("1", "2"),)
    assert found.saving.low > 0
    assert treated(result) == {("swap", ("bob",))}
    between = np.isin(panel.outcomes, [1, 2])
    share = panel.reports[between, 1, 2] / panel.reports[between, 1, 1:3].sum(axis=1)
    area = roc_auc_score(panel.outcomes[between] == 2, share)
    assert_allclose([found.number.value, found.facts["area"]], area)


def test_two_pairs_may_be_swapped():
    assert swapped(tell_apart(make([1, 0, 3, 2]), 1)) == [(0, 1), (2, 3)]


def test_a_reversed_agent_has_no_swapped_columns():
    panel = make([0, 1, 2, 3])
    values = panel.values.copy()
    values[:, 1] = (1 - values[:, 1]) / 3
    assert swapped(tell_apart(panel.with_reports(values), 1)) == []
    found = found_by("reversed reports", panel.with_reports(values), costs=Costs())
    assert [f.who for f in of("reversed", found)] == [("bob",)]


def test_two_classes_have_no_columns_to_swap():
    panel = Panel([[0.1, 0.2], [0.8, 0.7]] * 50, [0, 1] * 50)
    assert candidates("swapped classes", panel) == []


def noise(rng, cases):
    """Reports of an agent that knows nothing."""
    return rng.dirichlet(np.ones(CLASSES), cases)


def leaning(rng, cases, outcomes):
    """Reports of a weak agent that is biased towards class 1 by a factor of seven."""
    p = reports(rng, outcomes, 0.5) * np.array([1, 7, 1, 1])
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["noise", "biased"])
def test_false_alarms_are_rare(kind):
    """Measured at 5 % before the audit's own adjustment: 6 of 200 and none."""
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(200):
        y = rng.integers(0, CLASSES, 200)
        p = noise(rng, 200) if kind == "noise" else leaning(rng, 200, y)
        alarms += bool(swapped(tell_apart(Panel(np.stack([p, p], axis=1), y), 0)))
    assert alarms <= 10
