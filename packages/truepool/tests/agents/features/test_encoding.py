"""Tables into numbers: names, categories, gaps, and everything that does not fit."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from truepool.agents.features import Features
from truepool.agents.features.encoding import Encoder
from truepool.core.errors import FeatureError, SettingError

COLUMNS = {
    "size": [1.5, None, 3.0],
    "flag": ["SF", "REJ", "SF"],
    "on": [True, False, True],
}
CODES = [[1.5, 1, 1], [np.nan, 0, 0], [3, 1, 1]]
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_every_frame_gives_the_same_numbers(make):
    encoder = Encoder().fit(make(COLUMNS))
    assert_array_equal(encoder.transform(make(COLUMNS)), CODES)
    assert {n: c.tolist() for n, c in encoder.categories_.items()} == {
        "flag": ["REJ", "SF"]
    }


def test_columns_are_found_by_name_and_others_are_ignored():
    encoder = Encoder().fit(pa.table(COLUMNS))
    turned = pa.table({"extra": [1, 2, 3], **dict(reversed(COLUMNS.items()))})
    assert_array_equal(encoder.transform(turned), CODES)


def test_categories_of_pandas_and_gaps_in_text():
    table = pd.DataFrame({"flag": pd.Categorical(["b", "a", None])})
    assert_array_equal(Encoder().fit(table).transform(table), [[1], [0], [np.nan]])
    assert_array_equal(Encoder().fit(pa.table({"f": ["b", ""]})).transform(pa.table({"f": ["", "b"]})), [[np.nan], [0]])  # fmt: skip


def test_an_unseen_category_is_refused_with_its_place_and_a_cure():
    encoder = Encoder().fit(pa.table({"service": ["http", "smtp"]}))
    with pytest.raises(FeatureError) as stop:
        encoder.transform(pa.table({"service": ["http", "gopher"]}))
    assert str(stop.value) == (
        "a category must have been seen in training; column 'service' says 'gopher' in "
        "zero-based row 1; known: http, smtp (2). Train with such rows, leave the cell "
        "empty, or train with unseen='missing'."
    )


def test_an_unseen_category_can_count_as_missing():
    encoder = Encoder(unseen="missing").fit(pa.table({"f": ["a", "b"]}))
    assert_array_equal(encoder.transform(pa.table({"f": ["c", "b"]})), [[np.nan], [1]])
    assert encoder.only(np.array([0])).unseen == "missing"
    with pytest.raises(
        SettingError, match="unseen must be 'refuse' or 'missing'; got 'guess'"
    ):
        Encoder(unseen="guess").fit(pa.table({"f": ["a"]}))


def test_many_known_categories_are_not_all_listed():
    encoder = Encoder().fit(pa.table({"f": list("abcdefg")}))
    with pytest.raises(FeatureError, match=r"known: a, b, c, d, e, \.\.\. \(7\)"):
        encoder.transform(pa.table({"f": ["z"]}))


def test_arrays_of_objects_may_mix_columns_of_numbers_and_text():
    rows = np.array([[1.0, "x"], [2.0, "y"]], dtype=object)
    encoder = Encoder().fit(rows)
    assert_array_equal(encoder.transform(rows), [[1, 0], [2, 1]])
    assert_array_equal(encoder.only(np.array([1])).transform(rows), [[0], [1]])
    assert_array_equal(encoder.only(np.array([1])).transform(rows[:, 1:]), [[0], [1]])
    with pytest.raises(
        FeatureError, match="must have the 2 features of training; they have 3"
    ):
        encoder.transform(np.array([[1.0, "x", 3]], dtype=object))
    with pytest.raises(FeatureError, match="all numbers or all text"):
        Encoder().fit(np.array([[1.0], ["x"]], dtype=object))


def test_numbers_stay_where_they_are_without_a_copy():
    rows = np.random.default_rng(0).random((4, 3))
    encoder = Encoder().fit(rows)
    assert np.shares_memory(encoder.transform(rows), rows)
    assert_array_equal(encoder.only(np.array([2, 0])).transform(rows), rows[:, [2, 0]])
    assert_array_equal(
        encoder.only(np.array([2, 0])).transform(rows[:, :2]), rows[:, :2]
    )


def test_a_column_may_be_empty_where_it_held_numbers():
    encoder = Encoder().fit(pa.table({"a": [1.0]}))
    empty = pa.table({"a": pa.array([None], pa.string())})
    assert_array_equal(encoder.transform(empty), [[np.nan]])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (pa.table({"sizes": [1.0], "flag": ["SF"]}), r"no 'size' \(did you mean 'sizes'\?\)"),
        (pa.table({"size": ["big"], "flag": ["SF"]}), "'size' must hold numbers; it has 'big' in zero-based row 0"),
        (pa.table({"size": [np.inf], "flag": ["SF"]}), "'size' is inf in zero-based row 0"),
        (np.zeros((2, 2)), "'flag' must hold categories of the kind it was trained on, text; got numbers"),
        (np.zeros(3), r"got an array of shape \(3,\)"),
        (pa.table({}), "at least one feature"),
    ],
)  # fmt: skip
def test_features_that_do_not_fit_are_refused(rows, expected):
    encoder = Encoder().fit(pa.table({"size": [1.0], "flag": ["SF"]}))
    with pytest.raises(FeatureError, match=expected):
        encoder.transform(rows)


def test_rows_without_columns_are_refused():
    with pytest.raises(FeatureError, match="one row per case"):
        Encoder().fit(np.zeros((3, 0)))
    with pytest.raises(FeatureError, match="the 2 features of training; they have 3"):
        Encoder().fit(np.zeros((3, 2))).transform(np.zeros((3, 3)))


def test_categories_may_change_from_text_to_numbers():
    # A file whose codes all look like numbers is read as numbers.
    encoder = Encoder().fit(pa.table({"code": ["7", "A1"]}))
    assert_array_equal(
        encoder.transform(pa.table({"code": [7, None]})), [[0], [np.nan]]
    )


def test_lists_keep_numbers_beside_text():
    encoder = Encoder().fit([[10, "a"], [9, "b"]])
    assert_array_equal(encoder.transform([[9, "b"]]), [[9, 1]])


def test_what_was_learned_survives_json():
    encoder = Encoder(unseen="missing").fit(pa.table(COLUMNS)).only(np.array([1, 0]))
    again = Encoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    new = pa.table({"flag": ["SF", "new", None], "size": [1.0, None, 2.0]})
    assert_array_equal(again.transform(new), encoder.transform(new))
    assert_array_equal(again.transform(new), [[1, 1], [np.nan, np.nan], [np.nan, 2]])


# Filling gaps: medians of the training rows, and -1 for categories


def Filling(categorical=(), **settings):  # noqa: N802
    return Encoder(categorical, fill=True, **{"unseen": "missing", **settings})


NUMBERS = arrays(np.float64, (12, 3), elements=st.integers(0, 5).map(float))
GAPS = arrays(np.bool_, (12, 3))


@given(values=NUMBERS, gaps=GAPS)
def test_medians_are_those_of_scikit_learn(values, gaps):
    gaps[0] = False
    train = np.where(gaps, np.nan, values)[:8]
    rest = np.where(gaps, np.nan, values)[8:]
    ours = Filling().fit(train).transform(rest)
    theirs = SimpleImputer(strategy="median").fit(train).transform(rest)
    assert_array_equal(ours, theirs)


@given(values=NUMBERS)
def test_numbers_of_categories_are_those_of_scikit_learn(values):
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    ours = Filling([0, 1, 2]).fit(values[:6]).transform(values[6:])
    assert_array_equal(ours, encoder.fit(values[:6]).transform(values[6:]))


@given(values=NUMBERS)
def test_columns_of_categories_are_those_of_scikit_learn(values):
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    ready = Filling([0, 1, 2], encoding="one-hot").fit(values[:6])
    assert_array_equal(
        ready.transform(values[6:]), encoder.fit(values[:6]).transform(values[6:])
    )
    assert len(ready.get_feature_names_out()) == ready.transform(values[6:]).shape[1]


@given(train=NUMBERS, late=NUMBERS, gaps=GAPS)
def test_later_rows_do_not_change_the_encoder(train, late, gaps):
    gaps[0] = False
    rows = np.where(gaps, np.nan, train)
    ready = Filling([1]).fit(rows)
    alone = ready.transform(late[:1])
    assert_array_equal(ready.transform(late)[:1], alone)
    # The same training rows among others, as a fold would take them.
    both = np.concatenate([late + 100.0, rows])
    assert_array_equal(
        Filling([1]).fit(both[12:]).transform(late), ready.transform(late)
    )


TRAIN = np.array(
    [[1.0, "tcp", 5.0], [3.0, "udp", None], [None, "tcp", 7.0]], dtype=object
)
NEW = np.array(
    [[None, "icmp", 1.0], [2.0, "udp", None], [2.0, None, 0.0]], dtype=object
)


def test_an_unseen_category_is_marked_and_so_is_a_missing_one():
    ready = Filling([1]).fit(TRAIN)
    assert_array_equal(ready.transform(NEW), [[2, -1, 1], [2, 1, 6], [2, -1, 0]])


def test_an_unseen_category_has_no_column_of_its_own():
    ready = Filling([1], encoding="one-hot", names=["n", "proto", "m"]).fit(TRAIN)
    assert_array_equal(ready.transform(NEW), [[2, 0, 0, 1], [2, 0, 1, 6], [2, 0, 0, 0]])
    assert ready.get_feature_names_out().tolist() == [
        "n", "proto=tcp", "proto=udp", "m",
    ]  # fmt: skip


def test_an_unseen_category_can_be_refused_by_name():
    ready = Filling([1], unseen="refuse", names=["n", "proto", "m"]).fit(TRAIN)
    with pytest.raises(
        FeatureError,
        match=r"seen in training; column 'proto' says 'icmp' in zero-based row 0; known: tcp, udp \(2\)",
    ):
        ready.transform(NEW)
    assert_array_equal(ready.transform(NEW[1:]), [[2, 1, 6], [2, -1, 0]])


def test_a_category_that_training_rows_never_have_is_unseen_throughout():
    train = np.array([[1.0, np.nan], [2.0, np.nan]])
    assert_array_equal(Filling([1]).fit(train).transform([[1.0, 3.0]]), [[1, -1]])
    spelled = Filling([1], encoding="one-hot").fit(train).transform([[1.0, 3.0]])
    assert_array_equal(spelled, [[1.0]])


def test_frames_are_read_as_arrays_are():
    frame = pd.DataFrame({"n": [1.0, np.nan], "s": ["a", "b"]})
    assert_array_equal(Filling([1]).fit(frame).transform(frame), [[1, 0], [1, 1]])


def test_numbers_among_text_stay_numbers():
    train = np.array([[2, "a"], [10, "b"]], dtype=object)
    ready = Filling([0, 1]).fit(train)
    assert_array_equal(ready.transform([[10, "a"], [2, "b"]]), [[1, 0], [0, 1]])


def test_a_model_and_its_preparation_are_fitted_together_fold_by_fold():
    rng = np.random.default_rng(0)
    rows = Features(
        np.c_[np.where(rng.random(80) < 0.2, np.nan, rng.normal(size=80)), rng.integers(0, 30, 80)],
        np.arange(80) % 2,
        ("size", "kind"),
        levels={"kind": [str(k) for k in range(30)]},
    )  # fmt: skip
    for encoding in ("ordinal", "one-hot"):
        model = make_pipeline(rows.encoder(encoding=encoding), LogisticRegression())
        scores = cross_val_score(model, rows.values, rows.outcomes)
        assert np.isfinite(scores).all()


def test_a_copy_is_made_of_the_same_settings():
    ready = Filling((1,), encoding="one-hot", unseen="refuse", names=("a", "b"))
    assert clone(ready).get_params() == ready.get_params()
    with pytest.raises(NotFittedError):
        clone(ready).transform([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("settings", "fault"),
    [({"encoding": "hash"}, "encoding must be 'ordinal' or 'one-hot'; got 'hash'"), ({"unseen": "drop"}, "unseen must be 'refuse' or 'missing'; got 'drop'")],
)  # fmt: skip
def test_unknown_settings_are_refused(settings, fault):
    with pytest.raises(SettingError, match=fault):
        Filling([0], **settings).fit([[1.0]])


@pytest.mark.parametrize(
    ("train", "new", "fault"),
    [
        ([1.0, 2.0], None, r"must be a table \(T, F\)"),
        ([["a"], ["b"]], None, "'x0' must hold numbers; it has 'a' in zero-based row 0"),
        ([[np.inf], [1.0]], None, "'x0' is inf in zero-based row 0"),
        ([[np.nan], [np.nan]], None, "'x0' must have a value in some training row"),
        ([[1.0], [2.0]], [[1.0, 2.0]], "the 1 features of training; they have 2"),
        ([[1.0], [2.0]], [[-np.inf]], "'x0' is -inf in zero-based row 0"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_prepared_are_refused(train, new, fault):
    with pytest.raises(FeatureError, match=fault):
        Filling().fit(train).transform(new)


def test_categorical_columns_must_be_there():
    with pytest.raises(FeatureError, match=r"must be among 0\.\.0; got \[0, 1\]"):
        Filling([0, 1]).fit([[1.0], [2.0]])


def test_categories_must_stay_of_one_kind():
    with pytest.raises(FeatureError, match="trained on, text; got numbers"):
        Filling([0]).fit([["a"], ["b"]]).transform([[1.0]])
    with pytest.raises(FeatureError, match="trained on, numbers; got text"):
        Filling([0]).fit([[1.0], [2.0]]).transform([["a"]])
