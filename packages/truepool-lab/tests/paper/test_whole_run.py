"""``truepool reproduce --quick`` as a user runs it: every table and figure, in minutes.

Left out of a plain `pytest`; `scripts/test` runs it last, and says how long it took.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dataset_requirements import needs

from truepool_lab.paper.expected import paper_tables
from truepool_lab.paper.experiments import every, with_variants

NEEDED = {name for experiment in every().values() for name in experiment.needs}
pytestmark = [pytest.mark.slow, needs(*sorted(NEEDED))]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Folder of the run."""
    out = tmp_path_factory.mktemp("whole")
    jobs = ["--set", f"jobs={os.cpu_count()}"]
    words = ["reproduce", "--quick", *jobs, "--output", str(out)]
    start = time.perf_counter()
    command = Path(sys.executable).with_name("truepool")
    done = subprocess.run([command, *words], capture_output=True, text=True)
    print(f"truepool {' '.join(words[:4])}: {time.perf_counter() - start:.0f} s")
    assert (done.returncode, done.stderr) == (0, "")
    return out


def test_all_51_tables_and_13_figures_are_there_and_none_is_pending(run):
    result = json.loads((run / "verdicts.json").read_text())["tables"]
    assert list(result) == with_variants(list(paper_tables()))
    kinds = [table["kind"] for label, table in result.items() if "@" not in label]
    assert (kinds.count("table"), kinds.count("figure")) == (51, 13)
    assert not [k for k, table in result.items() if table["status"] == "pending"]
    drawn = {f.stem.replace("_", ":", 1) for f in (run / "figures").iterdir()}
    figures = {label for label, table in result.items() if table["kind"] == "figure"}
    assert drawn == figures


def test_every_printed_number_has_ours_beside_it_and_what_differs_a_cause(run):
    result = json.loads((run / "verdicts.json").read_text())["tables"]
    for label in result:
        level = result[label]["level"]
        apart = level["match"] < level["cells"] and "@" not in label
        assert not apart or result[label]["cause"], label
        for cell in result[label]["cells"]:
            # An inferred reading may leave cells out: a price, or training sizes.
            assert cell["verdict"] != "pending" or "@" in label, (label, cell)


def test_both_pages_show_every_label(run):
    for page in ("reproduction.md", "reproduction.html"):
        text = (run / page).read_text(encoding="utf-8")
        assert all(label in text for label in paper_tables())
