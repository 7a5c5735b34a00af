"""Features: sound by construction."""

import numpy as np
import pytest

from truepool.agents.features import Features
from truepool.core.errors import FeatureError, OutcomeError

X = [[1.0, 0.0], [2.0, 1.0], [np.nan, 1.0]]
Y = [0, 1, 2]


def test_default_names_and_labels():
    rows = Features(X, Y)
    assert (rows.names, rows.labels, rows.classes) == (("x0", "x1"), ("0", "1", "2"), 3)
    assert (len(rows), rows.missing, rows.categorical) == (3, 1, ())
    np.testing.assert_allclose(rows.shares(), [1 / 3] * 3)


def test_one_feature_is_shown_in_the_singular():
    shown = repr(Features([[1.0], [2.0]], [0, 1], name="mine"))
    assert shown == "Features(mine: 2 rows, 1 feature, 2 classes, 0 missing)"


def test_a_label_may_have_no_row():
    rows = Features(X, [0, 1, 1], labels=["no", "yes", "maybe"])
    assert rows.classes == 3
    np.testing.assert_allclose(rows.shares(), [1 / 3, 2 / 3, 0])


def test_features_are_read_only():
    mine = np.array(X)
    rows = Features(mine, Y)
    mine[0, 0] = 99.0
    assert rows.values[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        rows.values[0, 0] = 99.0


def test_read_only_arrays_are_not_copied():
    mine = np.array(X)
    assert np.shares_memory(Features(mine, Y, copy=False).values, mine)


def test_a_part_keeps_everything_but_the_other_rows():
    rows = Features(X, Y, ["a", "b"], levels={"b": ["no", "yes"]}, name="mine")
    part = rows.take(np.array([2, 0]))
    assert part.outcomes.tolist() == [2, 0]
    np.testing.assert_array_equal(part.values, np.array(X)[[2, 0]])
    assert (part.levels, part.name, part.labels) == (rows.levels, "mine", rows.labels)
    assert repr(part) == (
        "Features(mine: 2 rows, 2 features (1 categorical), 3 classes, 1 missing)"
    )


def test_columns_of_text_become_categories():
    rows = Features.from_columns(
        {"n": [1, 2, 3], "s": ["udp", "tcp", "udp"]}, [0, 1, 0], name="net"
    )
    assert rows.levels == {"s": ("tcp", "udp")}
    assert rows.categorical == (1,)
    np.testing.assert_array_equal(rows.values, [[1, 1], [2, 0], [3, 1]])


@pytest.mark.parametrize(
    ("values", "settings", "fault"),
    [
        ([1.0, 2.0], {}, r"must be \(T, F\).*shape \(2,\)"),
        (np.empty((0, 2)), {}, r"shape \(0, 2\)"),
        ([["a", 1], ["b", 2]], {}, "must be numbers.*got text"),
        ([[1, None], [2, object()]], {}, "must be numbers"),
        ([[1.0, np.inf], [1.0, 2.0]], {}, "'x1' is inf in zero-based row 0"),
        ([[1.0, np.nan], [1.0, np.nan]], {}, "'x1' is missing in every row"),
        ([[1.0], [2.0]], {"names": "ab"}, "got 2 names for 1 columns"),
        ([[1, 2], [2, 3]], {"names": "aa"}, "got 'a' 2 times"),
        ([[1.0], [2.0]], {"levels": {"z": "ab"}}, "'z', which is not a feature"),
        ([[0.0], [2.0]], {"levels": {"x0": "ab"}}, "2 levels, .* got 2"),
        ([[0.0], [0.5]], {"levels": {"x0": "ab"}}, "got 0.5"),
    ],
)
def test_invalid_features_are_refused_in_one_sentence(values, settings, fault):
    with pytest.raises(FeatureError, match=fault):
        Features(values, [0, 1], **settings)


def test_text_that_spells_numbers_is_taken_as_numbers():
    np.testing.assert_array_equal(Features([["1"], ["2"]], [0, 1]).values, [[1], [2]])


@pytest.mark.parametrize(
    ("outcomes", "labels", "fault"),
    [
        ([0, 1], None, "got 2 outcomes for 3 rows"),
        ([1, 1, 1], None, "every outcome is 1"),
        ([0, 1, 2], ["no", "yes"], "whole numbers 0..1; case 2 has 2"),
        ([0, 1, np.nan], None, "case 2 has none"),
        ([0, 1, np.inf], None, "got inf in case 2"),
        (["a", "b", "a"], None, "of, 'a' or 'b'.*positive='b'"),
        ([1, 2, 1], None, "of, 1 or 2.*positive=2"),
        (["a", "b", "c"], None, "case 0 has 'a'. Map the labels to numbers"),
        ([0.5, 1, 0], None, "got 0.5 in case 0"),
    ],
)
def test_invalid_outcomes_are_refused_in_one_sentence(outcomes, labels, fault):
    with pytest.raises(OutcomeError, match=fault):
        Features(X, outcomes, labels=labels)


def test_the_positive_label_is_class_1():
    rows = Features(X, ["fraud", "genuine", "fraud"], positive="fraud")
    assert (rows.outcomes.tolist(), rows.labels) == ([1, 0, 1], ("genuine", "fraud"))
    rows = Features.from_columns({"x": [1, 2, 3]}, [2, 1, 2], positive=1)
    assert (rows.outcomes.tolist(), rows.labels) == ([0, 1, 0], ("2", "1"))


@pytest.mark.parametrize(
    ("positive", "outcomes"), [("yes", [0, 1, 1]), ("no", [1, 0, 0])]
)
def test_labels_that_are_given_may_change_places(positive, outcomes):
    rows = Features(X, [0, 1, 1], labels=["no", "yes"], positive=positive)
    assert rows.outcomes.tolist() == outcomes
    assert rows.labels[1] == positive


def test_of_three_labels_none_is_positive():
    with pytest.raises(OutcomeError, match="requires two labels; there are 3: 0, 1, 2"):
        Features(X, Y, positive=1)


def test_columns_must_be_there_and_equally_long():
    with pytest.raises(FeatureError, match="got no column"):
        Features.from_columns({}, [0, 1])
    with pytest.raises(FeatureError, match=r"equally long; they are .*\(3,\)"):
        Features.from_columns({"a": [1, 2], "b": [1, 2, 3]}, [0, 1])
