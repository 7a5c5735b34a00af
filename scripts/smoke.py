#!/usr/bin/env python
"""What an installed truepool must do without extras; run by scripts/smoke.

It reads a table, audits, fits, saves, loads and scores, in Python and by command, in an
empty folder, and prints the versions it ran with.
"""

import csv
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path


def run(*words: str) -> str:
    """Run the command that belongs to this Python."""
    command = Path(sys.executable).parent / "truepool"
    found = subprocess.run([command, *words], capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"truepool {' '.join(words)} failed:\n{found.stderr}")
    return found.stdout


def write_table(path: Path) -> None:
    """Write the bundled panel as somebody else would."""
    import truepool as tp

    panel = tp.datasets.example()
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*panel.agents, "y"])
        for reports, outcome in zip(panel.reports, panel.outcomes, strict=True):
            cells = ["" if report != report else report for report in reports]
            table.writerow([*cells, outcome])


def check_python() -> None:
    """Fit, save, load and replay in Python."""
    import truepool as tp

    panel = tp.read_panel("reports.csv", outcome="y")
    pool = tp.VCG(costs=tp.Costs(fn=10, fp=1)).fit(panel.reports, panel.outcomes)
    pool.save("python.pool")
    again = tp.load_pool("python.pool").predict_proba(panel.reports)
    trace = tp.replay("gradient", panel)
    if (again != pool.predict_proba(panel.reports)).any():
        sys.exit("a loaded pool must give what the saved one gives")
    if trace.bound is None or trace.regret is None or trace.regret[-1] > trace.bound:
        sys.exit("the regret of gradient must stay within its bound")


def check_command() -> None:
    """Fit, score, show and replay by command; say what is missing without extras."""
    run("--version")
    run("fit", "reports.csv", "--outcome", "y", "--pool", "vcg", "-o", "a.pool")
    run("score", "a.pool", "reports.csv", "-o", "scored.csv")
    run("show", "a.pool")
    run("replay", "reports.csv", "--outcome", "y", "--plot", "weights.svg")
    words = ("compare", "reports.csv", "--outcome", "y", "--pool", "vcg")
    if "vcg" not in run(*words, "--pool", "mean"):
        sys.exit("truepool compare must show the pool that it was asked for")


def main() -> None:
    """Run all checks in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_table(Path("reports.csv"))
        check_python()
        check_command()
        os.chdir("/")
    names = ("truepool", "numpy", "scipy", "scikit-learn", "numba", "pyarrow")
    shown = ", ".join(f"{name} {version(name)}" for name in names)
    print(f"{' '.join(sys.argv[1:])}: fine with {shown}")


if __name__ == "__main__":
    main()
