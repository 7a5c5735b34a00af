"""Tables into numbers: names, categories, gaps, and everything that does not fit."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from truepool.agents.encoding import Encoder
from truepool.errors import FeatureError, SettingError

COLUMNS = {
    "size": [1.5, None, 3.0],
    "flag": ["SF", "REJ", "SF"],
    "on": [True, False, True],
}
CODES = [[1.5, 1, 1], [np.nan, 0, 0], [3, 1, 1]]
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_every_frame_gives_the_same_numbers(make):
    encoder = Encoder.learn(make(COLUMNS))
    assert_array_equal(encoder(make(COLUMNS)), CODES)
    assert encoder.categories == {"flag": ("REJ", "SF")}


def test_columns_are_found_by_name_and_others_are_ignored():
    encoder = Encoder.learn(pa.table(COLUMNS))
    turned = pa.table({"extra": [1, 2, 3], **dict(reversed(COLUMNS.items()))})
    assert_array_equal(encoder(turned), CODES)


def test_categories_of_pandas_and_gaps_in_text():
    table = pd.DataFrame({"flag": pd.Categorical(["b", "a", None])})
    assert_array_equal(Encoder.learn(table)(table), [[1], [0], [np.nan]])
    assert_array_equal(Encoder.learn(pa.table({"f": ["b", ""]}))(pa.table({"f": ["", "b"]})), [[np.nan], [0]])  # fmt: skip


def test_an_unseen_category_is_refused_with_its_place_and_a_cure():
    encoder = Encoder.learn(pa.table({"service": ["http", "smtp"]}))
    with pytest.raises(FeatureError) as stop:
        encoder(pa.table({"service": ["http", "gopher"]}))
    assert str(stop.value) == (
        "a category must have been seen in training; column 'service' says 'gopher' in "
        "row 1; known: http, smtp (2). Train with such rows, leave the cell empty, or "
        "train with unseen='missing'."
    )


def test_an_unseen_category_can_count_as_missing():
    encoder = Encoder.learn(pa.table({"f": ["a", "b"]}), unseen="missing")
    assert_array_equal(encoder(pa.table({"f": ["c", "b"]})), [[np.nan], [1]])
    assert encoder.only(np.array([0])).unseen == "missing"
    with pytest.raises(SettingError, match="'refuse' or 'missing'"):
        Encoder.learn(pa.table({"f": ["a"]}), unseen="guess")


def test_many_known_categories_are_not_all_listed():
    encoder = Encoder.learn(pa.table({"f": list("abcdefg")}))
    with pytest.raises(FeatureError, match=r"known: a, b, c, d, e, \.\.\. \(7\)"):
        encoder(pa.table({"f": ["z"]}))


def test_arrays_of_objects_may_mix_columns_of_numbers_and_text():
    rows = np.array([[1.0, "x"], [2.0, "y"]], dtype=object)
    encoder = Encoder.learn(rows)
    assert_array_equal(encoder(rows), [[1, 0], [2, 1]])
    assert_array_equal(encoder.only(np.array([1]))(rows), [[0], [1]])
    assert_array_equal(encoder.only(np.array([1]))(rows[:, 1:]), [[0], [1]])
    with pytest.raises(
        FeatureError, match="must have the 2 features of training; they have 3"
    ):
        encoder(np.array([[1.0, "x", 3]], dtype=object))
    with pytest.raises(FeatureError, match="all numbers or all text"):
        Encoder.learn(np.array([[1.0], ["x"]], dtype=object))


def test_numbers_stay_where_they_are_without_a_copy():
    rows = np.random.default_rng(0).random((4, 3))
    encoder = Encoder.learn(rows)
    assert np.shares_memory(encoder(rows), rows)
    assert_array_equal(encoder.only(np.array([2, 0]))(rows), rows[:, [2, 0]])
    assert_array_equal(encoder.only(np.array([2, 0]))(rows[:, :2]), rows[:, :2])


def test_a_column_may_be_empty_where_it_held_numbers():
    encoder = Encoder.learn(pa.table({"a": [1.0]}))
    empty = pa.table({"a": pa.array([None], pa.string())})
    assert_array_equal(encoder(empty), [[np.nan]])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (pa.table({"sizes": [1.0], "flag": ["SF"]}), r"no 'size' \(did you mean 'sizes'\?\)"),
        (pa.table({"size": ["big"], "flag": ["SF"]}), "'size' must hold numbers, as in training; it says 'big' in row 0"),
        (pa.table({"size": [np.inf], "flag": ["SF"]}), "'size' is inf in row 0"),
        (np.zeros((2, 2)), "'flag' held text in training; a table of numbers came"),
        (np.zeros(3), r"an array of shape \(3,\) came"),
        (pa.table({}), "at least one feature"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(rows, expected):
    encoder = Encoder.learn(pa.table({"size": [1.0], "flag": ["SF"]}))
    with pytest.raises(FeatureError, match=expected):
        encoder(rows)


def test_rows_without_columns_teach_nothing():
    with pytest.raises(FeatureError, match="a row a case"):
        Encoder.learn(np.zeros((3, 0)))
    with pytest.raises(FeatureError, match="the 2 features of training; they have 3"):
        Encoder.learn(np.zeros((3, 2)))(np.zeros((3, 3)))
