"""What pytest does for a coverage map, and for one mutant; loaded in its process.

Copied into a folder of its own under another name, because the folder of this package
has names that would hide others.
"""

import json
import os
import resource
from collections.abc import Generator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import coverage
import pytest

MEMORY = 8 * 2**30
"""Bytes for one process: a mutant that fills the memory fails and hurts nobody."""


class Recorder:
    """Keeps the times of the tests, and the lines of fixtures that tests share.

    pytest-cov counts the lines of a fixture of a module for the first test only; here
    they have a context of their own, and each test the names of its fixtures.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: dict[str, dict[str, Any]] = {}
        self.contexts = [""]

    def _switch(self) -> None:
        recording = coverage.Coverage.current()
        if recording is not None:
            recording.switch_context(self.contexts[-1])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Note the fixtures of a test, for the process that collects the reports."""
        self.contexts = [f"{item.nodeid}|setup"]
        names = item.fixturenames if isinstance(item, pytest.Function) else []
        item.user_properties.append(("fixtures", names))

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        """Count the lines of a shared fixture for all that share it."""
        if request.scope == "function":
            return (yield)
        self.contexts.append(f"fixture|{request.fixturename}|{request.node.nodeid}")
        self._switch()
        try:
            return (yield)
        finally:
            self.contexts.pop()
            self._switch()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the time of a test, and keep whether it passed."""
        test = self.tests.setdefault(report.nodeid, {"seconds": 0.0, "passed": False})
        test["seconds"] += report.duration
        if report.when == "call":
            test["passed"] = report.passed
        if report.failed:
            test["passed"] = False
        test["fixtures"] = dict(report.user_properties).get("fixtures", [])

    def pytest_sessionfinish(self) -> None:
        """Write the tests, except where the reports go to another process."""
        if "PYTEST_XDIST_WORKER" not in os.environ:
            self.path.write_text(json.dumps(self.tests))


class Selection:
    """Runs some tests in a given order, and says which one failed first."""

    def __init__(self, tests: Sequence[str], result: Path) -> None:
        self.ranks = {test: rank for rank, test in enumerate(tests)}
        self.result = result
        self.failed: list[str] = []
        self.passed = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Keep the tests that are wanted.

        A mutant may change the parameters of a test, and so their names; then the test
        runs with those it has.
        """
        missing = self.ranks.keys() - {item.nodeid for item in items}
        ranks = {test.partition("[")[0]: self.ranks[test] for test in missing}

        def rank(item: pytest.Item) -> int | None:
            other = ranks.get(item.nodeid.partition("[")[0])
            return self.ranks.get(item.nodeid, other)

        ranked = [(rank(item), item) for item in items]
        wanted = [(n, item) for n, item in ranked if n is not None]
        config.hook.pytest_deselected(items=[i for n, i in ranked if n is None])
        items[:] = [item for _, item in sorted(wanted, key=lambda pair: pair[0])]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep a file that cannot be imported any more."""
        if report.failed:
            self._fail(f"import of {report.nodeid}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a test that fails."""
        if report.failed:
            self._fail(report.nodeid)
        self.passed += report.when == "call" and report.passed

    def _fail(self, test: str) -> None:
        self.failed.append(test)
        self._write()

    def pytest_sessionfinish(self) -> None:
        """Write that no test failed, if so."""
        self._write()

    def _write(self) -> None:
        # At once: a test that has failed may end the process, or hang in its cleanup.
        content = {"failed": self.failed, "passed": self.passed}
        self.result.write_text(json.dumps(content))


def pytest_configure(config: pytest.Config) -> None:
    """Make sure that the copy is tested, and do what the environment asks for."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    for name in os.environ["MUTATION_PACKAGES"].split():
        spec = find_spec(name)
        folders = spec.submodule_search_locations if spec else None
        if not folders or not Path(next(iter(folders))).is_relative_to(config.rootpath):
            pytest.exit(f"{name} would be imported from elsewhere: {folders}", 99)
    if "MUTATION_RECORD" in os.environ:
        recorder = Recorder(Path(os.environ["MUTATION_RECORD"]))
        config.pluginmanager.register(recorder, "mutation-recorder")
    if "MUTATION_TESTS" in os.environ:
        tests = json.loads(Path(os.environ["MUTATION_TESTS"]).read_text())
        selection = Selection(tests, Path(os.environ["MUTATION_RESULT"]))
        config.pluginmanager.register(selection, "mutation-selection")
