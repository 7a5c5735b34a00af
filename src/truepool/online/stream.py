"""A learner fed one case at a time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray, from_classes, to_classes
from truepool.core.errors import AgentError, OutcomeError, ReportError, SettingError
from truepool.data.costs import Costs
from truepool.data.labels import check_labels, format_choice
from truepool.data.reports import ROUNDING
from truepool.learners.interface import Learner
from truepool.measures.losses import Loss
from truepool.online.decision import Decision, decide
from truepool.online.loop import settle
from truepool.online.recalibration import Recalibration
from truepool.online.replays import as_learner

REMEMBERED = 100_000
"""So many settled cases are remembered, to answer an outcome that comes twice."""


class Stream:
    """A learner fed one case at a time, as river's models are.

    Reports are dicts of agent to probability (of class 1, or one a class); an agent
    that is not in the dict is silent.

    Parameters
    ----------
    learner : str or Learner
        As for `replay`; ``settings`` are the learner's.
    agents : sequence of str
        Who may report.
    classes : int
        How many classes there are.
    positive, negative : label, optional
        What the outcomes of two classes are called, where not 1 and 0. Reports are
        probabilities of the positive one. Without a ``negative`` one the first other
        label to come is it; a third label is refused.
    recalibrate : bool
        Scale the pooled log-odds by what the settled cases have shown.

    Examples
    --------
    >>> stream = Stream("gradient", agents=("rf", "gbm"))
    >>> stream.predict_proba_one({"rf": 0.2, "gbm": 0.4})[1].__round__(3)
    0.3
    >>> stream.learn_one({"rf": 0.2, "gbm": 0.4}, 1)
    >>> stream.weights["gbm"] > stream.weights["rf"]
    True

    Outcomes that come late belong to a named case:

    >>> _ = stream.predict_proba_one({"rf": 0.1}, case="c1")
    >>> stream.settle("c1", 0)

    Outcomes may have names:

    >>> stream = Stream("gradient", agents=("rf", "gbm"), positive="fraud")
    >>> stream.learn_one({"rf": 0.2, "gbm": 0.4}, "fraud")
    """

    def __init__(
        self,
        learner: str | Learner,
        agents: Sequence[str],
        *,
        classes: int = 2,
        positive: Any = None,
        negative: Any = None,
        loss: str | Loss | None = None,
        costs: Costs | None = None,
        threshold: float | None = None,
        recalibrate: bool = False,
        **settings: Any,
    ) -> None:
        by_name = isinstance(learner, str)  # one that is made already keeps its own
        horizon = settings.pop("horizon", 10_000) if by_name else 0
        self.learner = as_learner(learner, loss, costs, threshold, settings, horizon)
        self.state = self.learner.start(tuple(agents), classes)
        self.numbers = _numbers(classes, positive, negative)
        self.scaling = Recalibration.start(classes) if recalibrate else None
        self.waiting: dict[Any, Decision] = {}
        self.settled: dict[Any, int] = {}
        self.forgotten: set[Any] = set()

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each agent now."""
        return dict(zip(self.state.agents, self.state.weights.tolist(), strict=True))

    def predict_proba_one(
        self, x: Mapping[str, Any], case: Any = None
    ) -> dict[int, float]:
        """Pool the reports of one case; with a ``case`` its outcome may come late.

        The probability of every class number; of two, 1 is the positive one.
        """
        if case is not None and case in self.settled:
            raise OutcomeError(
                f"case {case!r} is settled; reports that come after it change nothing"
            )
        decision = self._decided(x)
        if case is not None:
            first = self.waiting.setdefault(case, decision)
            if not np.array_equal(first.reports, decision.reports, equal_nan=True):
                raise ReportError(
                    f"case {case!r} was decided with other reports and waits for its "
                    "outcome; a case is decided once"
                )
            decision = first
        answer = decision.pooled
        if self.scaling is not None:
            answer = self.scaling.apply(answer)
        spelled = to_classes(answer)
        return dict(enumerate(spelled.tolist()))

    def learn_one(self, x: Mapping[str, Any], y: Any) -> None:
        """Settle a case at once."""
        outcome = self._outcome(y)
        self._settle(self._decided(x), outcome)

    def settle(self, case: Any, y: Any) -> None:
        """Settle a case that was predicted by name, in any order, at any time.

        The same outcome twice changes nothing; another outcome is refused.
        """
        outcome = self._outcome(y)
        if case in self.settled:
            if self.settled[case] != outcome:
                raise OutcomeError(
                    f"case {case!r} was settled with outcome {self.settled[case]}; "
                    f"got {outcome}"
                )
            return
        if case in self.forgotten:  # all who had spoken in it have left
            self.forgotten.discard(case)
            self._remember(case, outcome)
            return
        if case not in self.waiting:
            raise OutcomeError(f"no case {case!r} is waiting for its outcome")
        self._settle(self.waiting[case], outcome)
        del self.waiting[case]
        self._remember(case, outcome)

    def join(self, agent: str, prior: float | None = None) -> None:
        """Let an agent in; it is silent in the cases that still wait."""
        self.state = self.learner.join(self.state, agent, prior)
        self.waiting = {
            case: Decision(
                np.vstack([d.reports, np.full((1, d.reports.shape[1]), np.nan)]),
                np.append(d.unnormalised, 0.0),
            )
            for case, d in self.waiting.items()
        }

    def leave(self, agent: str) -> None:
        """Let an agent go; its reports in the cases that still wait are forgotten."""
        i = self.state.agents.index(agent) if agent in self.state.agents else -1
        self.state = self.learner.leave(self.state, agent)
        kept = {}
        for case, d in self.waiting.items():
            reports = np.delete(d.reports, i, axis=0)
            if not np.isnan(reports[:, 0]).all():
                kept[case] = Decision(reports, np.delete(d.unnormalised, i))
            else:
                self.forgotten.add(case)
        self.waiting = kept

    def _remember(self, case: Any, outcome: int) -> None:
        self.settled[case] = outcome
        if len(self.settled) > REMEMBERED:
            del self.settled[next(iter(self.settled))]

    def _settle(self, decision: Decision, outcome: int) -> None:
        self.state = settle(self.learner, self.state, decision, outcome)
        if self.scaling is not None:
            self.scaling = self.scaling.learn(decision.pooled, outcome)

    def _decided(self, x: Mapping[str, Any]) -> Decision:
        decision = decide(self.state, self._reports(x))
        if decision is None:
            raise SettingError(
                "at least one agent must speak in a case; none of "
                f"{', '.join(self.state.agents)} did"
            )
        return decision

    def _reports(self, x: Mapping[str, Any]) -> FloatArray:
        agents, K = self.state.agents, self.state.classes
        C = 1 if K == 2 else K
        reports = np.full((len(agents), C), np.nan)
        for name, said in x.items():
            if name not in agents:
                raise AgentError(
                    f"no agent is called {name!r}; known: {', '.join(agents)}"
                )
            if C == 1 and isinstance(said, float) and 0.0 <= said <= 1.0:
                reports[agents.index(name), 0] = said
                continue
            reports[agents.index(name)] = _coordinates(name, said, K)
        return reports

    def _outcome(self, y: Any) -> int:
        label = isinstance(y, int | float | str | np.generic)
        number = self.numbers.get(y) if label else None
        if number is not None:
            return number
        if len(self.numbers) == 1:
            (positive,) = self.numbers
            if not label or isinstance(y, str) != isinstance(positive, str):
                raise OutcomeError(
                    f"an outcome must be {positive!r} or the other label, of the same "
                    f"kind; got {y!r}"
                )
            self.numbers[check_labels([y])[0].item()] = 0
            return 0
        cure = ""
        if self.numbers == {0: 0, 1: 1}:
            cure = ". Name the label that is positive: Stream(..., positive=LABEL)"
        raise OutcomeError(
            f"an outcome must be {format_choice(self.numbers)}; got {y!r}{cure}"
        )


