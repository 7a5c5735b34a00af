"""What a jury claims holds on the panels of the study, and on fresh ones."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from dataset_requirements import needs
from fresh_juries import OWN, sleepers

DRAWS, POOL_DRAWS = 100, 20
STUDY_SHRUNK = {10: -7.4, 20: -9.7, 50: -14.7, 100: -18.7, 200: -21.9}
"""Brier loss x 1000 minus the mean's, over the 17 panels of the study."""


@pytest.fixture(scope="module")
def script():
    """The script that prints the tables of docs/jury.md."""
    path = Path(__file__).parents[4] / "scripts" / "measure_jury.py"
    spec = spec_from_file_location("measure_jury", path)
    module = module_from_spec(spec)
    sys.modules["measure_jury"] = module
    spec.loader.exec_module(module)
    return module


def error(share, draws):
    """Three standard errors of a share of draws."""
    return 3 * np.sqrt(share * (1 - share) / draws)


def over_panels(cells, column=None):
    """Means of each panel, by the number of labels."""
    found = {}
    for cell in cells:
        values = cell.values if column is None else cell.values[:, column]
        found.setdefault(cell.labels, []).append(values.mean())
    return {labels: np.array(means) for labels, means in found.items()}


def test_rates_and_bounds_hold_on_a_simulated_jury_of_the_study(script):
    panels = {name: script.simulated(name) for name in ("J5g", "J7bias")}
    draws = 40
    for cell in script.measure(panels, (50,), draws, script.rate_covers):
        assert cell.mean >= 0.95 - error(0.95, draws)
    for cell in script.measure(panels, (100,), draws, script.bound_broken):
        broken, share = cell.values.mean(axis=0)
        assert broken <= 0.1 + error(0.1, draws)
        assert 0.05 < share < 0.5


def test_a_rate_that_trusts_the_pool_would_be_found_out(script, monkeypatch):
    # What the test above is worth: without labels the jury overrates the rate.
    def plug_in(verdicts, labels, anchor, level):
        known = anchor[verdicts.labelled]
        reach = 2 * known.std() / np.sqrt(len(known))
        return type(
            "Rate", (), {"low": anchor.mean() - reach, "high": anchor.mean() + reach}
        )

    monkeypatch.setattr(script, "event_rate", plug_in)
    panels = {"J7bias": script.simulated("J7bias")}
    (cell,) = script.measure(panels, (200,), 10, script.rate_covers)
    assert cell.mean < 0.5


def test_few_labels_help_the_shrunk_pool_and_harm_a_regression(script):
    panels = {"J7flip": script.simulated("J7flip")}
    few, many = script.measure(panels, (10, 200), 4, script.pool_gains)
    log_odds, shrunk, stacked = few.values.mean(axis=0)
    assert shrunk < 0 < stacked
    assert log_odds < 0
    _, later, caught_up = many.values.mean(axis=0)
    assert later < shrunk
    assert abs(later - caught_up) < 4


def test_the_cost_covers_what_the_decisions_cost_on_a_fresh_jury(script):
    panels = {"sleepers": lambda draw: sleepers(draw, 400)}
    (cell,) = script.measure(panels, (50,), 8, script.cost_covers)
    assert cell.values.shape == (8, 3)
    assert cell.mean >= 0.95 - error(0.95, 24)


def test_fresh_juries_are_tables_of_verdicts(script, capsys):
    for make in OWN.values():
        reports, truth = make(0)
        assert reports.shape[0] == len(truth)
        assert np.nanmin(reports) >= 0
        assert np.nanmax(reports) <= 1
        assert 0.2 < truth.mean() < 0.8
    cells = [
        script.Cell("a", 20, np.array([1.0, 0.0])),
        script.Cell("b", 50, np.ones(2)),
    ]
    script.show("Rate", cells, ("covered, %",), 100)
    assert "| a | 50.0 | nan |" in capsys.readouterr().out


@pytest.mark.slow
@needs("judgebench", "product-crowd", "duck-crowd")
def test_rates_cover_and_bounds_hold_on_every_panel_of_the_study(script):
    panels = script.study_panels()
    assert len(panels) == 17
    rates = over_panels(
        script.measure(panels, (20, 50, 200), DRAWS, script.rate_covers)
    )
    for covered in rates.values():
        assert covered.min() >= 0.95 - error(0.95, DRAWS)
        assert covered.mean() >= 0.95 - error(0.95, DRAWS * len(covered))
    cells = [*script.measure(panels, (50, 100, 200), DRAWS, script.bound_broken)]
    for broken in over_panels(cells, 0).values():
        assert broken.max() <= 0.1 + error(0.1, DRAWS)
        assert broken.mean() <= 0.05
    shares = {n: found.mean() for n, found in over_panels(cells, 1).items()}
    # Study 19 / 35 / 46 %, held out 35 / 50 / 63 %.
    assert 0.19 < shares[50] < 0.35
    assert 0.35 < shares[100] < 0.5
    assert 0.46 < shares[200] < 0.63


@pytest.mark.slow
@needs("judgebench", "product-crowd", "duck-crowd")
def test_shrunk_has_the_losses_of_the_study_and_a_regression_catches_up(script):
    labels = tuple(STUDY_SHRUNK)
    panels = script.study_panels()
    cells = [*script.measure(panels, labels, POOL_DRAWS, script.pool_gains)]
    shrunk, stacked = over_panels(cells, 1), over_panels(cells, 2)
    for n, expected in STUDY_SHRUNK.items():
        # Which panels are easy weighs more than the draws: two standard errors of them.
        tolerance = 2 * shrunk[n].std(ddof=1) / np.sqrt(len(shrunk[n]))
        assert abs(shrunk[n].mean() - expected) < tolerance
        assert shrunk[n].max() < 3
    gaps = {n: np.nanmean(stacked[n] - shrunk[n]) for n in labels}
    assert gaps[10] > gaps[20] > gaps[50] > gaps[100] > 0
    assert abs(gaps[200]) < 2


@pytest.mark.slow
@needs("product-crowd")
def test_the_product_crowd_gains_from_labels_what_the_study_says(script):
    # Study: .057 without labels, .063 with 50, .055 with 200.
    losses = script.crowd_losses(3)
    np.testing.assert_allclose(
        [losses[0], losses[50], losses[200]], [0.057, 0.063, 0.055], atol=0.005
    )
