import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from truepool.core.errors import CostError
from truepool.panel.costs import Costs

POSITIVE = st.floats(1e-3, 1e3)


@given(POSITIVE, POSITIVE)
def test_at_the_threshold_both_decisions_cost_the_same(fn, fp):
    costs = Costs(fn=fn, fp=fp)
    p = costs.threshold
    assert_allclose(p * fn, (1 - p) * fp)


@given(POSITIVE, POSITIVE)
def test_swapping_the_question_mirrors_the_threshold(fn, fp):
    costs = Costs(fn=fn, fp=fp)
    assert_allclose(costs.swap().threshold, 1 - costs.threshold)


def test_a_binary_matrix_is_equivalent_to_fn_and_fp():
    costs = Costs(matrix=[[0, 1], [10, 0]])
    assert (costs.fn, costs.fp, costs.threshold) == (10, 1, 1 / 11)
    assert_allclose(costs.table(2), Costs(fn=10, fp=1).table(2))


def test_costs_are_values():
    assert Costs(fn=2) == Costs(fn=2)
    assert len({Costs(fn=2), Costs(fn=2), Costs(fn=3)}) == 2


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"fn": 0}, "got 0 for fn"),
        ({"fp": -1}, "got -1 for fp"),
        ({"fp": 1, "tn": 3}, r"Raise fp or lower tn\."),
        ({"fn": "10"}, "got '10' for fn"),
        ({"fn": None}, "got None for fn"),
        ({"fn": float("inf")}, "positive number"),
        ({"fn": float("nan")}, "positive number"),
        ({"fn": 2, "matrix": [[0, 1], [1, 0]]}, "not both"),
        ({"matrix": [[0, 1, 1], [1, 0, 1]]}, "K x K"),
        ({"matrix": [[1, 1], [1, 0]]}, "diagonal"),
        ({"matrix": [[0, 1], [0, 0]]}, "deciding 0 when 1 happens costs 0.0"),
    ],
)
def test_costs_that_are_not_costs_are_refused(settings, match):
    with pytest.raises(CostError, match=match):
        Costs(**settings)


def test_a_matrix_for_other_classes_is_refused():
    three = Costs(matrix=1 - np.eye(3))
    with pytest.raises(CostError, match="K = 2"):
        three.table(2)
    with pytest.raises(CostError, match="two classes"):
        _ = three.threshold


@pytest.mark.parametrize(
    ("costs", "got"),
    [
        (Costs(fn="amount"), "the column 'amount' for fn. Give a number, as in fn=10"),
        (Costs(fp=[1, 2]), "an array for fp. Give a number, as in fp=10"),
    ],
)
def test_where_all_cases_share_their_costs_the_one_that_differs_is_named(costs, got):
    Costs(fn=10, fp=2).check_constant("online learners need")
    with pytest.raises(CostError, match=f"need one cost for all cases; got {got}"):
        costs.check_constant("online learners need")
