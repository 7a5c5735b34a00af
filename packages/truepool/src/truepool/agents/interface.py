"""The interface of an agent: labels, and probabilities of them."""

from typing import Any, Protocol

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import AgentError, OutcomeError, ReportError
from truepool.panel.labels import Labels
from truepool.panel.reports import SUM_TOLERANCE


class Agent(Protocol):
    """Anything with ``classes_`` and ``predict_proba``.

    A fitted scikit-learn model, one of the zoo, an ONNX file, or a class of your own.
    """

    classes_: Any

    def predict_proba(self, X: Any, /) -> Any:
        """Probability of every class, (T, K), in the order of ``classes_``."""


def check_agent(name: str, agent: object) -> None:
    """Refuse what cannot report probabilities.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> check_agent("bayes", GaussianNB())
    """
    if not callable(getattr(agent, "predict_proba", None)):
        raise AgentError(
            f"an agent must report probabilities; {name!r} "
            f"({type(agent).__name__}) has no predict_proba. Wrap it in "
            "CalibratedClassifierCV."
        )


def class_probabilities(
    agent: Agent, X: Any, labels: Labels, name: str = ""
) -> FloatArray:
    """Probability (T, K) of every class; 0 for a class the agent does not know."""
    try:
        known = labels.encode(agent.classes_)
    except OutcomeError:
        raise AgentError(
            f"a fitted agent must know only the labels {list(labels.names)}; "
            f"{repr(name) if name else 'one'} knows "
            f"{np.asarray(agent.classes_).tolist()}"
        ) from None
    answer = np.asarray(agent.predict_proba(X), dtype=np.float64)
    if answer.ndim != 2 or answer.shape[1] != len(known):
        raise ReportError(
            f"an agent that knows {len(known)} classes must return (T, {len(known)}); "
            f"{name or type(agent).__name__!r} returned {answer.shape}"
        )
    total = answer.sum(axis=1)
    if not (np.abs(total - 1) <= SUM_TOLERANCE).all():
        t = int(np.argmin(np.abs(total - 1) <= SUM_TOLERANCE))
        raise ReportError(
            "the probabilities of a report must sum to 1; "
            f"{name or type(agent).__name__!r} has {answer[t].tolist()} in case {t}"
        )
    spelled = np.zeros((len(answer), len(labels.names)))
    spelled[:, known] = answer
    return spelled


def as_reports(spelled: FloatArray) -> FloatArray:
    """Reports (T, N) of class 1 where there are two classes, else (T, N, K)."""
    return spelled[:, :, 1] if spelled.shape[2] == 2 else spelled
