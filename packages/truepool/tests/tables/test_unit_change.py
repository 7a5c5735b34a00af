"""A unit that changed at some case: the factor, and a report above 1 since then."""

import numpy as np
import pytest

from truepool.core.errors import ReportError
from truepool.panel.panel import Panel
from truepool.panel.report_units import factor_of, jump_of

CASES, PLACE = 2000, 1200


def reports(seed=0):
    return np.random.default_rng(seed).beta(1, 30, CASES)


def changed(change):
    own = reports()
    return np.r_[own[:PLACE], change(own[PLACE:])]


@pytest.mark.parametrize("factor", [1000.0, 100.0, 0.01, 0.001])
def test_a_power_of_ten_is_named_as_such(factor):
    assert factor_of(changed(lambda own: own * factor), PLACE) == pytest.approx(factor)


def test_another_factor_is_estimated():
    assert factor_of(changed(lambda own: own / 7), PLACE) == pytest.approx(
        1 / 7, rel=0.1
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda own: own**1.5,
        lambda own: 1 - own,
        lambda own: np.random.default_rng(1).beta(5, 5, len(own)),
    ],
    ids=["bent", "reversed", "another"],
)
def test_what_no_factor_explains_has_none(change):
    assert factor_of(changed(change), PLACE) is None


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("off", [-12, 0, 12])
def test_the_jump_is_the_first_report_in_the_new_unit(seed, off):
    own = reports(seed)
    own[PLACE:] /= 1000
    assert abs(jump_of(own, PLACE + off) - PLACE) <= 2


def test_few_reports_show_no_factor():
    own = np.r_[reports()[:40], reports()[40:80] / 1000]
    assert factor_of(own, 40) is None


def refused(own):
    other = reports(1)
    with pytest.raises(ReportError) as refusal:
        Panel(np.c_[other, own], np.arange(CASES) % 2)
    return str(refusal.value)


def test_a_unit_that_rose_names_its_first_case_and_the_factor():
    own = changed(lambda own: own * 1000)
    text = refused(own)
    first = int(np.flatnonzero(own > 1)[0])
    assert (f"case {first} " in text, "by 1000" in text) == (True, True)


def test_one_report_above_1_is_a_typing_error_and_no_change_of_unit():
    own = reports()
    own[PLACE] = 1.2
    assert "its unit changed" not in refused(own)
