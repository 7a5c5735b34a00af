"""A module of more than 300 lines of code is split, or has a reason in a record."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "src", ROOT / "reproduction" / "src")
RECORD = ROOT / "docs" / "decisions" / "0039-long-modules.md"
MOST_LINES = 300
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(text):
    """How many lines have code: no blanks, comments or docstrings."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return len(lines)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('"""Doc."""\n\n# why\nx = 1\n', 1),
        ("x = (\n    1,\n)\n", 3),
        ('def f():\n    """Do.\n\n    More.\n    """\n    return 1\n', 2),
    ],
)
def test_lines_of_code_are_counted_without_blanks_comments_and_docstrings(text, lines):
    assert code_lines(text) == lines


def test_long_modules_are_those_with_a_reason():
    found = {
        path.relative_to(folder).as_posix()
        for folder in SOURCES
        for path in folder.rglob("*.py")
        if code_lines(path.read_text()) > MOST_LINES
    }
    assert found == set(re.findall(r"^\| `(.*?)` \|", RECORD.read_text(), re.MULTILINE))
