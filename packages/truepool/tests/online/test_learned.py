"""What a stream has learned is a vector of numbers that another stream takes over."""

import numpy as np
import pytest

import truepool as tp
from truepool import learners
from truepool.core.errors import SettingError

AGENTS = ("ada", "bob", "cyd")


def run(name, cases, rng, follow=None, recalibrate=False):
    """Return a stream after some cases; each is late by up to three."""
    stream = tp.Stream(name, AGENTS, recalibrate=recalibrate)
    facts, open_cases = [], []
    for t in range(cases):
        reports = dict(zip(AGENTS, rng.random(3).tolist(), strict=True))
        if t % 5 == 0:
            del reports["cyd"]
        stream.predict_proba_one(reports, case=t)
        open_cases.append(t)
        while len(open_cases) > int(rng.integers(3)):
            case = open_cases.pop(int(rng.integers(len(open_cases))))
            known = None if follow is None else follow[len(facts)]
            stream.settle(case, case % 2, known)
            facts.append(stream.learned)
    return stream, facts


@pytest.mark.parametrize("recalibrate", [False, True])
@pytest.mark.parametrize("name", [*learners.every(), "auto"])
def test_a_stream_that_takes_over_what_was_learned_goes_on_to_the_last_bit(
    name, recalibrate, monkeypatch
):
    cases = 25 if name == "auto" else 40
    one, facts = run(name, cases, np.random.default_rng(0), recalibrate=recalibrate)
    # No update is computed: one that fails is not noticed.
    monkeypatch.setattr("truepool.online.stream.settle", None)
    two, _ = run(name, cases, np.random.default_rng(0), facts, recalibrate)
    np.testing.assert_array_equal(one.learned, two.learned)
    assert one.state.settled == two.state.settled
    assert one.weights == two.weights
    reports = {"ada": 0.2, "bob": 0.7}
    assert one.predict_proba_one(reports) == two.predict_proba_one(reports)


def test_what_belongs_to_another_stream_is_refused():
    stream = tp.Stream("gradient", AGENTS)
    with pytest.raises(SettingError, match=r"must be 8 numbers; got shape \(2,\)"):
        stream.learned = [0.5, 0.5]
