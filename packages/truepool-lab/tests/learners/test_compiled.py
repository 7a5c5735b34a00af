"""The compiled loop gives the bits of other machines, and what the specification says."""

import pytest
from compiled_learners import (
    check_a_fixed_number_of_agents,
    check_the_quick_run,
    digests,
)

BITS = {
    "ema": "0b2770cc94a4ecb9",
    "marginal": "33e56cfb50139500",
    "window": "36646d6a30747850",
}


@pytest.mark.no_cover
def test_the_bits_of_every_learner_are_those_of_every_other_machine():
    assert dict(digests(BITS)) == BITS


@pytest.mark.parametrize("name", ["ema", "marginal"])
def test_a_loop_for_a_fixed_number_of_agents_gives_the_same_bits(name, monkeypatch):
    """One learner for each signal."""
    check_a_fixed_number_of_agents(name, monkeypatch)


@pytest.mark.parametrize("agents", [2, 5, 19, 70])
@pytest.mark.parametrize(("silent", "late"), [(0.0, 0), (0.01, 0), (0.0, 6), (0.01, 6)])
def test_it_is_the_specification_and_a_stream_is_a_replay_bit_for_bit(
    agents, silent, late, monkeypatch
):
    check_the_quick_run("marginal", agents, silent, late, monkeypatch, rate=0.02)
