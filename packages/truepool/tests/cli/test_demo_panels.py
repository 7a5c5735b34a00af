"""The panels of the demo: held-out reports, and failures where it says."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from truepool.cli.demo_panels import DEGRADED, HOSTILE, build, collect_reports
from truepool.datasets import example


@pytest.fixture(scope="module")
def panels():
    return build(seed=0)


def test_the_bundled_example_is_what_these_models_say(panels):
    bundled = example()
    order = np.argsort(panels.clean.ids)
    np.testing.assert_array_equal(panels.clean.outcomes[order], bundled.outcomes)
    spoken = ~np.isnan(bundled.reports)
    np.testing.assert_array_equal(
        panels.clean.reports[order][spoken], bundled.reports[spoken]
    )


def test_only_two_agents_change_and_only_from_then_on(panels):
    changed = panels.clean.reports != panels.faulty.reports
    agents = panels.clean.agents
    assert {agents[i] for i in np.flatnonzero(changed.any(axis=0))} == {
        DEGRADED,
        HOSTILE,
    }
    first = {
        agent: int(np.argmax(changed[:, agents.index(agent)]))
        for agent in (DEGRADED, HOSTILE)
    }
    assert first == {DEGRADED: panels.degraded_from, HOSTILE: panels.hostile_from}


def test_who_turns_says_the_opposite(panels):
    late = slice(panels.hostile_from, None)
    i = panels.clean.agents.index(HOSTILE)
    np.testing.assert_allclose(
        panels.faulty.reports[late, i], 1 - panels.clean.reports[late, i], atol=1e-12
    )


def test_the_cases_are_those_of_the_data_set_and_carry_times(panels):
    malignant = 1 - load_breast_cancer().target
    np.testing.assert_array_equal(
        panels.faulty.outcomes, malignant[panels.faulty.ids - 1]
    )
    assert panels.faulty.times.tolist() == list(range(1, 570))
    assert panels.clean.times is None


def test_progress_is_told_agent_by_agent(monkeypatch):
    monkeypatch.setattr(
        "sklearn.model_selection.cross_val_predict",
        lambda model, X, y, **how: np.zeros((len(y), 2)),
    )
    seen = []
    collect_reports(progress=lambda *step: seen.append(step))
    assert seen == [
        (name, i, 5)
        for i, name in enumerate(("logistic", "forest", "tree", "bayes", "neighbours"))
    ]


def test_a_seed_may_be_large():
    reports, _ = collect_reports(2**32)
    assert all(np.isfinite(column).all() for column in reports.values())
