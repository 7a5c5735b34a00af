#!/usr/bin/env python
"""What an installed truepool must do; run by scripts/smoke with a name and a part.

In an empty folder it reads a table, audits, fits, saves, loads and scores, in Python
and by command, uses the distributions that the part names, is told what to install for
the others, and prints the versions it ran with.
"""

import csv
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

PARTS = {
    "serve": ("ledger", "verify", "no-such.db"),
    "jury": ("jury", "votes.csv", "--outcome", "y", "--json", "-"),
    "lab": ("game", "--set", "cases=200", "--payment", "brier"),
}
"""What each distribution adds, as words of a command."""


def start(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run the command that belongs to this Python."""
    command = Path(sys.executable).parent / "truepool"
    return subprocess.run([command, *words], capture_output=True, text=True)


def run(*words: str) -> str:
    """Return what a command prints; it must not fail."""
    found = start(*words)
    if found.returncode:
        sys.exit(f"truepool {' '.join(words)} failed:\n{found.stderr}")
    return found.stdout


def check_parts(installed: str) -> None:
    """Use what is installed; for the others be told what to install."""
    Path("votes.csv").write_text("a,b,c,y\n" + "1,1,0,1\n0,0,1,0\n1,0,1,1\n" * 10)
    for part, words in PARTS.items():
        found = start(*words)
        if installed in (part, "all"):
            wanted = "there is no ledger" if part == "serve" else ""
            if wanted not in found.stderr or (found.returncode and not wanted):
                sys.exit(f"truepool {' '.join(words)} failed:\n{found.stderr}")
        elif f"pip install 'truepool[{part}]'" not in found.stderr:
            sys.exit(f"truepool {words[0]} must say what to install:\n{found.stderr}")


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
    bound, regret = trace.bound, trace.regret
    if bound is None or regret is None or regret[-1] > bound:
        sys.exit("the regret of gradient must stay within its bound")


def check_command() -> None:
    """Fit, score, show and replay by command."""
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
        check_parts(sys.argv[2])
        os.chdir("/")
    names = ("truepool", "numpy", "scipy", "scikit-learn", "numba", "pyarrow")
    shown = ", ".join(f"{name} {version(name)}" for name in names)
    print(f"{sys.argv[1]}: fine with {shown}")


if __name__ == "__main__":
    main()
