"""Saved agents asked about a table."""

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from silos import features

from truepool import agents
from truepool.agents.asking import reported
from truepool.errors import AgentError

X, Y = features()
TABLE = pa.table({f"x{i}": X[:, i] for i in range(5)})


def saved(path, labels):
    trained = agents.train(TABLE, labels, ["tree"], cache=False)
    agents.save(trained["tree"], path)
    return trained["tree"]


def test_the_columns_are_what_the_agents_say(tmp_path):
    agent = saved(tmp_path / "a.joblib", Y)
    told = []
    frame = nw.from_native(TABLE.append_column("y", pa.array(Y)), eager_only=True)
    columns = reported(
        frame, [tmp_path / "a.joblib"], "y", "id", lambda *s: told.append(s)
    )
    assert list(columns) == ["a", "y"]
    assert_allclose(columns["a"], agent.predict_proba(TABLE)[:, 1])
    assert told == [("a", 1, 1)]
    assert "y" not in reported(
        nw.from_native(TABLE), [tmp_path / "a.joblib"], "y", "id"
    )


def test_agents_of_other_labels_are_not_asked_together(tmp_path):
    saved(tmp_path / "a.joblib", Y)
    saved(tmp_path / "b.joblib", np.where(Y == 1, "bad", "good"))
    files = [tmp_path / "a.joblib", tmp_path / "b.joblib"]
    with pytest.raises(AgentError, match="some know text, some numbers"):
        reported(nw.from_native(TABLE), files, "y", "id")
