"""What `auto` promises with few cases, on panels that played no part in choosing it."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def script():
    """The script that prints the table of docs/pools.md."""
    path = Path(__file__).parents[2] / "scripts" / "measure_few_cases.py"
    spec = spec_from_file_location("measure_few_cases", path)
    module = module_from_spec(spec)
    sys.modules["measure_few_cases"] = module
    spec.loader.exec_module(module)
    return module


def test_a_fresh_jury_gains_from_twenty_labels(script):
    panels = script.panels()
    for name in script.SIMULATED:
        (gain,) = script.measure(panels[name], (20,), 2)
        assert gain < 0.010


def test_a_panel_with_too_few_cases_is_left_out(script):
    def small(number):
        return script._simulated(
            lambda n: (np.full((1010, 2), 0.3), np.arange(1010) % 2), number
        )

    assert np.isnan([*script.measure(small, (20,), 1)]).all()


@pytest.mark.slow
def test_auto_gains_on_average_and_from_twenty_cases_on_never_loses_much(script):
    panels = script.panels()
    rows = [[*script.measure(make, (10, 20, 50), 5)] for make in panels.values()]
    gains = np.array(rows)
    for name, row in zip(panels, 1000 * gains, strict=True):
        print(name, *row.round(1))
    assert (gains.mean(axis=0) < 0).all()
    # With 10 cases the worst panel is .015 worse: docs/pools.md says so.
    assert gains[:, 1:].max() <= 0.010
