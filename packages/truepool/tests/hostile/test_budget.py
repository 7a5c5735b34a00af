"""The hostile tests end in time, and say where they stopped."""

import pytest
from hostile import budget
from hostile.budget import Budget
from hostile.commands import chosen


class Clock:
    """A clock that a step moves by as many seconds as it takes."""

    now = 0.0

    def __call__(self):
        return self.now

    def step(self, seconds):
        def take():
            self.now += seconds
            return seconds

        return take


def test_steps_are_taken_in_order_until_the_time_is_over():
    clock = Clock()
    own = Budget(10.0, clock)
    assert own.run(clock.step(s) for s in (4, 3, 5, 1)) == [4, 3, 5]
    assert own.run([clock.step(1)]) == []


def test_a_step_that_fails_has_taken_its_time():
    clock = Clock()

    def fail():
        clock.now += 20
        raise ValueError("at fault")

    own = Budget(10.0, clock)
    with pytest.raises(ValueError, match="at fault"):
        own.run([fail])
    assert own.left == -10


def test_where_time_was_too_short_the_test_says_how_many_were_tried():
    own = Budget(150.0)
    own.say_if_cut(7, 7)
    with pytest.raises(pytest.skip.Exception, match="150 seconds.*3 of 7 tried"):
        own.say_if_cut(3, 7)


def test_the_order_is_the_same_in_every_run():
    words = [[each.words for each in every] for every in chosen().values()]
    assert words == [[each.words for each in every] for every in chosen().values()]


def test_three_minutes_are_enough_for_all():
    assert budget.COMMANDS + budget.VALUES <= 155
    assert budget.VALUES >= 20  # without a time of their own no value was tried
