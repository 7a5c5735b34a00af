import numpy as np
import pytest
from numpy.testing import assert_array_equal

from truepool_lab.paper.synthetic_task import (
    MODELS,
    POPULATION,
    first_agents,
    panels,
    task,
    three_way_split,
    train_ensemble,
)


def test_repeats_draw_other_rows_of_one_population():
    (one, y), (same, _), (other, _) = task(500, 1), task(500, 1), task(500, 2)
    everything, outcomes = task(POPULATION, 3)
    assert_array_equal(one, same)
    assert {row.tobytes() for row in one} != {row.tobytes() for row in other}
    assert {row.tobytes() for row in (*one, *other)} <= {
        row.tobytes() for row in everything
    }
    assert outcomes.mean() == pytest.approx(0.3, abs=0.001)
    assert set(y) == {0, 1}


def test_rows_are_dealt_out_once_with_every_class_in_each_part():
    y = np.repeat([0, 1, 2], [700, 250, 50])
    parts = three_way_split(y, 0)
    assert_array_equal(np.sort(np.concatenate(parts)), np.arange(1000))
    assert [len(part) for part in parts] == [560, 140, 300]
    for part in parts:
        assert np.bincount(y[part]) / len(part) == pytest.approx(
            [0.7, 0.25, 0.05], abs=0.005
        )


def test_agents_see_their_silos_alone():
    X, y = task(400, 0)
    team = train_ensemble(X, y, 0)
    assert team.names == tuple(MODELS)
    before = team.panel(X, y)
    silo = team.silos[3]
    hidden = X.copy()
    hidden[:, np.setdiff1d(np.arange(20), silo)] = 0.0
    after = team.panel(hidden, y)
    assert_array_equal(before.reports[:, 3], after.reports[:, 3])
    assert len(silo) == 12


def test_more_agents_than_kinds_take_turns_and_have_names_of_their_own():
    X, y = task(300, 0)
    validation, test = panels(X, y, 0, 7)
    assert validation.agents[:2] == ("Random Forest 1", "Gradient Boosting 1")
    assert validation.agents[5:] == ("Random Forest 2", "Gradient Boosting 2")
    assert (len(validation), len(test)) == (42, 90)
    five = first_agents(test, 5)
    assert_array_equal(five.reports, test.reports[:, :5])
    assert five.agents == test.agents[:5]


def test_three_classes_make_a_panel_of_three():
    X, _ = task(300, 0)
    y = np.arange(300) % 3
    assert train_ensemble(X, y, 0, 2).panel(X, y).classes == 3
