"""Which tests run a line, and how long each takes: built once, used by every sample.

The map is a folder: ``tree.tar.gz``, the tree that was tested, so that line numbers and
tests always fit it whatever happens to the checkout; ``coverage``, the lines by test;
``tests.json``, the times of the tests; ``map.json``, what the map was built from.
"""

import ast
import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import coverage
from coverage.numbits import nums_to_numbits, register_sqlite_functions

from mutation.layout import Layout, Module, MutationError, copy_tree, pack
from mutation.processes import Processes
from mutation.sites import Change, Lines, find_changes, name

NOWHERE: Lines = (0, 0)
CONTEXTS = """
select context.context from line_bits
join file on file.id = line_bits.file_id
join context on context.id = line_bits.context_id
where file.path = ? and numbits_any_intersection(line_bits.numbits, ?)
"""
"""All contexts of a file at once would fill the memory: most tests run most modules."""
CACHED = re.compile(r"^\s*@(?:functools\.)?(?:lru_)?cache\b", re.MULTILINE)


def build(
    root: Path, folder: Path, work: Path, folders: Sequence[str], paths: Sequence[str],
    jobs: int,
) -> str:  # fmt: skip
    """Run the tests under coverage in a copy of the tree; return how that went."""
    tree = work / "tree"
    copy_tree(root, tree)
    names = [p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file()]
    layout = Layout.read(tree, folders)
    folder.mkdir(parents=True, exist_ok=True)
    for old in ("coverage", "tests.json", "map.json"):
        (folder / old).unlink(missing_ok=True)
    settings = work / "coverage.ini"
    settings.write_text(_settings(layout, folder / "coverage"))
    command = [
        *paths, "--cov", f"--cov-config={settings}", "--cov-context=test",
        "--cov-report=", "--cov-fail-under=0", "--tb=short", "-q",
    ]  # fmt: skip
    if jobs > 1:
        command += ["-n", str(jobs), "--dist", "worksteal"]
    record = {"MUTATION_RECORD": str(folder / "tests.json")}
    code = Processes(layout, work).watch(tree, command, record)
    if code not in (0, 1):
        raise MutationError(f"the tests ended with code {code}; no map was built")
    digest = pack(tree, folder / "tree.tar.gz", names)
    content = {"digest": digest, "folders": layout.folders, "paths": list(paths)}
    (folder / "map.json").write_text(json.dumps(content))
    tests = json.loads((folder / "tests.json").read_text())
    passed = sum(test["passed"] for test in tests.values())
    return (
        f"{passed:,} tests passed; {len(tests) - passed:,} failed or were skipped and "
        f"are left out. The map is in {folder}."
    )


def _settings(layout: Layout, data: Path) -> str:
    """Return the settings of coverage: what `Layout` says, and paths that move."""
    lists = {"source": layout.package_folders(), "omit": layout.omitted}
    lines = ["[run]", "relative_files = true", f"data_file = {data}"]
    for key, values in lists.items():
        lines += [f"{key} =", *(f"    {value}" for value in values)]
    return "\n".join(lines)


@dataclass(frozen=True)
class RecordedTest:
    """A test that passed: its time in seconds, with coverage, and its fixtures."""

    id: str
    seconds: float
    fixtures: frozenset[str]

    @property
    def file(self) -> str:
        """The file that it is in."""
        return self.id.partition("::")[0]

    def shares(self, fixture: str, node: str) -> bool:
        """Whether it uses a fixture that is made once for a module, class or folder."""
        inside = node in ("", ".") or self.id.startswith((f"{node}::", f"{node}/"))
        return fixture in self.fixtures and inside


