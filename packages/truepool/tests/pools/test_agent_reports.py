"""Reports on one case, by agent, and on several, by column."""

import pandas as pd
import pytest

from truepool.core.errors import AgentError, ReportError
from truepool.pools.interface.agent_reports import match_one
from truepool.pools.mean import Mean

CLASSES = ("low", "mid", "high")


@pytest.mark.parametrize(
    ("report", "got"),
    [
        ({"low": 0.5, "mid": 0.5}, "has 'low', 'mid'"),
        ({"low": 0.5, "mid": 0.3, "hihg": 0.2}, "has 'low', 'mid', 'hihg'"),
        ([0.5, 0.5], r"has \[0.5, 0.5\]"),
        (0.5, "has 0.5"),
    ],
)
def test_a_report_that_does_not_name_every_class_is_refused_with_the_cure(report, got):
    cure = r"Write {'low': ..., 'mid': ..., 'high': ...}, or a list in this order"
    with pytest.raises(ReportError, match=f"agent 'a' {got}. {cure}"):
        match_one({"a": report}, ("a", "b"), CLASSES)


def test_classes_are_matched_by_name():
    named = {"high": 0.2, "low": 0.5, "mid": 0.3}
    assert match_one({"a": named}, ("a", "b"), CLASSES)[0, 0].tolist() == [
        0.5,
        0.3,
        0.2,
    ]


FRAME = pd.DataFrame({"a": [0.1, 0.9], "b": [0.2, 0.6]})


@pytest.mark.parametrize(
    ("method", "cure"),
    [
        ("predict_proba", "to predict_proba_one or decide_one."),
        ("predict", "to predict_proba_one or decide_one."),
        ("decide", "to decide_one."),
    ],
)
def test_a_dict_of_reports_is_sent_to_the_methods_for_one_case(method, cure):
    pool = Mean().fit(FRAME, [0, 1])
    with pytest.raises(ReportError, match=f"got a dict. .* on one case, .*{cure}$"):
        getattr(pool, method)({"a": 0.3, "b": 0.4})


@pytest.mark.parametrize("cells", [["D0", "D1"], [1.0, 2.0], [0.5, 0.5]])
def test_a_column_that_is_no_agent_is_refused_whatever_it_holds(cells):
    pool = Mean().fit(FRAME, [0, 1])
    with pytest.raises(AgentError) as refusal:
        pool.predict_proba(FRAME.assign(deal=cells))
    assert str(refusal.value) == (
        "the agents must be the ones learned from; unknown 'deal'. Give a column for "
        "each of pool.agents_, and no other."
    )
