"""The page against one plain figure, and the demo against a minute."""

import io
import subprocess
import sys
import time

from example_audit import audit
from matplotlib.figure import Figure

from truepool.pages.audit import html

DEMO = "import sys; sys.argv = ['truepool', 'demo', '--output', sys.argv[1]]; from truepool.cli import main; main()"


def plain_figure():
    figure = Figure(figsize=(4.7, 2.8), layout="constrained")
    axes = figure.subplots()
    axes.plot(range(100))
    axes.set(xlabel="x", ylabel="y")
    figure.savefig(io.StringIO(), format="svg")


def test_a_page_with_all_its_charts_costs_less_than_one_figure(ratio):
    result = audit()
    ratio(lambda: html(result), plain_figure, at_most=1.0, rounds=5)


def test_the_demo_takes_less_than_a_minute(record, tmp_path):
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", DEMO, str(tmp_path / "demo")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
    )  # fmt: skip
    record("demo, seconds", time.perf_counter() - start, at_most=60)
