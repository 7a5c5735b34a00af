"""pytest in processes of its own, on a copy of the tree."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import DEVNULL, Popen

from mutation.layout import Layout

PLUGIN = "mutation_plugin"


class Processes:
    """Starts pytest in copies of a tree, so that the modules of the copy are imported.

    The editable install of the checkout comes after ``PYTHONPATH``, so that commands
    which the tests start import the copy as well.
    """

    def __init__(self, layout: Layout, work: Path) -> None:
        self.layout, self.work = layout, work
        self.running: set[Popen[bytes]] = set()
        (work / "plugin").mkdir(exist_ok=True)
        (work / "temporary").mkdir(exist_ok=True)
        plugin = Path(__file__).with_name("pytest_plugin.py")
        shutil.copy(plugin, work / "plugin" / f"{PLUGIN}.py")

    def watch(self, tree: Path, options: Sequence[str], more: dict[str, str]) -> int:
        """Run pytest with its output on the screen; return its exit code."""
        environment = self._environment(tree) | more
        command = self._command(tree, options)
        return subprocess.run(command, cwd=tree, env=environment).returncode

    def run(
        self, tree: Path, options: Sequence[str], more: dict[str, str], limit: float
    ) -> int | None:
        """Run pytest in silence; return its exit code, None after ``limit`` seconds."""
        process = Popen(
            self._command(tree, options), cwd=tree, env=self._environment(tree) | more,
            stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.running.add(process)
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            # A test that is killed, or fails, may leave processes behind.
            _end(process)
            self.running.discard(process)

    def stop(self) -> None:
        """End all that run."""
        for process in [*self.running]:
            _end(process)

    def _command(self, tree: Path, options: Sequence[str]) -> list[str]:
        here = f"--basetemp={self.work / 'temporary' / tree.name}"
        python = [sys.executable, "-m", "pytest", "-p", PLUGIN]
        return [*python, "-p", "no:cacheprovider", here, *options]

    def _environment(self, tree: Path) -> dict[str, str]:
        paths = [str(tree / folder) for folder in self.layout.folders]
        paths += [str(self.work / "plugin"), os.environ.get("PYTHONPATH", "")]
        # The first: without its compiled files the import of the libraries takes most
        # of the time. The others: this may itself run in a test.
        dropped = ("PYTHONDONTWRITEBYTECODE", "PYTEST_XDIST", "MUTATION_")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
        return kept | {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "MUTATION_PACKAGES": " ".join(self.layout.packages),
            # Tests run the installed commands, too.
            "PATH": os.pathsep.join(
                [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
            ),
            "TMPDIR": str(self.work / "temporary"),
            # hypothesis tries the same examples each time.
            "CI": "1",
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        }


def _end(process: Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
