"""Reports on one case, by agent."""

import pytest

from truepool.core.errors import ReportError
from truepool.pools.agent_reports import match_one

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
