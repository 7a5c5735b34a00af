import inspect

import pytest

from truepool.cli.verbs import ELSEWHERE
from truepool_lab.cli.game import game
from truepool_lab.paper.cli import reproduce


@pytest.mark.parametrize(("name", "verb"), [("game", game), ("reproduce", reproduce)])
def test_the_help_of_the_library_says_what_the_verb_says_of_itself(name, verb):
    assert inspect.getdoc(verb).splitlines()[0] == ELSEWHERE[name]
