"""What the list of verbs and the help of each say about juries and language models."""

import inspect

import pytest

from truepool.cli.options import Verb
from truepool.cli.verbs import ELSEWHERE
from truepool.core import plugins

VERBS = ("jury", "agent.llm", "agent.template")


@pytest.mark.parametrize("name", VERBS)
def test_the_list_of_verbs_says_what_the_verb_says_of_itself(name):
    verb = plugins.load(plugins.every(plugins.VERBS)[name])
    function = verb.function if isinstance(verb, Verb) else verb
    assert ELSEWHERE[name] == inspect.getdoc(function).splitlines()[0]


def test_help_speaks_of_items_and_lists_no_key_as_an_option(truepool):
    _, out, _ = truepool("jury", "--help")
    assert "one column per judge" in " ".join(out.split())
    for key in ("weight", "scores", "repeated", "group", "propensity"):
        assert f"--{key}" not in out
    _, keys, _ = truepool("help", "keys")
    assert "repeated" in keys
