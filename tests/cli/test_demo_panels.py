"""The story of the demo: trained honestly, spoiled where it says."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from truepool.cli.demo_panels import TIRED, TURNED, told, trained
from truepool.datasets import example


@pytest.fixture(scope="module")
def story():
    return told(seed=0)


def test_the_bundled_example_is_what_these_models_say(story):
    bundled = example()
    order = np.argsort(story.calm.ids)
    np.testing.assert_array_equal(story.calm.outcomes[order], bundled.outcomes)
    spoken = ~np.isnan(bundled.reports)
    np.testing.assert_array_equal(
        story.calm.reports[order][spoken], bundled.reports[spoken]
    )


def test_only_two_agents_change_and_only_from_then_on(story):
    changed = story.calm.reports != story.stormy.reports
    agents = story.calm.agents
    assert {agents[i] for i in np.flatnonzero(changed.any(axis=0))} == {TIRED, TURNED}
    first = {
        agent: int(np.argmax(changed[:, agents.index(agent)]))
        for agent in (TIRED, TURNED)
    }
    assert first == {TIRED: story.spoiled, TURNED: story.turned}


def test_who_turns_says_the_opposite(story):
    late = slice(story.turned, None)
    i = story.calm.agents.index(TURNED)
    np.testing.assert_allclose(
        story.stormy.reports[late, i], 1 - story.calm.reports[late, i], atol=1e-12
    )


def test_the_cases_are_those_of_the_data_set_and_carry_times(story):
    malignant = 1 - load_breast_cancer().target
    np.testing.assert_array_equal(
        story.stormy.outcomes, malignant[story.stormy.ids - 1]
    )
    assert story.stormy.times.tolist() == list(range(1, 570))
    assert story.calm.times is None


def test_progress_is_told_agent_by_agent(monkeypatch):
    monkeypatch.setattr(
        "sklearn.model_selection.cross_val_predict",
        lambda model, X, y, **how: np.zeros((len(y), 2)),
    )
    seen = []
    trained(progress=lambda *step: seen.append(step))
    assert seen == [
        (name, i, 5)
        for i, name in enumerate(("logistic", "forest", "tree", "bayes", "neighbours"))
    ]
