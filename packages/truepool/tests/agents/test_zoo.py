"""The zoo: the paper's settings, one thread each, and libraries that may be absent."""

import numpy as np
import pytest

import truepool.agents
from truepool.agents import zoo
from truepool.core import distributions
from truepool.core.errors import MissingExtraError

# tab:hyperparams, and one thread whatever the machine has.
PRINTED = {
    "lightgbm": {"n_estimators": 100, "max_depth": -1, "n_jobs": 1},
    "catboost": {"iterations": 100, "depth": 6, "thread_count": 1},
    "xgboost": {"n_estimators": 100, "max_depth": 6, "n_jobs": 1},
    "random-forest": {"n_estimators": 100, "max_depth": None, "n_jobs": 1},
    "mlp": {"hidden_layer_sizes": (64, 32), "max_iter": 500, "learning_rate_init": 0.001},
}  # fmt: skip


@pytest.mark.parametrize("name", list(zoo.paper()))
def test_the_papers_agents_have_the_papers_settings(name):
    made = zoo.paper()[name].classifier(7)
    params = (made[-1] if name == "mlp" else made).get_params()
    assert {key: params[key] for key in PRINTED[name]} == PRINTED[name]
    assert params.get("random_state", params.get("random_seed")) == 7


def test_settings_can_be_changed_and_are_shown():
    model = zoo.make("lightgbm", n_estimators=5, num_leaves=4)
    assert repr(model) == "LightGBM(n_estimators=5, max_depth=-1, num_leaves=4)"
    assert model.classifier(0).num_leaves == 4
    assert zoo.make("lightgbm").settings["n_estimators"] == 100


@pytest.mark.parametrize("name", ["lightgbm", "catboost", "xgboost"])
def test_the_error_about_a_missing_library_says_how_to_install_it(name, monkeypatch):
    monkeypatch.setattr(distributions, "find_spec", lambda library: None)
    with pytest.raises(MissingExtraError, match=r"truepool\[agents\]"):
        zoo.make(name).classifier(0)


def test_the_room_lists_its_names():
    assert set(dir(truepool.agents)) == set(truepool.agents.__all__)
    for name in truepool.agents.__all__:
        assert getattr(truepool.agents, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        truepool.agents.nothing  # noqa: B018
    assert np.all([isinstance(model.name, str) for model in zoo.paper().values()])
