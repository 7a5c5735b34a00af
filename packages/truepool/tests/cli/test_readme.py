"""Every block of the README runs, and its figures are those of the pages it links to.

The Python block is a doctest; pytest collects it.
"""

import re
import shlex
from pathlib import Path

import pytest

from truepool.cli.demo import FILES, OUTCOME
from truepool.cli.demo_panels import build
from truepool.tables import write_table

ROOT = Path(__file__).parents[4]
README = (ROOT / "README.md").read_text()
MAKE, SHELL = re.findall(r"^```bash\n(.*?)^```$", README, re.M | re.S)
LONGEST = 110


def test_it_has_one_block_of_each_kind_and_one_figure():
    assert README.count("```python") == 1
    assert len(SHELL.splitlines()) <= 10
    (figure,) = re.findall(r"!\[.*\]\((.*)\)", README)
    assert (ROOT / figure).exists()
    assert Path(figure).name in FILES  # the demo made it
    assert len(README.splitlines()) <= LONGEST


def test_the_two_commands_are_targets_of_make():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    wanted = [line.split()[1] for line in MAKE.splitlines()]
    assert wanted == ["demo", "test"]
    assert set(wanted) <= set(targets)


@pytest.mark.no_cover
def test_every_line_of_shell_runs(truepool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panel = build().faulty
    columns = {"id": panel.ids, "time": panel.times, OUTCOME: panel.outcomes}
    columns |= dict(zip(panel.agents, panel.reports.T, strict=True))
    Path("demo").mkdir()
    write_table(Path("demo/panel.csv"), columns)
    for line in SHELL.splitlines():
        command, *words = shlex.split(line, comments=True)
        if command == "echo":
            text, _, file = words
            with Path(file).open("a") as written:
                written.write(f"{text}\n")
            continue
        code, _, err = truepool(*words)
        assert (command, code) == ("truepool", 0), f"{line}\n{err}"
    made = {path.name for path in tmp_path.iterdir()}
    assert {"report.html", "biopsies.pool", "scored.csv", "weights.svg"} <= made


def test_the_comparison_is_that_of_the_race():
    race = (ROOT / "docs" / "race.md").read_text()
    averages = race.split("**Averages over the judging panels**\n\n")[1].split("\n\n")[
        0
    ]
    measured = {
        cells[0]: [cells[1], *cells[5:7]]
        for line in averages.splitlines()
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 8
    }
    table = README.split("| | cost | log loss | Brier |")[1].split("\n\n")[0]
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in table.splitlines()[2:]]  # fmt: skip
    assert len(rows) == 6
    for name, *numbers in rows:
        assert numbers == measured[name]
    assert "15 of 15 competitors learn faster" in race
    assert "14 methods of five libraries" in race
    assert "25 panels" in race
