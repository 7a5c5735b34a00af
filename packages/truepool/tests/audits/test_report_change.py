"""What outcomes say of an agent whose reports changed at some date."""

import numpy as np
import pytest
from scipy.special import expit

from truepool.audits.report_change import Effect, judge_change, undo
from truepool.audits.timeline import timeline
from truepool.panel.panel import Panel

CASES, PLACE = 8000, 4000


def changed(bend, before=lambda odds: odds, seed=0):
    """One agent's log-odds are bent since a place, and may have been off before."""
    rng = np.random.default_rng(seed)
    outcomes = (rng.random(CASES) < 0.05).astype(int)
    odds = np.log(0.05 / 0.95) + rng.normal(size=CASES) * 2 + 4 * outcomes - 2
    late = np.arange(CASES) >= PLACE
    own = np.where(late, bend(before(odds)), before(odds))
    other = odds + rng.normal(size=CASES)
    return Panel(expit(np.c_[own, other]), outcomes, times=np.arange(CASES))


def effect(panel):
    return judge_change(panel, timeline(panel), PLACE, 0, 0.95).effect


def shift(by):
    return lambda odds: odds + np.log(by)


def noise(odds):
    return np.random.default_rng(9).permutation(odds)


@pytest.mark.parametrize(
    ("bend", "before", "expected"),
    [
        (lambda odds: odds, lambda odds: odds, Effect.SOUND),
        (shift(1 / 1000), lambda odds: odds, Effect.OFF),
        (shift(20), lambda odds: odds, Effect.OFF),
        # Off before, and further off since: still a change of unit.
        (shift(1 / 1000), shift(8), Effect.OFF),
        # Off before, and now right: a vendor that improved.
        (shift(1 / 8), shift(8), Effect.SOUND),
        # Off before as it is now: no change that did harm.
        (shift(1.2), shift(8), Effect.SOUND),
        (noise, lambda odds: odds, Effect.LOST),
    ],
    ids=["same", "thousandth", "twenty", "off-before", "improved", "as-off", "noise"],
)
def test_a_change_is_judged_by_what_it_did(bend, before, expected):
    assert effect(changed(bend, before)) is expected


def turned(panel):
    return Panel(panel.reports, 1 - panel.outcomes, times=panel.times)


def test_it_loses_as_much_where_the_labels_are_reversed():
    """An AUC that rises from .1 to .5 is no gain."""
    assert effect(turned(changed(noise))) is Effect.LOST
    assert effect(turned(changed(lambda odds: odds))) is not Effect.LOST


def test_a_feed_that_was_reversed_and_is_put_right_loses_nothing():
    assert effect(changed(np.negative, np.negative)) is not Effect.LOST
    assert effect(changed(np.negative)) is Effect.LOST


def test_few_outcomes_tell_nothing():
    panel = changed(shift(1 / 1000))
    part = panel.take(np.r_[np.arange(20), np.arange(PLACE, PLACE + 20)])
    found = judge_change(part, timeline(part), 20, 0, 0.95)
    assert found.effect is Effect.UNKNOWN


def test_what_is_undone_has_the_quantiles_that_it_had():
    panel = changed(shift(1 / 1000))
    moved = undo(panel.reports[:, 0], np.arange(CASES), PLACE)
    np.testing.assert_array_equal(moved[:PLACE], panel.reports[:PLACE, 0])
    for q in (0.1, 0.5, 0.9):
        then, now = (np.quantile(part, q) for part in (moved[:PLACE], moved[PLACE:]))
        assert now == pytest.approx(then, rel=0.01)
