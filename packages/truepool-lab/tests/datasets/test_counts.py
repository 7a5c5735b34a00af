import numpy as np
import pytest
from dataset_requirements import needs

from truepool import datasets
from truepool_lab.datasets.intrusion import Intrusion

# Outcomes as DATASETS.md counts them in the files.
COUNTS = {
    "cicids2017": [9_973, 623, 401, 945, 38, 12, 8],
    "cicids2017-mix": [49_065, 2_127, 2_623, 3_810, 2_641, 2_143, 1_956],
    "credit-card": [284_315, 492],
    "heart": [164, 139],
    "nsl-kdd": [67_343 + 9_711, 58_630 + 12_833],
    "pima": [500, 268],
    "unsw-nb15": [37_000, 45_332],
}


@pytest.mark.data
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs(name)) for name in COUNTS]
)
def test_outcomes_are_as_many_of_each_class_as_are_published(name):
    data = datasets.load(name, rows=None, seed=None)
    assert np.bincount(data.outcomes).tolist() == COUNTS[name]


def test_every_data_set_that_is_read_has_its_outcomes_counted():
    package = Intrusion.__module__.rpartition(".")[0]
    read = {name for name, one in datasets.every().items() if one.files}
    own = {name for name in read if datasets.find(name).__module__.startswith(package)}
    assert own == set(COUNTS)
