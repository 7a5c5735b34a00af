"""Labels and their places."""

import numpy as np
import pytest

from truepool.agents.labels import as_labels, places
from truepool.errors import OutcomeError


@pytest.mark.parametrize(
    "labels", [[1.0, np.nan], np.array(["a", None], dtype=object), [np.nan, "x"]]
)
def test_a_missing_label_is_named(labels):
    given = np.array(labels, dtype=object) if "x" in labels else labels
    with pytest.raises(
        OutcomeError, match=r"every row needs a label; row [01] has none"
    ):
        as_labels(given)


def test_an_unknown_label_is_named():
    with pytest.raises(OutcomeError, match=r"one of \['no', 'yes'\]; row 1 has 'zz'"):
        places(np.array(["no", "zz"]), np.array(["no", "yes"]))


def test_a_label_that_is_a_measurement_is_refused():
    with pytest.raises(OutcomeError, match="whole number or text; row 1 has 0.37"):
        as_labels([1.0, 0.37])


def test_objects_that_are_numbers_stay_numbers():
    assert as_labels(np.array([1, 0], dtype=object)).dtype == np.int64
