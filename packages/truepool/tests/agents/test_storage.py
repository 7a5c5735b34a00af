"""Saved agents, and files that are not."""

import os

import joblib
import pytest
from numpy.testing import assert_array_equal
from sklearn.naive_bayes import GaussianNB
from training_data import features

from truepool import agents
from truepool.core.errors import AgentError, SourceError

X, Y = features()


def test_a_saved_agent_gives_the_same_reports(tmp_path):
    agent = agents.train(X, Y, ["tree"], cache=False)["tree"]
    assert agents.save(agent, tmp_path / "tree.joblib") == tmp_path / "tree.joblib"
    copy = agents.load(tmp_path / "tree.joblib", trust=True)
    assert_array_equal(copy.predict_proba(X), agent.predict_proba(X))


def test_only_our_agents_are_saved(tmp_path):
    with pytest.raises(AgentError, match="got GaussianNB"):
        agents.save(GaussianNB(), tmp_path / "a.joblib")


def test_other_files_are_refused(tmp_path):
    joblib.dump({"a": 1}, tmp_path / "other.joblib")
    (tmp_path / "damaged.joblib").write_bytes(b"nonsense")
    joblib.dump(("truepool agent 1", None), tmp_path / "old.joblib")
    (tmp_path / "agent.txt").write_text("")
    for name, expected in {
        "none.joblib": "there is no file",
        "agent.txt": "from .joblib or .onnx",
        "damaged.joblib": "cannot be read as an agent: .* train it again",
        "old.joblib": "before agents knew their positive label; train it again",
        "other.joblib": "must hold an agent that truepool saved; it holds dict",
    }.items():
        with pytest.raises(SourceError, match=expected):
            agents.load(tmp_path / name, trust=True)


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_file_that_can_run_code_is_not_loaded_without_trust(tmp_path):
    joblib.dump(Payload(tmp_path / "ran"), tmp_path / "a.joblib")
    with pytest.raises(SourceError, match=r"can run any code.*trust.*ONNX"):
        agents.load(tmp_path / "a.joblib")
    assert not (tmp_path / "ran").exists()
    with pytest.raises(SourceError, match="must hold an agent"):
        agents.load(tmp_path / "a.joblib", trust=True)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 0.99])
def test_a_truncated_agent_is_refused_in_one_sentence(share, tmp_path):
    place = tmp_path / "tree.joblib"
    agents.save(agents.train(X, Y, ["tree"], cache=False)["tree"], place)
    content = place.read_bytes()
    place.write_bytes(content[: int(share * len(content))])
    with pytest.raises(SourceError, match="cannot be read as an agent: ") as stop:
        agents.load(place, trust=True)
    assert "\n" not in str(stop.value)
