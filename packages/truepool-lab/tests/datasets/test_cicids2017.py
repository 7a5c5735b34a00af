"""CICIDS2017 in its two forms."""

import numpy as np
import pytest
from dataset_requirements import needs
from hypothesis import given as drawn
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from truepool.core.errors import SourceError
from truepool_lab.datasets.cicids2017 import (
    CICIDS2017,
    LABEL,
    NAMES,
    PORT,
    CICIDS2017Compiled,
    cicids2017,
    cicids2017_mix,
    seven_digits,
)


def line(value, *rest, columns=51):
    return ",".join([str(value)] * columns + list(rest))


def test_labels_are_numbered_as_the_paper_lists_them(given):
    header = ",".join([PORT, *NAMES, LABEL])
    lines = [
        line(i, k, columns=52) for i, k in enumerate(["Bots", "DoS", "Normal Traffic"])
    ]
    given(CICIDS2017, header, *lines)
    rows = cicids2017(seed=None)
    assert rows.outcomes.tolist() == [6, 3, 0]
    assert rows.names[0] == PORT


def test_an_unknown_label_is_refused(given):
    given(
        CICIDS2017, ",".join([PORT, *NAMES, LABEL]), line(1, "Heartbleed", columns=52)
    )
    with pytest.raises(SourceError, match="got 'Heartbleed' in zero-based row 0"):
        cicids2017()


@pytest.fixture
def compiled(given):
    header = ",".join([*NAMES, LABEL, "source"])
    return given(
        CICIDS2017Compiled,
        header,
        line(8.666666667, "Bots", "Team-69-MLIDS/ids_engine"),
        line(
            8.666666667000001, "Normal Traffic", "Dicotomico23/hif-cicids2017@5ff25cb"
        ),
        line(2, "DDoS", "Dicotomico23/hif-cicids2017@873c22d"),
    )


@pytest.mark.usefixtures("compiled")
def test_one_number_spelled_twice_is_one_number_and_the_source_no_feature():
    rows = cicids2017_mix(seed=None)
    assert rows.names == NAMES
    assert_array_equal(rows.values[0], rows.values[1])


@pytest.mark.usefixtures("compiled")
def test_rows_at_natural_proportions_are_known_by_their_source():
    assert cicids2017_mix(seed=None, natural=True).outcomes.tolist() == [0, 1]


@pytest.mark.data
@needs("cicids2017-mix")
def test_the_natural_rows_are_two_samples():
    rows = cicids2017_mix(natural=True)
    assert len(rows) == 12_000 + 11_650
    assert rows.shares()[0] == pytest.approx((9973 + 9482) / 23_650)


@drawn(st.one_of(st.just(0.0), st.floats(1e-200, 1e15), st.floats(-1e15, -1e-200)))
def test_seven_digits_are_kept(value):
    (rounded,) = seven_digits(np.array([value]))
    assert_allclose(rounded, value, rtol=5.0001e-7)
    assert seven_digits(np.array([rounded])) == rounded


@drawn(st.integers(1_000_001, 9_999_999), st.integers(-12, 12), st.floats(-0.4, 0.4))
def test_seven_digits_are_what_printing_gives(digits, exponent, beyond):
    value = (digits + beyond) * 10.0**exponent
    (rounded,) = seven_digits(np.array([value]))
    # Both are the double nearest to the same decimal, unless a power of ten was not.
    assert_allclose(rounded, float(f"{value:.6e}"), rtol=4e-16)
