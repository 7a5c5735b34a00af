"""What `truepool --help` says of this package's verbs, without importing them."""

import pytest

from truepool.cli.verbs import ELSEWHERE, every_command
from truepool.core.distributions import HOMES


@pytest.fixture(scope="module")
def commands():
    return dict(every_command())


@pytest.mark.parametrize("name", HOMES["lab"]["verb"])
def test_the_list_of_verbs_says_what_the_verb_says_of_itself(commands, name):
    assert commands[name.replace(".", " ")].help.splitlines()[0] == ELSEWHERE[name]
