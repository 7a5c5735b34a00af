"""Credit card payments: every fraud is kept."""

import numpy as np
import pytest
from dataset_requirements import needs

from truepool.core.errors import SettingError
from truepool_lab.datasets.credit_card import NAMES, CreditCard, credit_card

HEADER = ",".join(f'"{name}"' for name in (*NAMES, "Class"))


def line(time, fraud):
    return f'{time},{",".join(["0.5"] * 29)},"{fraud}"'


@pytest.fixture
def payments(given):
    given(CreditCard, HEADER, *(line(t, int(t % 10 == 3)) for t in range(40)))


@pytest.mark.usefixtures("payments")
def test_every_fraud_is_kept_and_the_rest_is_drawn():
    rows = credit_card(rows=10, seed=1)
    assert len(rows) == 10
    times = rows.values[:, 0]
    assert sorted(times[rows.outcomes == 1]) == [3, 13, 23, 33]
    assert len(set(times)) == 10
    assert sorted(times) != times.tolist()
    others = credit_card(rows=10, seed=2).values[:, 0]
    assert set(others) != set(times)


@pytest.mark.usefixtures("payments")
def test_all_payments_are_in_time_order_or_shuffled_by_the_seed():
    assert credit_card(None, seed=None).values[:, 0].tolist() == list(range(40))
    shuffled = credit_card(None, seed=3).values[:, 0]
    assert sorted(shuffled) == list(range(40))
    assert shuffled.tolist() != list(range(40))


@pytest.mark.usefixtures("payments")
@pytest.mark.parametrize("rows", [3, 41])
def test_fewer_rows_than_frauds_or_more_than_payments_cannot_be_drawn(rows):
    with pytest.raises(SettingError, match="36 genuine and 4 fraud rows to draw from"):
        credit_card(rows=rows)


@pytest.mark.usefixtures("payments")
def test_a_draw_needs_a_seed():
    with pytest.raises(SettingError, match="drawing rows needs a seed"):
        credit_card(rows=10, seed=None)


@pytest.mark.data
@needs("credit-card")
def test_the_paper_has_fifty_thousand_rows_and_all_frauds():
    rows = credit_card()
    assert rows.values.shape == (50_000, 30)
    assert rows.outcomes.sum() == 492
    assert round(100 * rows.outcomes.mean(), 2) == 0.98
    assert len(np.unique(rows.values[rows.outcomes == 1], axis=0)) == 473  # 19 repeat
