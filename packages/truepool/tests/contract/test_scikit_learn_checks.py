"""Which of scikit-learn's estimator checks cannot apply to pools, and why.

The checks feed features of any size and labels of any kind; a pool takes
probabilities and outcomes 0..K-1 and refuses the rest at the door. Each check below
fails for that reason alone, and is here only as long as it does. What the checks are
after is tested with probabilities in ``test_pools.py``.
"""

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

from truepool import pools

FEATURES = "feeds features outside [0, 1]"
LABELS = "feeds labels other than 0..K-1"
WORDS = "asks for scikit-learn's words in an error that truepool words itself"
KEYWORD = "calls fit(X, y=y); a pool's words are reports and outcomes"

CANNOT_APPLY = {
    "check_all_zero_sample_weights_error": FEATURES,
    "check_classifier_data_not_an_array": FEATURES,
    "check_classifiers_classes": FEATURES,
    "check_classifiers_regression_target": WORDS,
    "check_classifiers_train": FEATURES,
    "check_complex_data": WORDS,
    "check_dict_unchanged": FEATURES,
    "check_dont_overwrite_parameters": FEATURES,
    "check_dtype_object": LABELS,
    "check_estimators_dtypes": FEATURES,
    "check_estimators_empty_data_messages": WORDS,
    "check_estimators_fit_returns_self": FEATURES,
    "check_estimators_overwrite_params": FEATURES,
    "check_estimators_pickle": FEATURES,
    "check_f_contiguous_array_estimator": FEATURES,
    "check_fit2d_1feature": WORDS,
    "check_fit2d_1sample": WORDS,
    "check_fit2d_predict1d": FEATURES,
    "check_fit_check_is_fitted": FEATURES,
    "check_fit_idempotent": FEATURES,
    "check_fit_score_takes_y": LABELS,
    "check_methods_sample_order_invariance": FEATURES,
    "check_methods_subset_invariance": FEATURES,
    "check_n_features_in": FEATURES,
    "check_n_features_in_after_fitting": FEATURES,
    "check_pipeline_consistency": FEATURES,
    "check_positive_only_tag_during_fit": WORDS,
    "check_readonly_memmap_input": FEATURES,
    "check_requires_y_none": WORDS,
    "check_sample_weight_equivalence_on_dense_data": KEYWORD,
    "check_sample_weights_list": LABELS,
    "check_sample_weights_not_an_array": FEATURES,
    "check_sample_weights_not_overwritten": FEATURES,
    "check_sample_weights_pandas_series": FEATURES,
    "check_sample_weights_shape": FEATURES,
    "check_supervised_y_2d": LABELS,
}


@pytest.mark.parametrize("name", list(pools.every()))
def test_every_check_passes_but_those_that_cannot_apply(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(pools.make(name), on_fail=None)
    failed = {
        r["check_name"]: r["exception"] for r in results if r["status"] == "failed"
    }
    # Of one label, a pool that learns no base rate still answers by the reports.
    assert set(failed) - {"check_classifiers_one_label"} == set(CANNOT_APPLY)
    for check, exception in failed.items():
        # A refusal of ours, or scikit-learn's complaint about one; never a crash.
        assert isinstance(exception, ValueError | AssertionError | TypeError), check
