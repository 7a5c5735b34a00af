"""Every verb and option with hostile input: one sentence, nothing written, or fine."""

from contextlib import chdir
from functools import partial

import pytest
from command import VERBS
from hostile.budget import HOSTILE_COMMANDS
from hostile.commands import (
    EXPENSIVE,
    chosen,
    contents,
    fault,
    prepare,
    restore,
    run,
    settings,
    sound,
)

CHOSEN = chosen()
CODES = {
    verb: 2 for verb in ("agent template", "data path", "data verify", "reproduce")
}
"""Verbs that take a name of their own: the sound one would download something, or run
for long. Without a budget, `agent llm` stops with 1."""
CODES["agent llm"] = 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile")
    patch = pytest.MonkeyPatch()
    patch.setenv("TRUEPOOL_CACHE", str(root / "cache"))
    patch.setenv("TRUEPOOL_DATA", str(root / "nothing"))
    place = root / "work"
    place.mkdir()
    prepare(place)
    yield place
    patch.undo()


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "demo"])
def test_the_command_that_is_made_hostile_is_sound(verb, folder, monkeypatch):
    before = contents(folder)
    monkeypatch.chdir(folder)
    answer = run(sound(verb))
    assert answer.code == CODES.get(verb, 0), answer.err
    for name in contents(folder).keys() - before.keys():
        (folder / name).unlink()
    for name, content in before.items():
        (folder / name).write_bytes(content)


@pytest.mark.no_cover
@pytest.mark.parametrize("verb", VERBS)
def test_hostile_input_is_refused_in_one_sentence_or_does_no_harm(verb, folder):
    before = contents(folder)
    every = [partial(fault, each.words, folder, before) for each in CHOSEN[verb]]
    faults = HOSTILE_COMMANDS.run(every)
    assert not any(faults), "\n".join(filter(None, faults))
    HOSTILE_COMMANDS.say_if_cut(len(faults), len(every))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("verb", "given"),
    [
        (verb, given)
        for verb in VERBS
        if verb not in EXPENSIVE
        for given in (
            "seed=4294967296",
            "level=5e-324",
            "level=0.9999999999999999",
        )
        if given.partition("=")[0] in settings(verb)
    ],
)
def test_a_seed_may_be_large_and_a_level_near_0_and_1(verb, given, folder):
    before = contents(folder)
    with chdir(folder):
        answer = run([*sound(verb), "--set", given])
    restore(folder, before)
    assert answer.code == CODES.get(verb, 0), answer.err


def test_every_option_and_key_of_every_verb_is_tried():
    tried = {(each.verb, each.parameter) for every in CHOSEN.values() for each in every}
    options = {
        (verb, max(parameter.opts, key=len))
        for verb, command in VERBS.items()
        for parameter in command.params
    }
    assert tried == options | {
        (verb, name) for verb in VERBS for name in settings(verb)
    }
