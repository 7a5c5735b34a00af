"""Preparation: what the training rows show, and nothing else."""

import numpy as np
import pandas as pd
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

from truepool.errors import FeatureError, UnknownNameError
from truepool.features import Features
from truepool.features.preparing import Preparation

CODES = arrays(np.float64, (12, 3), elements=st.integers(0, 5).map(float))
GAPS = arrays(np.bool_, (12, 3))


@given(values=CODES, gaps=GAPS)
def test_medians_are_those_of_scikit_learn(values, gaps):
    gaps[0] = False
    train = np.where(gaps, np.nan, values)[:8]
    rest = np.where(gaps, np.nan, values)[8:]
    ours = Preparation().fit(train).transform(rest)
    theirs = SimpleImputer(strategy="median").fit(train).transform(rest)
    assert_array_equal(ours, theirs)


@given(values=CODES)
def test_numbers_of_categories_are_those_of_scikit_learn(values):
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    ours = Preparation([0, 1, 2]).fit(values[:6]).transform(values[6:])
    assert_array_equal(ours, encoder.fit(values[:6]).transform(values[6:]))


@given(values=CODES)
def test_columns_of_categories_are_those_of_scikit_learn(values):
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    ready = Preparation([0, 1, 2], encoding="one-hot").fit(values[:6])
    assert_array_equal(
        ready.transform(values[6:]), encoder.fit(values[:6]).transform(values[6:])
    )
    assert len(ready.get_feature_names_out()) == ready.transform(values[6:]).shape[1]


@given(train=CODES, late=CODES, gaps=GAPS)
def test_rows_that_came_later_change_nothing_that_was_learned(train, late, gaps):
    gaps[0] = False
    rows = np.where(gaps, np.nan, train)
    ready = Preparation([1]).fit(rows)
    alone = ready.transform(late[:1])
    assert_array_equal(ready.transform(late)[:1], alone)
    # The same training rows among others, as a fold would take them.
    both = np.concatenate([late + 100.0, rows])
    assert_array_equal(
        Preparation([1]).fit(both[12:]).transform(late), ready.transform(late)
    )


TRAIN = np.array(
    [[1.0, "tcp", 5.0], [3.0, "udp", None], [None, "tcp", 7.0]], dtype=object
)
NEW = np.array(
    [[None, "icmp", 1.0], [2.0, "udp", None], [2.0, None, 0.0]], dtype=object
)


def test_an_unseen_category_is_marked_and_so_is_a_missing_one():
    ready = Preparation([1]).fit(TRAIN)
    assert_array_equal(ready.transform(NEW), [[2, -1, 1], [2, 1, 6], [2, -1, 0]])


def test_an_unseen_category_has_no_column_of_its_own():
    ready = Preparation([1], encoding="one-hot", names=["n", "proto", "m"]).fit(TRAIN)
    assert_array_equal(ready.transform(NEW), [[2, 0, 0, 1], [2, 0, 1, 6], [2, 0, 0, 0]])
    assert ready.get_feature_names_out().tolist() == [
        "n", "proto=tcp", "proto=udp", "m",
    ]  # fmt: skip


def test_an_unseen_category_can_be_refused_by_name():
    ready = Preparation([1], unseen="refuse", names=["n", "proto", "m"]).fit(TRAIN)
    with pytest.raises(
        FeatureError,
        match="the 2 seen in training; feature 'proto' has 'icmp' in row 0",
    ):
        ready.transform(NEW)
    assert_array_equal(ready.transform(NEW[1:]), [[2, 1, 6], [2, -1, 0]])


def test_a_category_that_training_rows_never_have_is_unseen_throughout():
    train = np.array([[1.0, np.nan], [2.0, np.nan]])
    assert_array_equal(Preparation([1]).fit(train).transform([[1.0, 3.0]]), [[1, -1]])
    spelled = Preparation([1], encoding="one-hot").fit(train).transform([[1.0, 3.0]])
    assert_array_equal(spelled, [[1.0]])


def test_frames_are_read_as_arrays_are():
    frame = pd.DataFrame({"n": [1.0, np.nan], "s": ["a", "b"]})
    assert_array_equal(Preparation([1]).fit(frame).transform(frame), [[1, 0], [1, 1]])


def test_numbers_among_text_stay_numbers():
    train = np.array([[2, "a"], [10, "b"]], dtype=object)
    ready = Preparation([0, 1]).fit(train)
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
        model = make_pipeline(rows.preparation(encoding=encoding), LogisticRegression())
        scores = cross_val_score(model, rows.values, rows.outcomes)
        assert np.isfinite(scores).all()


def test_a_copy_is_made_of_the_same_settings():
    ready = Preparation((1,), encoding="one-hot", unseen="refuse", names=("a", "b"))
    assert clone(ready).get_params() == ready.get_params()
    with pytest.raises(NotFittedError):
        clone(ready).transform([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("settings", "fault"),
    [({"encoding": "hash"}, "no encoding is called 'hash'"), ({"unseen": "drop"}, "no way with unseen categories is called 'drop'")],
)  # fmt: skip
def test_unknown_settings_are_refused(settings, fault):
    with pytest.raises(UnknownNameError, match=fault):
        Preparation([0], **settings).fit([[1.0]])


@pytest.mark.parametrize(
    ("train", "new", "fault"),
    [
        ([1.0, 2.0], None, r"must be \(T, F\)"),
        ([["a"], ["b"]], None, "feature 0 must hold numbers; it holds text"),
        ([[np.inf], [1.0]], None, "feature 0 is inf in row 0"),
        ([[np.nan], [np.nan]], None, "feature 0 must have a value in some training row"),
        ([[1.0], [2.0]], [[1.0, 2.0]], "the 1 features that were learned from; 2 came"),
        ([[1.0], [2.0]], [[-np.inf]], "feature 0 is -inf in row 0"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_prepared_are_refused(train, new, fault):
    with pytest.raises(FeatureError, match=fault):
        Preparation().fit(train).transform(new)


def test_categorical_columns_must_be_there():
    with pytest.raises(FeatureError, match=r"must be among 0\.\.0; \[0, 1\] came"):
        Preparation([0, 1]).fit([[1.0], [2.0]])


def test_categories_must_stay_of_one_kind():
    with pytest.raises(FeatureError, match="trained on, text; numbers came"):
        Preparation([0]).fit([["a"], ["b"]]).transform([[1.0]])
    with pytest.raises(FeatureError, match="trained on, numbers; text came"):
        Preparation([0]).fit([[1.0], [2.0]]).transform([["a"]])
