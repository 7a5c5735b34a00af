"""Arrays at the boundary: class numbers, for those who have them already."""

import numpy as np
import pytest

from truepool.core.arrays import as_outcomes
from truepool.core.errors import OutcomeError


@pytest.mark.parametrize(
    "outcomes", [[1, 0], [1.0, 0.0], [True, False], np.array([1, 0], dtype=object)]
)
def test_class_numbers_are_whole_numbers_however_they_are_stored(outcomes):
    numbers = as_outcomes(outcomes, 2)
    assert (numbers.dtype, numbers.tolist()) == (np.int64, [1, 0])
    assert as_outcomes([], 2).tolist() == []


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ([0, 2], "0..1; case 1 has 2"),
        ([0, -1], "case 1 has -1"),
        ([0, 0.5], "case 1 has 0.5"),
        ([0, np.nan], "case 1 has none.*not known yet"),
        ([[0], [1]], "one per case"),
        (["no", "yes"], "case 0 has 'no'. Map the labels to numbers"),
    ],
)
def test_no_label_is_taken_for_a_class_number(outcomes, message):
    with pytest.raises(OutcomeError, match=message):
        as_outcomes(outcomes, 2)
