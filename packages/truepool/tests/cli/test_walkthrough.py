"""The tutorial and the page on production are run as a reader would run them."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[4] / "docs"
BLOCK = re.compile(r"^```(bash|python|text)\n(.*?)^```$", re.M | re.S)


def words(text):
    return " ".join(text.split())


def shell(line):
    """Run a line that needs a shell, and return what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shown = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", line],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return shown.returncode, shown.stdout, shown.stderr


def is_second_audit(line):
    """An audit takes long, and what one says since another is tested elsewhere."""
    return "--since" in line


def follow(page, truepool):
    """Run the commands of a page in order; what they print is what the page says."""
    printed = ""
    for kind, content in BLOCK.findall((DOCS / f"{page}.md").read_text()):
        if kind == "text":
            for line in content.splitlines():
                assert line == "..." or words(line) in printed, line
        elif kind == "python" and ">>>" not in content:  # a script, no doctest
            Path("make.py").write_text(content)
            assert shell("python make.py")[0] == 0
        elif kind == "bash":
            printed = ""
            for line in content.replace("\\\n", "").splitlines():
                if is_second_audit(line):
                    continue
                plain = line.startswith("truepool")
                code, out, err = (
                    truepool(*shlex.split(line)[1:]) if plain else shell(line)
                )
                assert code == 0, f"{line}\n{err}"
                printed += words(f" {out} {err} ")


@pytest.mark.no_cover
def test_the_tutorial_leads_to_decisions_and_then_into_production(
    tmp_path, truepool, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    follow("tutorial", truepool)
    made = {path.name for path in tmp_path.iterdir()}
    assert {"report.html", "january.json", "bank.pool", "scored.csv", "why.csv"} <= made
    follow("production", truepool)
    assert {"bank.onnx", "next.pool"} <= {path.name for path in tmp_path.iterdir()}
