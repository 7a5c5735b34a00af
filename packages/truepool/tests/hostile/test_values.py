"""Every pool, learner, credit and audit check with certain, tied and absent reports."""

from functools import partial

import numpy as np
import pytest
from hostile import values
from hostile.budget import HOSTILE_VALUES

from truepool.core import kernels
from truepool.online.alarms.runs import NO_RUN, constant_run


def draws(check, count):
    """Results of a check on so many panels."""
    every = [partial(check, rng) for rng in np.random.default_rng(15).spawn(count)]
    results = HOSTILE_VALUES.run(every)
    HOSTILE_VALUES.say_if_cut(len(results), count)
    return results


@pytest.mark.parametrize("name", values.POOLS)
def test_a_pool_gives_probabilities_or_one_sentence(name):
    count = 1 if name in values.SLOW else 8
    assert "done" in draws(partial(values.check_pool, name), count)


@pytest.mark.parametrize("name", values.LEARNERS)
def test_a_learner_keeps_its_weights_on_the_simplex(name, monkeypatch):
    monkeypatch.setattr(kernels, "online", None)  # compiling takes a second per loss
    assert "done" in draws(partial(values.check_learner, name), 6)


@pytest.mark.parametrize("name", values.CREDITS)
def test_credit_is_a_number(name):
    assert "done" in draws(partial(values.check_credit, name), 12)


def test_an_audit_is_complete_whatever_the_reports():
    assert "done" in draws(values.check_audit, 4)


def test_an_agent_that_never_reported_has_no_constant_run():
    assert constant_run(np.array([])) == NO_RUN