class CoverageMap:
    """The tests of each line of a tree that was tested, kept in ``folder``."""

    def __init__(self, folder: Path, tree: Path) -> None:
        if not (folder / "map.json").exists():
            raise MutationError("there is no coverage map yet; build it with --map")
        about = json.loads((folder / "map.json").read_text())
        self.digest: str = about["digest"]
        self.paths: list[str] = about["paths"]
        self.tree = tree
        self.layout = Layout.read(tree, about["folders"])
        tests = json.loads((folder / "tests.json").read_text())
        self.tests = {
            key: RecordedTest(key, test["seconds"], frozenset(test["fixtures"]))
            for key, test in tests.items()
            if test["passed"]
        }
        self._data = sqlite3.connect(folder / "coverage")
        register_sqlite_functions(self._data)
        config = str(tree / "pyproject.toml")
        self._settings = coverage.Coverage(data_file=None, config_file=config)
        self._shared: dict[str, frozenset[str]] = {}

    def source(self, path: str) -> str:
        """Return the text of a file of the tree."""
        return (self.tree / path).read_text()

    def changes(self, module: Module) -> list[Change]:
        """Return the changes of a module, without lines that coverage leaves out."""
        excluded = {*self._settings.analysis2(str(self.tree / module.path))[2]}
        return [
            change
            for change in find_changes(self.source(module.path))
            if change.line not in excluded and change.statement[0] not in excluded
        ]

    def covering(self, module: Module, change: Change) -> list[RecordedTest]:
        """Return the tests that cover a change, those that may fail fastest first.

        First those in a file named like the module, and its doctests; then by time.
        """
        found: set[str] = set()
        if not change.at_import:
            found = self._of(module.path, (change.line, change.line))
            found = found or self._of(module.path, change.statement)
        if change.at_import or change.names:
            found |= self._through_names(module, change)
        stem = module.name.rpartition(".")[2]

        def order(test: RecordedTest) -> tuple[bool, float, str]:
            own = test.file == module.path or stem in Path(test.file).stem
            return not own, test.seconds, test.id

        return sorted((self.tests[test] for test in found), key=order)

    def _through_names(self, module: Module, change: Change) -> set[str]:
        """Tests of the lines that use what a line defines when it is imported."""
        span = change.span
        places = {*self._uses.lines(module.name, change.names)}
        if span is not None:
            places.add((module.path, span))
        found: set[str] = set()
        for path, lines in places:
            found |= self._of(path, lines)
        if not found:
            length = self.source(module.path).count("\n") + 1
            found = self._of(module.path, (1, length))
        return found

    def _of(self, path: str, lines: Lines) -> set[str]:
        """Tests that run one of these lines of a file, while no module is imported."""
        functions = self._uses.in_functions[path]
        wanted = functions.intersection(range(lines[0], lines[1] + 1))
        values = (path, nums_to_numbits(wanted))
        contexts = [row[0] for row in self._data.execute(CONTEXTS, values)]
        return {test for context in contexts for test in self._tests_of(context)}

    def _tests_of(self, context: str) -> frozenset[str]:
        if context not in self._shared:
            self._shared[context] = frozenset(self._resolved(context))
        return self._shared[context]

    def _resolved(self, context: str) -> Iterator[str]:
        """Tests of a context of coverage: one, or all that share a fixture or cache."""
        if context.startswith("fixture|"):
            _, fixture, node = context.split("|", 2)
            for test in self.tests.values():
                if test.shares(fixture, node):
                    yield test.id
            return
        test_id = context.rpartition("|")[0]
        file = test_id.partition("::")[0]
        # A result that a file of tests keeps is computed in the first of them only.
        if file in self._caching:
            yield from self._by_file[file]
        elif test_id in self.tests:
            yield test_id

    @cached_property
    def _by_file(self) -> dict[str, list[str]]:
        files: dict[str, list[str]] = defaultdict(list)
        for test in self.tests.values():
            files[test.file].append(test.id)
        return files

    @cached_property
    def _caching(self) -> set[str]:
        sources = {module.path for module in self.layout.modules()}
        tests = (f for f in self._by_file if f.endswith(".py") and f not in sources)
        return {file for file in tests if CACHED.search(self.source(file))}

    @cached_property
    def _uses(self) -> "Uses":
        modules = self.layout.modules()
        return Uses({m: self.source(m.path) for m in modules})

    @cached_property
    def imported_when_compiled(self) -> set[str]:
        """Modules that the omitted ones import: what these compile may contain them."""
        found = set()
        for module in self.layout.modules(omitted=True):
            for node in ast.walk(ast.parse(self.source(module.path))):
                if isinstance(node, ast.ImportFrom) and node.module:
                    names = (f"{node.module}.{alias.name}" for alias in node.names)
                    found |= {node.module, *names}
        return found


