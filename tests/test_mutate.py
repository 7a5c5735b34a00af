"""Mutants: what is changed and what is left alone, which tests run, what is reported."""

import doctest
import hashlib
import json
import subprocess
from dataclasses import replace

import pytest
from mutation import results, sites, trials
from mutation.command import main
from mutation.coverage_map import NOWHERE, CoverageMap, Uses
from mutation.layout import Layout, Module, unpack
from mutation.results import Check, Result, ResultFile, render
from mutation.sites import find_changes
from mutation.trials import (
    Laboratory,
    Limits,
    allocate,
    draw,
    draw_mutants,
    run_all,
    within,
)

CONFIGURATION = """
[tool.ruff]
src = ["parts/*/src"]
[tool.coverage.run]
source = ["tiny"]
omit = ["*/fast_compiled.py"]
[tool.coverage.report]
exclude_also = ["@abstractmethod"]
[tool.pytest.ini_options]
testpaths = ["parts"]
addopts = ["-p", "pytest_cov", "--doctest-modules", "--import-mode=importlib"]
"""
RULES = '''
from tiny.limits import LIMIT

def allowed(count: int) -> bool:
    """Whether there are so few.

    >>> allowed(2), allowed(3)
    (True, False)
    """
    return count < LIMIT

def label(count):
    if count > 5:
        return "many"
    return "few"

def unused(count):
    return count + 1
'''
LOOPS = """
def countdown(n):
    while n > 0:
        n -= 1
    return n
"""
TESTS = """
import pytest
from tiny.loops import countdown
from tiny.rules import label

def test_many_are_called_so():
    assert label(9) == "many"
    label(0)

@pytest.fixture(scope="module")
def end():
    return countdown(3)

def test_a_number(end):
    assert isinstance(end, int)

def test_the_end(end):
    assert end == 0
"""
FILES = {
    "pyproject.toml": CONFIGURATION,
    "parts/a/src/tiny/__init__.py": '"""A package."""',
    "parts/a/src/tiny/limits.py": "LIMIT = 3\n",
    "parts/a/src/tiny/rules.py": RULES,
    "parts/a/src/tiny/loops.py": LOOPS,
    "parts/a/src/tiny/fast_compiled.py": "FAST = 1\n",
    "parts/a/tests/test_tiny.py": TESTS,
}


