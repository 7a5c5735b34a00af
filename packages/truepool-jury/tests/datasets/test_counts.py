"""Outcomes of the data sets of judges, as many of each class as are published."""

import numpy as np
import pytest
from dataset_requirements import needs

from truepool import datasets

COUNTS = {
    "duck-crowd": [60, 48],
    "judgebench": [157, 193],
    "product-crowd": [7_304, 1_011],
}


@pytest.mark.data
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs(name)) for name in COUNTS]
)
def test_outcomes_are_as_many_of_each_class_as_are_published(name):
    assert np.bincount(datasets.load(name).outcomes).tolist() == COUNTS[name]


def test_every_data_set_of_judges_has_its_outcomes_counted():
    own = {
        name
        for name, one in datasets.every().items()
        if one.__module__.startswith("truepool_jury.")
    }
    assert own == set(COUNTS)