def _numbers(classes: int, positive: Any, negative: Any) -> dict[Any, int]:
    """Class number of each label that is known from the start."""
    if positive is None and negative is None:
        return {k: k for k in range(classes)}
    if classes != 2 or positive is None or positive == negative:
        raise SettingError(
            "positive and negative are the two labels of two classes; got "
            f"positive={positive!r} and negative={negative!r} for {classes} classes"
        )
    return {positive: 1} if negative is None else {negative: 0, positive: 1}


def _coordinates(agent: str, said: Any, classes: int) -> FloatArray:
    """Report as coordinates (C,): a probability, one a class, or NaN for silence."""
    try:
        value = np.atleast_1d(np.asarray(said, dtype=np.float64))
    except (TypeError, ValueError):
        value = np.array([np.inf])
    if np.isnan(value).all():
        return np.full(1 if classes == 2 else classes, np.nan)
    inside = bool(((value >= 0) & (value <= 1)).all())
    if inside and classes == 2 and value.shape == (1,):
        return value
    if inside and value.shape == (classes,) and abs(value.sum() - 1) <= ROUNDING:
        exact = abs(value.sum() - 1) <= 1e-12
        return from_classes(value if exact else value / value.sum())
    raise ReportError(
        f"a report must lie in [0, 1] (and one a class sum to 1); agent {agent!r} said "
        f"{said!r}"
    )
