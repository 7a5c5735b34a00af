"""Draw mutants, and run the tests of each until one fails."""

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from queue import Queue
from random import Random
from typing import TypeVar

from mutation.coverage_map import CoverageMap, RecordedTest
from mutation.layout import Module, MutationError, unpack
from mutation.processes import Processes
from mutation.results import Check, Outcome, Result, ResultFile
from mutation.sites import Change

T = TypeVar("T")

FIRST_SECONDS, FIRST_FILES = 10.0, 5
"""A first process runs tests up to so many seconds from so many files; only if the
mutant survives them, a second one imports the files of all others."""

SECONDS_PER_FILE = 1.0
"""Time for the import of a file of tests, for the time limit."""

WARM_UP_LIMIT = 600.0
"""Seconds for one quick test, whatever has to be compiled before."""

COMPILE_SECONDS = 60.0
"""More time where compiled code is compiled again."""


@dataclass(frozen=True)
class Mutant:
    """A change of a module."""

    module: Module
    change: Change


@dataclass(frozen=True)
class Limits:
    """How long one mutant may take.

    ``budget`` is how many seconds of tests, by the times of the map, are run at most;
    a process is ended after ``factor`` times the time of the same tests without mutant.
    """

    budget: float = 120.0
    factor: float = 3.0


def allocate(sizes: Mapping[str, int], number: int) -> dict[str, int]:
    """Share a number in proportion to the square roots of sizes (Sainte-Lague).

    A package nine times as large gets three times as many, and each gets at least one
    if there are enough.

    >>> allocate({"a": 100, "b": 900, "c": 1}, 12)
    {'a': 3, 'b': 8, 'c': 1}
    """
    shares = dict.fromkeys(sizes, 0)

    def claim(name: str) -> tuple[bool, float]:
        return not shares[name], math.sqrt(sizes[name]) / (2 * shares[name] + 1)

    for _ in range(min(number, sum(sizes.values()))):
        free = (name for name in shares if shares[name] < sizes[name])
        shares[max(free, key=claim)] += 1
    return shares


def draw(
    groups: Mapping[str, Sequence[T]], number: int, seed: int,
    accept: Callable[[T], bool] = lambda _: True,
) -> list[T]:  # fmt: skip
    """Draw from each group, in turns.

    The draw from a group depends only on the seed and the group, and a larger number
    adds to what a smaller one draws.
    """
    shares = allocate({name: len(groups[name]) for name in sorted(groups)}, number)
    drawn: list[tuple[int, str, T]] = []
    for name, share in shares.items():
        order = Random(f"{seed} {name}").sample(groups[name], len(groups[name]))
        accepted = filter(accept, order)
        drawn += [(i, name, item) for i, item in enumerate(islice(accepted, share))]
    return [item for _, _, item in sorted(drawn, key=lambda entry: entry[:2])]


def draw_mutants(
    covered: CoverageMap, number: int, seed: int, prefixes: Sequence[str] = ()
) -> list[Mutant]:
    """Draw mutants of all packages, or of those modules whose name starts so."""
    groups: dict[str, list[Mutant]] = {}
    for module in covered.layout.modules():
        if not prefixes or any(f"{module.name}.".startswith(f"{p}.") for p in prefixes):
            mutants = [Mutant(module, change) for change in covered.changes(module)]
            groups.setdefault(module.package, []).extend(mutants)
    if not any(groups.values()):
        raise MutationError(f"nothing can be mutated in {' '.join(prefixes)}")

    def is_valid(mutant: Mutant) -> bool:
        return mutant.change.is_valid(covered.source(mutant.module.path))

    return draw(groups, number, seed, is_valid)


@dataclass(frozen=True)
class Run:
    """What tests said: how the process ended, which failed, how many passed."""

    timed_out: bool
    failed: tuple[str, ...]
    passed: int


