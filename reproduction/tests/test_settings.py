"""Constants of the library that the reproduction repeats are the same there."""

from truepool.datasets import synthetic
from truepool.datasets.nsl_kdd import FIFTH
from truepool.datasets.synthetic import SKILLS
from truepool_paper import real_task, settings


def test_the_skills_are_those_of_the_synthetic_data_set():
    assert settings.SKILLS == SKILLS
    assert (
        synthetic(20, 0, skill=settings.SKILLS).reports == synthetic(20, 0).reports
    ).all()


def test_the_first_fifth_of_nsl_kdd_is_the_library_s():
    assert real_task.FIFTH == FIFTH
