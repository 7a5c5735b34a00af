"""What an object can say is a method: nothing guesses which attributes it has."""

import ast
from pathlib import Path

import pytest

import truepool

SOURCE = Path(truepool.__file__).parent
OUTSIDE = {"agents", "tables", "datasets", "pooled_classifier.py"}
"""Parts that handle objects of other libraries, whose attributes are theirs to name."""
FILES = [
    path
    for path in SOURCE.rglob("*.py")
    if path.relative_to(SOURCE).parts[0] not in OUTSIDE
]


def guesses(code):
    """Lines that ask whether an object has an attribute, or take another instead."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (
            node.func.id == "hasattr"
            or (node.func.id, len(node.args)) == ("getattr", 3)
        )
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_pools_are_asked_and_not_guessed_at(path):
    assert guesses(path.read_text()) == []


def test_a_guess_is_found():
    assert guesses("getattr(pool, 'weights_', None)\nhasattr(pool, 'why_')") == [1, 2]
    assert guesses("getattr(pool, name)") == []
