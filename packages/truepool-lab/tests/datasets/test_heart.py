"""Heart disease, on a few lines of its kind."""

import numpy as np

from truepool_lab.datasets.heart import Heart, heart

LINES = (
    "63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,2.3,3.0,0.0,6.0,0",
    "67.0,1.0,4.0,160.0,286.0,0.0,2.0,108.0,1.0,1.5,2.0,3.0,?,2",
    "41.0,0.0,2.0,130.0,204.0,0.0,2.0,172.0,0.0,1.4,1.0,?,3.0,0",
)


def test_a_question_mark_is_missing_and_any_grade_is_disease(given):
    given(Heart, *LINES)
    rows = heart(seed=None)
    assert rows.outcomes.tolist() == [0, 1, 0]
    assert rows.missing == 2
    assert np.isnan(rows.values[1, rows.names.index("thal")])
    assert rows.values[:, 0].tolist() == [63.0, 67.0, 41.0]


def test_missing_values_get_the_median_of_the_training_rows(given):
    given(Heart, *LINES)
    rows = heart(seed=None)
    ready = rows.encoder().fit(rows.values[[0, 1]])
    vessels = rows.names.index("ca")
    assert ready.transform(rows.values[2:])[0, vessels] == np.median([0.0, 3.0])
