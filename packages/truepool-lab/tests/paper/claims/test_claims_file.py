"""claims.toml: every claim has a verdict, and every verdict something that can fail."""

import ast
import re
import runpy
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from truepool_lab.paper import claims
from truepool_lab.paper.claims import SOURCES, VERDICTS, about, every, main
from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.render import conclusions

ROOT = Path(__file__).parents[5]
DECIDED = ("holds", "holds in part", "does not hold")
CHECKS = ("assert", "raises", "warns")
each = pytest.mark.parametrize("claim", every(), ids=lambda c: str(c.number))


@cache
def functions(path):
    """Functions of a file of tests by name."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def can_fail(path, name):
    """Whether a test asserts something, itself or in a function of its file."""
    function = functions(path)[name]
    called = {
        getattr(node.func, "id", getattr(node.func, "attr", ""))
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
    }
    if any(isinstance(node, ast.Assert) for node in ast.walk(function)):
        return True
    if any(other.startswith(CHECKS) for other in called):
        return True
    return any(can_fail(path, other) for other in called & functions(path).keys())


def test_all_218_claims_are_there_once_and_in_order():
    assert [claim.number for claim in every()] == list(range(1, 219))


@each
def test_a_claim_says_where_it_is_made_and_on_what_basis_it_is_judged(claim):
    assert claim.where
    assert claim.claim
    assert claim.verdict in VERDICTS
    assert claim.reading in SOURCES
    assert set(claim.tables) <= set(paper_tables())


@each
def test_every_test_that_is_named_exists_and_can_fail(claim):
    for test in claim.tests:
        path, _, name = test.partition("::")
        assert name.startswith("test_")
        assert can_fail(path, name), test


@each
def test_a_decision_names_tests_quantity_and_bound_and_a_refusal_its_reason(claim):
    if claim.verdict in DECIDED:
        assert claim.tests
        assert claim.quantity
        assert claim.bound
    if claim.verdict == "not decidable":
        assert claim.reason
    assert bool(claim.quantity) == bool(claim.bound)


@each
def test_a_test_named_after_a_claim_is_named_by_it(claim):
    folder = Path(__file__).parent
    mine = {
        name
        for path in folder.glob("test_*_claims.py")
        for name in functions(str(path.relative_to(ROOT)))
        for numbers in re.findall(r"^test_claims?_((?:\d{3}_)+)", name)
        if f"{claim.number:03}_" in numbers
    }
    assert mine <= {test.partition("::")[2] for test in claim.tests}


SAID = r"(holds? in part|holds?|do(?:es)? not hold|(?:is|are) not decidable|cannot be decided)"
NUMBERS = r"[Cc]laims? ([\d, and]*\d)"
REFERENCES = (
    re.compile(rf"{NUMBERS} (?:\([^)]*\) )?{SAID}\b"),
    re.compile(rf"{SAID}() \({NUMBERS}"),
)


def quoted(text):
    """Verdicts of other claims that a text states, as pairs of number and verdict.

    >>> quoted("It holds (claim 7), claims 8 and 9 do not hold.")
    [(8, 'does not hold'), (9, 'does not hold'), (7, 'holds')]
    """
    direct, bracketed = REFERENCES
    found = [match.groups() for match in direct.finditer(text)]
    found += [(m.group(3), m.group(1)) for m in bracketed.finditer(text)]
    plain = {
        "hold": "holds", "do not hold": "does not hold", "hold in part": "holds in part",
    }  # fmt: skip
    return [
        (int(number), plain.get(said, said if "hold" in said else "not decidable"))
        for numbers, said in found
        for number in re.findall(r"\d+", numbers)
    ]


def test_quoted_verdicts_are_found_before_and_after_the_number():
    text = "It holds (claim 7); claims 8 and 9 do not hold, claim 5 (x) is not decidable."  # fmt: skip
    assert quoted(text) == [
        (8, "does not hold"), (9, "does not hold"), (5, "not decidable"), (7, "holds"),
    ]  # fmt: skip


@each
def test_a_reason_quotes_the_verdict_that_the_other_claim_has(claim):
    for number, said in quoted(claim.reason):
        assert said == every()[number - 1].verdict, number
    for numbers in re.findall(NUMBERS, claim.reason):
        others = [int(number) for number in re.findall(r"\d+", numbers)]
        assert set(others) <= set(range(1, 219)) - {claim.number}


def test_a_size_is_not_found_without_its_direction():
    for direction, size in product(
        ("holds", "does not hold", "not decidable"), repeat=2
    ):
        verdict = claims.in_parts(direction, size)
        assert (verdict == "holds") == (direction == size == "holds")
        assert (verdict == "holds in part") == (direction == "holds" != size)
    in_part = [claim for claim in every() if claim.verdict == "holds in part"]
    assert in_part
    assert all(claim.direction and claim.size for claim in in_part)


def test_every_printed_table_has_a_claim_about_it():
    without = {
        label
        for label, table in paper_tables().items()
        if table.kind == "table" and not about(label)
    }
    assert without == {"tab:cicids_perclass", "tab:ece_binary", "tab:hyperparams"}  # fmt: skip


def test_main_conclusions_are_about_what_can_be_true_or_false():
    assert [claim.rank for claim in main()] == list(range(1, 21))
    for claim in main():
        assert claim.verdict != "definition"
        assert claim.reason.endswith(".")
        assert 3 < len(claim.summary.split()) <= 15


def test_the_page_is_what_the_file_makes_and_its_counts_add_up():
    page = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    assert page == conclusions.page()
    counts = Counter(claim.verdict for claim in every())
    assert sum(counts.values()) == 218
    assert f"{counts['does not hold']} do not hold" in page
    assert page.count("\n| <a id=") == 218
    script = runpy.run_path(str(ROOT / "scripts/publish_reproduction.py"))
    assert script["conclusions"].page() == page


def test_a_claim_of_a_table_is_plain_data():
    (first, *_) = claims.about("tab:poa")
    assert set(first.to_dict()) == {
        "number", "text", "verdict", "reason", "summary", "tests",
    }  # fmt: skip
