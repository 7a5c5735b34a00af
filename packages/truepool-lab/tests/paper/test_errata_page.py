"""docs/errata.md: its tests exist, and no contradiction of the paper is left out."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "errata.md").read_text()
NAMED = sorted(set(re.findall(r"\[`([^`:]+)::(\w+)`\]\(([^)]+)\)", PAGE)))
UNDECIDED = "## 6. Not decided here"


@cache
def defined(path):
    """Functions that a file of tests defines."""
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("path", "name", "link"), NAMED)
def test_every_test_it_names_is_there(path, name, link):
    assert link == f"../{path}"
    assert name.startswith("test_")
    assert name in defined(path)


def test_no_test_is_named_in_another_form():
    assert len(re.findall(r"::", PAGE)) == len(
        re.findall(r"\[`packages/[^`/]+/tests/[^`]+::", PAGE)
    )


def headed(text):
    """Contradictions that have a row of their own."""
    return [int(number) for number in re.findall(r"^\| \*\*X(\d+)\*\* ", text, re.M)]


def test_every_contradiction_has_one_row():
    assert sorted(headed(PAGE)) == list(range(1, 47))


def test_a_row_is_decided_by_a_test_or_stands_among_the_undecided():
    tally, undecided = PAGE.split(UNDECIDED)
    assert headed(undecided) == [40, 46]
    rows = [line for line in tally.splitlines() if line.startswith("| ")]
    for line in rows:
        claim, holds, tests = line.strip("| ").split(" | ")
        if (claim, tests) != ("claim", "decided by"):
            assert re.fullmatch(r"(\[`packages/\S+\)(<br>)?)+", tests), claim
            assert holds
