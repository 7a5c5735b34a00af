"""Any object with predict_proba is an agent."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from truepool.agents.interface import check_agent, class_probabilities
from truepool.core.errors import AgentError, ReportError
from truepool.panel.labels import Labels


class Fixed:
    """An agent of three lines."""

    def __init__(self, answer, classes=(0, 1)):
        self.answer, self.classes_ = np.asarray(answer), np.asarray(classes)

    def predict_proba(self, X):
        return np.tile(self.answer, (len(X), 1))


def test_a_class_that_an_agent_never_met_gets_no_probability():
    probabilities = class_probabilities(
        Fixed([0.25, 0.75], [0, 2]), np.zeros((2, 1)), Labels.from_count(3)
    )
    assert probabilities.tolist() == [[0.25, 0, 0.75]] * 2


def test_reports_are_in_the_order_of_the_labels():
    labels = Labels(("genuine", "fraud"))
    probabilities = class_probabilities(
        Fixed([0.2, 0.8], ["fraud", "genuine"]), np.zeros((1, 1)), labels
    )
    assert probabilities.tolist() == [[0.8, 0.2]]


def test_an_agent_without_predict_proba_is_refused_in_one_sentence():
    with pytest.raises(AgentError) as stop:
        check_agent("svm", LinearSVC())
    assert str(stop.value) == (
        "an agent must report probabilities; 'svm' (LinearSVC) has no predict_proba. "
        "Wrap it in CalibratedClassifierCV."
    )


@pytest.mark.parametrize(
    ("agent", "kind", "expected"),
    [
        (Fixed([0.5, 0.5], [0, 7]), AgentError, r"only the labels \[0, 1\]; 'ada' knows \[0, 7\]"),
        (Fixed([0.5, 0.3, 0.2]), ReportError, r"2 classes must return \(T, 2\); 'ada' returned \(2, 3\)"),
        (Fixed([0.5, 0.9]), ReportError, r"sum to 1; 'ada' has \[0.5, 0.9\] in case 0"),
        (Fixed([np.nan, 0.9]), ReportError, "sum to 1"),
    ],
)  # fmt: skip
def test_invalid_reports_are_refused(agent, kind, expected):
    with pytest.raises(kind, match=expected):
        class_probabilities(agent, np.zeros((2, 1)), Labels.from_count(2), "ada")