class Laboratory:
    """Copies of a tree in which mutants are tested, one for each job."""

    def __init__(
        self, archive: Path, covered: CoverageMap, work: Path, jobs: int, limits: Limits
    ) -> None:
        self.covered, self.work, self.limits = covered, work, limits
        self.processes = Processes(covered.layout, work)
        self.copies: Queue[Path] = Queue()
        self._versions = count(1)
        self.start_seconds = 0.0
        for job in range(jobs):
            tree = work / f"copy{job}"
            unpack(archive, tree)
            self.copies.put(tree)

    def warm_up(self) -> None:
        """Run one quick test in each copy, to see that they work, and how fast."""
        quickest = min(self.covered.tests.values(), key=lambda test: test.seconds)
        copies = [self.copies.get() for _ in range(self.copies.qsize())]
        # The first run also compiles the modules of the libraries, and of its copy.
        for tree in [*copies, copies[0]]:
            start = time.monotonic()
            run = self._pytest(tree, [quickest], WARM_UP_LIMIT)
            self.start_seconds = time.monotonic() - start
            if run.failed or not run.passed:
                raise MutationError(f"{quickest.id} fails in a copy of the tree")
        for tree in copies:
            self.copies.put(tree)

    def test(self, mutant: Mutant, covering: Sequence[RecordedTest]) -> Result:
        """Run the tests that cover a mutant until one fails."""
        chosen = within(covering, self.limits.budget)
        start = time.monotonic()
        outcome: Outcome = "not covered"
        test = ""
        if chosen:
            with self._copy() as tree, self._mutated(tree, mutant):
                outcome, test = self._outcome(tree, mutant, chosen)
        module, change = mutant.module, mutant.change
        return Result(
            module.name, module.package, module.path, change.line, change.start,
            change.end, change.operator, change.original, change.mutated, outcome, test,
            len(covering), len(chosen), round(time.monotonic() - start, 1),
            self.covered.digest,
        )  # fmt: skip

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        """A copy of the tree that nobody else uses meanwhile."""
        tree = self.copies.get()
        try:
            yield tree
        finally:
            self.copies.put(tree)

    def _outcome(
        self, tree: Path, mutant: Mutant, chosen: Sequence[RecordedTest]
    ) -> tuple[Outcome, str]:
        more: dict[str, str] = {}
        extra = 0.0
        if self._reaches_compiled_code(mutant):
            # What numba keeps does not see that a constant or a callee has changed.
            folder = self.work / "compiled" / str(next(self._versions))
            more, extra = {"NUMBA_CACHE_DIR": str(folder)}, COMPILE_SECONDS
        for tests in stages(chosen):
            limit = self.time_limit(tests) + extra * self.limits.factor
            run = self._pytest(tree, tests, limit, more)
            if run.failed:
                return "killed", run.failed[0]
            if run.timed_out:
                return "timed out", ""
        return "survived", ""

    def _reaches_compiled_code(self, mutant: Mutant) -> bool:
        compiled = self.covered.imported_when_compiled
        return mutant.change.at_import or mutant.module.name in compiled

    def time_limit(self, tests: Sequence[RecordedTest]) -> float:
        """Seconds after which a process is ended."""
        files = len({test.file for test in tests})
        usual = self.start_seconds + files * SECONDS_PER_FILE
        return self.limits.factor * (usual + sum(test.seconds for test in tests))

    @contextmanager
    def _mutated(self, tree: Path, mutant: Mutant) -> Iterator[None]:
        """Write a mutant, and afterwards the original."""
        path = tree / mutant.module.path
        before = path.stat().st_mtime
        source = self.covered.source(mutant.module.path)
        try:
            # Python takes compiled modules for new by the second and the size.
            self._write(
                path, mutant.change.apply(source), before + next(self._versions)
            )
            yield
        finally:
            self._write(path, source, before)

    def _write(self, path: Path, text: str, changed: float) -> None:
        path.write_text(text)
        os.utime(path, (changed, changed))

    def _pytest(
        self, tree: Path, tests: Sequence[RecordedTest], limit: float,
        more: Mapping[str, str] | None = None, *, first_only: bool = True,
    ) -> Run:  # fmt: skip
        wanted, found = (self.work / f"{tree.name}.{part}" for part in ("tests", "run"))
        wanted.write_text(json.dumps([test.id for test in tests]))
        found.unlink(missing_ok=True)
        names = {"MUTATION_TESTS": str(wanted), "MUTATION_RESULT": str(found)}
        options = ["-q", "--tb=no", *(["-x"] if first_only else [])]
        files = [*dict.fromkeys(test.file for test in tests)]
        code = self.processes.run(
            tree, [*options, *files], names | {**(more or {})}, limit
        )
        said = json.loads(found.read_text()) if found.exists() else {}
        failed, passed = said.get("failed", []), said.get("passed", 0)
        # No tests (5): the mutant has changed their names, and no test has failed.
        if not failed and code not in (0, 5, None):
            failed = [f"pytest ended with code {code}"]
        return Run(code is None, tuple(failed), passed)

    def check(self, tests: Sequence[str]) -> Check:
        """Run tests without a mutant, and return which of them fail."""
        known = [self.covered.tests[t] for t in tests if t in self.covered.tests]
        limit = 2 * self.time_limit(known) + WARM_UP_LIMIT
        with self._copy() as tree:
            run = self._pytest(tree, by_file(known), limit, first_only=False)
        return Check([*tests], sorted({*run.failed} & {*tests}))


