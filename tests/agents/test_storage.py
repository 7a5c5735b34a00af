"""Agents on disk."""

import joblib
import pytest
from numpy.testing import assert_array_equal
from silos import features
from sklearn.naive_bayes import GaussianNB

from truepool import agents
from truepool.core.errors import AgentError, SourceError

X, Y = features()


def test_a_saved_agent_says_the_same(tmp_path):
    agent = agents.train(X, Y, ["tree"], cache=False)["tree"]
    assert agents.save(agent, tmp_path / "tree.joblib") == tmp_path / "tree.joblib"
    copy = agents.load(tmp_path / "tree.joblib")
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
            agents.load(tmp_path / name)
