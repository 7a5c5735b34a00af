import pytest

from truepool.audits.severity import BROKEN, FEEDS, LIKELY, SURE, severity
from truepool.comparison import Estimate

SAVES, MAY = Estimate(0.2, 0.1, 0.3), Estimate(0.01, -0.1, 0.1)
NOTHING, BACKFIRES = Estimate(0.0, 0.0, 0.0), Estimate(-0.2, -0.3, -0.1)


def test_the_levels_are_what_the_docs_say():
    assert (SURE, LIKELY) == (0.01, 0.05)


@pytest.mark.parametrize(
    ("p", "grade"),
    [(0.0099, "error"), (0.01, "warning"), (0.0499, "warning"), (0.05, None)],
)
def test_how_sure_a_test_must_be(p, grade):
    assert severity(p, SAVES) == grade
    assert severity(p, BACKFIRES, broken=True) == grade


def test_without_a_test_there_is_no_severity():
    assert severity(None, SAVES, broken=True) is None


@pytest.mark.parametrize(
    ("saving", "grade"),
    [
        (SAVES, "error"),
        (MAY, "warning"),
        (None, "warning"),
        (NOTHING, "note"),
        (BACKFIRES, "note"),
    ],
)
def test_an_error_saves_money_and_what_costs_nothing_is_a_note(saving, grade):
    assert severity(1e-9, saving) == grade


@pytest.mark.parametrize("saving", [SAVES, MAY, None, NOTHING, BACKFIRES])
def test_a_broken_feed_is_an_error_whatever_it_costs(saving):
    assert severity(1e-9, saving, broken=True) == "error"


@pytest.mark.parametrize(
    ("saving", "grade"), [(SAVES, "warning"), (MAY, "note"), (None, "note")]
)
def test_a_small_fault_is_at_most_a_warning(saving, grade):
    assert severity(1e-9, saving, matters=False) == grade
    assert severity(1e-9, saving, matters=False, broken=True) == grade


def test_a_check_may_cap_it():
    assert severity(1e-9, SAVES, most="warning") == "warning"
    assert severity(1e-9, BACKFIRES, most="warning") == "note"


def test_which_faults_break_a_feed():
    assert FEEDS == ("constant-feed", "stopped-feed", "repeated-feed", "changed-feed")
    assert BROKEN == (*FEEDS, "swapped-classes", "reversed")
