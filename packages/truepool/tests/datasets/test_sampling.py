"""Rows are drawn by seed, each at most once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truepool.core.errors import SettingError
from truepool.datasets.sampling import generator, sample_by_class, sample_rows


@given(there=st.integers(1, 50), seed=st.integers(0, 9), data=st.data())
def test_some_rows_are_a_part_of_all(there, seed, data):
    rows = data.draw(st.integers(1, there))
    drawn = sample_rows(rows, there, seed)
    assert len(set(drawn.tolist())) == rows
    assert set(drawn.tolist()) <= set(range(there))
    np.testing.assert_array_equal(
        drawn, sample_rows(rows, there, np.random.default_rng(seed))
    )


@given(outcomes=st.lists(st.integers(0, 2), min_size=3, max_size=40), data=st.data())
def test_each_class_has_the_requested_number_of_rows(outcomes, data):
    there = np.bincount(outcomes, minlength=3)
    wanted = [data.draw(st.integers(0, int(n))) for n in there]
    drawn = sample_by_class(np.array(outcomes), wanted, 0, "abc")
    assert len(set(drawn.tolist())) == sum(wanted)
    found = np.bincount(np.array(outcomes)[drawn], minlength=3)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("rows", [0, 6, -1])
def test_no_more_rows_than_there_are(rows):
    with pytest.raises(SettingError, match=f"from 1 to 5, which are all; got {rows}"):
        sample_rows(rows, 5, 0)


@pytest.mark.parametrize(("seed", "fault"), [(None, "needs a seed"), (-1, "negative")])
def test_a_seed_is_a_number_from_0_on(seed, fault):
    with pytest.raises(SettingError, match=fault):
        generator(seed)