@dataclass(frozen=True)
class Use:
    """Where a name is used; at import, also which names the statement defines."""

    module: Module
    lines: Lines
    defines: tuple[str, ...] = ()


class Uses:
    """Where names of modules are used, followed through imports and constants."""

    def __init__(self, sources: dict[Module, str]) -> None:
        self.names = {module.name for module in sources}
        self.uses: dict[tuple[str, str], list[Use]] = defaultdict(list)
        self.in_functions: dict[str, set[int]] = {}
        for module, source in sources.items():
            tree = ast.parse(source)
            self.in_functions[module.path] = set(_function_lines(tree))
            imported = self._read_imports(module, tree)
            for node, lines, defines in _nodes(tree.body, ()):
                self._add(imported, node, Use(module, lines, defines))

    def lines(self, module: str, names: Iterable[str]) -> Iterator[tuple[str, Lines]]:
        """Yield the lines of functions that depend on names of a module."""
        open_names = [(module, name) for name in names]
        seen = set(open_names)
        while open_names:
            for use in self.uses[open_names.pop()]:
                yield use.module.path, use.lines
                further = {(use.module.name, name) for name in use.defines} - seen
                seen |= further
                open_names.extend(further)

    def _read_imports(
        self, module: Module, tree: ast.Module
    ) -> dict[str, tuple[str, str]]:
        """Return the module and the name that each imported name comes from."""
        imported = {}
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            for alias in node.names:
                origin = (node.module, alias.name)
                if f"{node.module}.{alias.name}" in self.names:
                    origin = (f"{node.module}.{alias.name}", "")
                here = alias.asname or alias.name
                imported[here] = origin
                # What is imported here may be imported from here.
                self.uses[origin].append(Use(module, NOWHERE, (here,)))
        return imported

    def _add(
        self, imported: dict[str, tuple[str, str]], node: ast.expr, use: Use
    ) -> None:
        if isinstance(node, ast.Name):
            own = (use.module.name, node.id)
            self.uses[imported.get(node.id, own)].append(use)
        elif isinstance(node, ast.Attribute):
            self.uses[use.module.name, node.attr].append(use)
            owner, inside = imported.get(name(node.value), ("", "no module"))
            if not inside:
                self.uses[owner, node.attr].append(use)


def _nodes(
    statements: Sequence[ast.stmt], owners: tuple[str, ...]
) -> Iterator[tuple[ast.expr, Lines, tuple[str, ...]]]:
    """Yield expressions with the lines that use them and the names they define."""
    for statement in statements:
        if isinstance(statement, ast.ClassDef):
            yield from _nodes(statement.body, (*owners, statement.name))
            continue
        defines = _defined(statement)
        defines = (*owners, *defines) if defines else ()
        for part in ast.walk(statement):
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                body = part.body[0].lineno, part.end_lineno or part.lineno
                for default in [*part.args.defaults, *part.args.kw_defaults]:
                    if default is not None:
                        inner = ast.walk(default)
                        found = (n for n in inner if isinstance(n, ast.expr))
                        yield from ((n, body, ()) for n in found)
            elif isinstance(part, ast.expr):
                yield part, (part.lineno, part.lineno), defines


def _defined(statement: ast.stmt) -> tuple[str, ...]:
    """Names that a statement defines by an assignment."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    if isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    nodes = [node for target in targets for node in ast.walk(target)]
    return tuple(node.id for node in nodes if isinstance(node, ast.Name))


def _function_lines(tree: ast.AST) -> Iterator[int]:
    """Lines of the bodies of functions: what runs after import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from range(node.body[0].lineno, (node.end_lineno or 0) + 1)
        elif isinstance(node, ast.Lambda):
            yield from range(node.lineno, (node.end_lineno or 0) + 1)