def digests(folder):
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {p: hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A small project in git, and beside it the coverage map of its tests."""
    root = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    with pytest.MonkeyPatch.context() as patch:
        # The other plugins take most of the time of a small process.
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        before = digests(root)
        assert main(root, ["--map", "--jobs", "1", "--folder", f"{root}-map"]) == 0
        assert digests(root) == before
        yield root


@pytest.fixture
def covered(project, tmp_path):
    folder = project.with_name(f"{project.name}-map") / "map"
    unpack(folder / "tree.tar.gz", tmp_path / "tree")
    return CoverageMap(folder, tmp_path / "tree")


def mutated(source, operator=None):
    changes = find_changes(source)
    return {c.apply(source) for c in changes if operator in (None, c.operator)}


@pytest.mark.parametrize(
    ("source", "operator", "expected"),
    [
        ("x < y", "comparison", {"x <= y", "x >= y"}),
        ("x >= y", "comparison", {"x > y", "x < y"}),
        ("a < b != c", "comparison", {"a <= b != c", "a >= b != c", "a < b == c"}),
        ("x in y", "comparison", {"x not in y"}),
        ("x  not  in y", "comparison", {"x  in y"}),
        ("x is not y", "comparison", {"x is y"}),
        ("(a) == (b)", "comparison", {"(a) != (b)"}),
        ("a + b * c", "arithmetic", {"a - b * c", "a + b / c"}),
        ("x -= y", "arithmetic", {"x += y"}),
        ("y = -x", "arithmetic", {"y = x"}),
        ("def f(): return x & y", "arithmetic", {"def f(): return x | y"}),
        ("(a\n * # why\n b)", "arithmetic", {"(a\n / # why\n b)"}),
        ("x = 0", "constant", {"x = 1"}),
        ("x = 0.5", "constant", {"x = 1.0"}),
        ("x = 1_000", "constant", {"x = 2000"}),
        ("x = True", "constant", {"x = False"}),
        ("a and b and c", "boolean", {"a or b and c", "a and b or c"}),
        ("x = not y", "negation", {"x = y"}),
        ("x = not(\n y)", "negation", {"x = (\n y)"}),
        ("def f() -> bool: return g(x)", "return", {"def f() -> bool: return not (g(x))"}),
        ("x[1:n]", "slice", {"x[(1) + 1:n]", "x[1:(n) - 1]"}),
        ("max(x)", "opposite", {"min(x)"}),
        ("x.any()", "opposite", {"x.all()"}),
        ("np.argmin(x)", "opposite", {"np.argmax(x)"}),
        ("check(\n x,\n)\n", "statement", {"pass\n\n\n"}),
        ("if x: raise ValueError(x)", "statement", {"if x: pass"}),
        ("if x: y", "condition", {"if True: y", "if False: y"}),
        ("if f(\n x\n): y", "condition", {"if (True\n\n): y", "if (False\n\n): y"}),
        ("while x: y", "condition", {"while False: y"}),
        ("[a for a in b if a]", "condition", {f"[a for a in b if {v}]" for v in (True, False)}),
        ("x = 'é' if 'ö' else y", "condition", set()),
        ("x = ('é', y < z)", "comparison", {"x = ('é', y <= z)", "x = ('é', y >= z)"}),
    ],
)  # fmt: skip
def test_a_change_replaces_one_piece_and_keeps_the_lines(source, operator, expected):
    assert mutated(source, operator) == expected
    for change in find_changes(source):
        assert change.is_valid(source)
        assert change.apply(source).count("\n") == source.count("\n")


@pytest.mark.parametrize(
    "source",
    [
        '"""At most 3 < 4."""',
        "def f(x: Literal[1]) -> Annotated[int, 2]: ...",
        "X: TypeAlias = A | B",
        "X = Literal[1, 2]",
        "if TYPE_CHECKING: import x",
        "if __name__ == '__main__': main()",
        "def __repr__(self): return x + 1",
        "raise AssertionError(x + 1)",
        "log.info(x + 1)",
        "f'{x + 1}'",
        "x = 'a' + b",
        "@cache(maxsize=4)\ndef f(): ...",
        "@njit(cache=True)\ndef f(x): return x + 1",
        "option = make(help=x + 1)",
    ],
)
def test_what_decides_nothing_is_left_alone(source):
    assert mutated(source) == set()


def test_the_message_of_an_exception_is_left_alone():
    source = "def f():\n    raise ValueError(x + 1)"
    assert mutated(source) == {"def f():\n    pass"}


def test_a_change_that_means_the_same_or_is_no_python_is_not_valid():
    change, *_ = find_changes("x < y")
    assert change.is_valid("x < y")
    assert not replace(change, mutated=" < ").is_valid("x < y")
    assert not replace(change, mutated="not").is_valid("x < y")


@pytest.mark.parametrize("module", [sites, trials, results])
def test_the_examples_in_the_scripts_run(module):
    assert doctest.testmod(module).attempted
    assert not doctest.testmod(module).failed


def test_source_folders_and_packages_come_from_the_configuration(project):
    layout = Layout.read(project)
    assert layout.folders == ("parts/a/src",)
    names = {module.name: module.package for module in layout.modules()}
    assert names["tiny"] == "tiny"
    assert names["tiny.loops"] == "tiny.loops"
    assert "tiny.fast_compiled" not in names


def test_killed_and_surviving_mutants_are_those_expected(project, tmp_path, capsys):
    out = tmp_path / "results.jsonl"
    before = digests(project)
    command = [
        "--sample", "50", "--package", "tiny.rules", "tiny.limits", "-o", str(out),
        "--folder", f"{project}-map",
    ]  # fmt: skip
    assert main(project, command) == 0
    assert digests(project) == before

    rows = [json.loads(line) for line in out.read_text().splitlines()]
    found = {(r["original"], r["mutated"]): r for r in rows if "outcome" in r}
    outcomes = {change: row["outcome"] for change, row in found.items()}
    assert outcomes == {
        # A good test: the doctest, which also notices the constant of another module.
        ("3", "4"): "killed",
        ("<", "<="): "killed",
        ("<", ">="): "killed",
        ("count < LIMIT", "not (count < LIMIT)"): "killed",
        # A weak one.
        (">", ">="): "survived",
        (">", "<="): "killed",
        ("5", "6"): "survived",
        ("count > 5", "True"): "survived",
        ("count > 5", "False"): "killed",
        # None.
        ("+", "-"): "not covered",
        ("1", "2"): "not covered",
    }
    assert found["3", "4"]["test"] == "parts/a/src/tiny/rules.py::tiny.rules.allowed"
    (check,) = (row for row in rows if "checked" in row)
    assert len(check["checked"]) == 2
    assert check["unreliable"] == []

    # Again: everything has a result, and the table is the same.
    table = capsys.readouterr().out.split("\n\n", 1)[1]
    assert main(project, command) == 0
    assert [json.loads(line) for line in out.read_text().splitlines()] == rows
    assert main(project, ["--report", str(out)]) == 0
    assert capsys.readouterr().out.endswith(table)
    assert "tiny.rules        10       5" in table


def test_an_endless_loop_is_timed_out(covered, project, tmp_path):
    (mutant,) = (
        m for m in draw_mutants(covered, 50, 0, ["tiny.loops"])
        if m.change.operator == "arithmetic"
    )  # fmt: skip
    archive = project.with_name(f"{project.name}-map") / "map" / "tree.tar.gz"
    laboratory = Laboratory(archive, covered, tmp_path, 1, Limits(factor=1.0))
    file = ResultFile(tmp_path / "results.jsonl")
    run_all(laboratory, [mutant], file, 1, lambda text: None)
    (result,) = file.results.values()
    assert result.outcome == "timed out"
    assert result.seconds < 10
    copy = laboratory.copies.get()
    assert (copy / mutant.module.path).read_text() == LOOPS


def test_a_constant_is_followed_through_imports_other_constants_and_defaults():
    uses = Uses({
        Module("p.a", "a.py"): "LIMIT = 3\n",
        Module("p", "p.py"): "from p.a import LIMIT\n",
        Module("p.b", "b.py"): "from p import LIMIT\nTWICE = 2 * LIMIT\n\ndef f():\n    return TWICE\n",
        Module("p.c", "c.py"): "from p import a\n\ndef f(x=a.LIMIT):\n    return x\n",
        Module("p.d", "d.py"): "LIMIT = 4\n\ndef f():\n    return LIMIT\n",
    })  # fmt: skip
    lines = {place for place in uses.lines("p.a", ["LIMIT"]) if place[1] != NOWHERE}
    assert {("b.py", (5, 5)), ("c.py", (4, 4))} <= lines
    assert "d.py" not in {path for path, _ in lines}


def test_a_fixture_of_a_module_is_covered_by_all_tests_that_use_it(covered):
    mutant, *_ = draw_mutants(covered, 1, 0, ["tiny.loops"])
    names = {t.id for t in covered.covering(mutant.module, mutant.change)}
    file = "parts/a/tests/test_tiny.py"
    assert names == {f"{file}::test_a_number", f"{file}::test_the_end"}


def test_the_sample_is_given_by_its_seed_and_spread_over_packages():
    groups = {"large": range(900), "medium": range(100), "small": range(1)}
    sample = draw(groups, 30, 0)
    assert sample == draw(groups, 30, 0)
    assert sample != draw(groups, 30, 1)
    sizes = {name: len(items) for name, items in groups.items()}
    assert allocate(sizes, 30) == {"large": 22, "medium": 7, "small": 1}
    # A larger sample continues a smaller one, and other packages do not change it.
    assert {*sample} <= {*draw(groups, 60, 0)}
    alone = draw({"large": groups["large"]}, 22, 0)
    assert {*alone} <= {*sample}


def test_tests_are_chosen_up_to_the_budget_but_at_least_one(covered):
    tests = [*covered.tests.values()]
    assert within(tests, 1000.0) == tests
    assert within(tests, 0.0) == tests[:1]


def result(outcome, start=0, **changes):
    fields = {
        "module": "a.b.c", "package": "a.b", "path": "c.py", "line": 1, "start": start,
        "end": 1, "operator": "constant", "original": "0", "mutated": "1",
        "outcome": outcome, "test": "", "tests": 2, "tests_chosen": 2, "seconds": 1.0,
        "map": "same",
    }  # fmt: skip
    return Result(**fields | changes)


def test_the_report_counts_timeouts_as_killed_and_leaves_unreliable_tests_out(tmp_path):
    file = ResultFile(tmp_path / "results.jsonl")
    file.add(result("killed", 1, test="t"))
    file.add(result("killed", 2, test="flaky"))
    file.add(result("timed out", 3))
    file.add(result("survived", 4, tests_chosen=1))
    file.add(result("not covered", 5, tests=0, tests_chosen=0))
    file.add(Check(["t", "flaky"], ["flaky"]))
    text = render(ResultFile(file.path))
    row = text.splitlines()[1].split()
    assert row[:8] == ["a.b", "4", "1", "1", "1", "1", "1", "50%"]
    assert "(1 of 2 tests)" in text
    assert "1 left out" in text


def test_results_of_another_tree_are_not_continued(project, tmp_path, capsys):
    file = ResultFile(tmp_path / "results.jsonl")
    file.add(result("survived"))
    options = ["-o", str(file.path), "--folder", f"{project}-map"]
    assert main(project, ["--sample", "1", *options]) == 1
    assert "another coverage map" in capsys.readouterr().err