def within(tests: Sequence[RecordedTest], budget: float) -> list[RecordedTest]:
    """Return the first tests that together take no longer, but at least one."""
    chosen: list[RecordedTest] = []
    total = 0.0
    for test in tests:
        total += test.seconds
        if chosen and total > budget:
            break
        chosen.append(test)
    return chosen


def stages(tests: Sequence[RecordedTest]) -> Iterator[list[RecordedTest]]:
    """Yield a few quick tests first, then all others, together by file."""
    first: list[RecordedTest] = []
    for test in within(tests, FIRST_SECONDS):
        files = {one.file for one in first} | {test.file}
        if len(files) > FIRST_FILES:
            break
        first.append(test)
    for stage in (first, [*tests[len(first) :]]):
        if stage:
            yield by_file(stage)


def by_file(tests: Sequence[RecordedTest]) -> list[RecordedTest]:
    """Keep the tests of a file together, so that its fixtures are made once."""
    files = [*dict.fromkeys(test.file for test in tests)]
    return sorted(tests, key=lambda test: files.index(test.file))


def run_all(
    laboratory: Laboratory, mutants: Sequence[Mutant], file: ResultFile, jobs: int,
    say: Callable[[str], None],
) -> None:  # fmt: skip
    """Test the mutants that have no result yet; then check the tests that killed."""
    keys = {
        (m.module.path, m.change.start, m.change.end, m.change.mutated): m
        for m in mutants
    }
    waiting = [mutant for key, mutant in keys.items() if key not in file.results]
    say(f"{len(mutants) - len(waiting)} of {len(mutants)} mutants have a result.")
    if waiting:
        laboratory.warm_up()
    pool = ThreadPoolExecutor(jobs)
    try:
        covering = laboratory.covered.covering
        started = [
            pool.submit(laboratory.test, m, covering(m.module, m.change))
            for m in waiting
        ]
        for n, future in enumerate(as_completed(started), 1):
            result = future.result()
            file.add(result)
            say(f"{n}/{len(waiting)}  {result.outcome}  {result.text}")
    finally:
        # After an error or an interruption nothing runs on.
        pool.shutdown(wait=False, cancel_futures=True)
        laboratory.processes.stop()
    killers = {r.test for r in file.results.values() if r.test} - file.checked
    if killers:
        say(f"{len(killers)} tests killed; they are run once without a mutant.")
        file.add(laboratory.check(sorted(killers)))
