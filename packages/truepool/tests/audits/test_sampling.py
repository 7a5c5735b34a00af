import numpy as np

from truepool.audits import Note
from truepool.audits.sampling import Sampling


def test_few_cases_are_all_looked_at_and_nothing_is_said():
    sampling = Sampling(0)
    assert sampling.part(np.arange(5), 5, "credit").tolist() == [0, 1, 2, 3, 4]
    assert sampling.notes == []


def test_parts_are_drawn_by_seed_in_order_and_told_once():
    sampling = Sampling(3)
    one, two = (sampling.part(np.arange(100), 10, "credit") for _ in range(2))
    assert (one == two).all()
    assert (np.diff(one) > 0).all()
    assert sampling.notes == [Note("credit", {"cases": 10})]
    assert (Sampling(4).part(np.arange(100), 10, "credit") != one).any()


def test_what_is_withheld_is_kept_with_its_reason():
    sampling = Sampling(0)
    sampling.withhold("harm", "too few.")
    assert sampling.withheld == [Note("harm", {"why": "too few"})]
