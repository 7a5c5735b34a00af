"""What the list of verbs and the help of each say about juries and language models."""

import inspect

import pytest

from truepool.cli.verbs import ELSEWHERE
from truepool.core import plugins

VERBS = ("jury", "agent.llm", "agent.template")


@pytest.mark.parametrize("name", VERBS)
def test_the_list_of_verbs_says_what_the_verb_says_of_itself(name):
    verb = plugins.load(plugins.every(plugins.VERBS)[name])
    assert ELSEWHERE[name] == inspect.getdoc(verb).splitlines()[0]


def test_help_of_a_jury_lists_no_option_that_is_refused(truepool):
    _, out, _ = truepool("jury", "--help")
    assert "--decision-time" in out
    assert "--weight" in out
    assert "--group" not in out
    assert "--propensity" not in out
