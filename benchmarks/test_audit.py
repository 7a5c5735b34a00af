"""An audit of large panels, as a share of the time and memory it may take."""

import subprocess
import sys
import time

import numpy as np
import pytest

from truepool.audits import audit
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool_lab.stress.drift import quality_panel

MEMORY = """
import numpy as np
from truepool.audits import audit
from truepool_lab.stress.drift import quality_panel
skills = np.linspace(0.6, 1.6, 10)
panel = quality_panel("none", before=skills, after=skills, cases=100_000, honest=True)
audit(panel)
# not getrusage: its peak counts the process that started this one
status = dict(line.split(":") for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) / 2**20)
"""


def large(cases, agents):
    skills = np.linspace(0.6, 1.6, agents)
    made = quality_panel(
        "none", before=skills, after=skills, cases=cases, base_rate=0.1,
        correlation=0.2, honest=True,
    )  # fmt: skip
    return Panel(made.reports, made.outcomes, times=np.arange(cases), copy=False)


@pytest.mark.parametrize(
    ("cases", "agents", "seconds"), [(100_000, 10, 20), (1_000_000, 20, 120)]
)
def test_a_large_panel_is_audited_in_time(record, cases, agents, seconds):
    panel = large(cases, agents)
    audit(panel.take(np.arange(1000)), resamples=20)  # compile
    start = time.perf_counter()
    result = audit(panel, costs=Costs(fn=5))
    spent = time.perf_counter() - start
    assert result.notes
    record(
        f"audit of {cases:,} x {agents}: seconds of {seconds}",
        spent / seconds,
        at_most=1.0,
    )


def test_a_hundred_thousand_cases_fit_into_a_gibibyte(record):
    answer = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True
    )
    record("audit of 100,000 x 10: GiB", float(answer.stdout), at_most=1.0)
