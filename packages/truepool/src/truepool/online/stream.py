"""A stream: a learner that gets one case at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray, from_classes, to_classes
from truepool.core.errors import (
    AgentError,
    OutcomeError,
    ReportError,
    SettingError,
    suggestion,
)
from truepool.core.formatting import pluralize
from truepool.learners.interface import Learner
from truepool.measures.decisions import choose
from truepool.measures.losses import Loss
from truepool.online import persistence
from truepool.online.decision import Decision, decide
from truepool.online.experts import NAME
from truepool.online.loop import settle
from truepool.online.recalibration import Recalibration
from truepool.online.replays import as_experts, as_learner
from truepool.panel.costs import Costs
from truepool.panel.labels import format_choice
from truepool.panel.reports import SUM_TOLERANCE

LABEL = int | float | str | np.generic
"""What a label may be."""


class Stream:
    """A learner that gets one case at a time, like a model of river.

    Reports are dicts of agent to probability (of class 1, or one per class); an agent
    that is not in the dict has no report. A case with a name may get its outcome late:
    it is decided once and settled once, with the weights that decided it. A second
    decision with other reports, and a second outcome that contradicts the first, are
    refused. A stream is thread-safe.

    Parameters
    ----------
    learner : str or Learner
        As for `replay`; ``settings`` are the learner's. "auto" mixes the agents with
        pools that are refitted as outcomes come.
    agents : sequence of str
        Names of the agents.
    classes : int
        Number of classes.
    positive, negative : label, optional
        Labels of the outcomes, both of them, for two classes other than 1 and 0.
        Reports are probabilities of the positive one. Any other label is refused.
    recalibrate : bool
        Recalibrate the pooled log-odds by the cases with a known outcome.
    memory : int, optional
        Maximum number of named cases to remember, waiting and settled ones together;
        no limit by default. Above it, the case settled longest ago is dropped, and its
        outcome is no longer known. Waiting cases are never dropped: when they fill the
        memory, a new one is refused.

    Examples
    --------
    >>> stream = Stream("gradient", agents=("rf", "gbm"))
    >>> stream.predict_proba_one({"rf": 0.2, "gbm": 0.4})[1].__round__(3)
    0.3
    >>> stream.learn_one({"rf": 0.2, "gbm": 0.4}, 1)
    >>> stream.weights["gbm"] > stream.weights["rf"]
    True

    A late outcome needs a named case:

    >>> _ = stream.predict_proba_one({"rf": 0.1}, case="c1")
    >>> stream
    Stream(gradient, 2 agents, 1 case settled, 1 waiting)
    >>> stream.settle("c1", 0)

    Outcomes may have labels, and decisions depend on the costs:

    >>> costs = Costs(fn=10, fp=1)
    >>> labels = {"positive": "fraud", "negative": "genuine"}
    >>> stream = Stream("gradient", ("rf", "gbm"), **labels, costs=costs)
    >>> stream.learn_one({"rf": 0.2, "gbm": 0.4}, "fraud")
    >>> stream.decide_one({"rf": 0.1, "gbm": 0.2})
    'fraud'
    """

    refits = True
    """Whether `auto` fits its pools when that is due. A service sets it to False, fits
    elsewhere (`experts.fit`), and goes on with what was learned there."""

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
        memory: int | None = None,
        **settings: Any,
    ) -> None:
        if memory is not None and not memory >= 1:
            raise SettingError(f"memory must be at least 1 case; got {memory!r}")
        by_name = isinstance(learner, str)  # a learner object has its own horizon
        horizon = settings.pop("horizon", 10_000) if by_name else 0
        self.experts = as_experts(learner, tuple(agents), classes, settings)
        self.learner = as_learner(learner, loss, costs, threshold, settings, horizon)
        every = self.experts.names if self.experts else tuple(agents)
        self.state = self.learner.start(every, classes)
        self.numbers = _numbers(classes, positive, negative)
        self.recalibration = Recalibration.start(classes) if recalibrate else None
        self.memory = memory
        # None where all agents that reported on the case have left.
        self.waiting: dict[Any, Decision | None] = {}
        self.outcomes: dict[Any, int] = {}
        self._lock = RLock()

    @property
    def weights(self) -> dict[str, float]:
        """Current weight of each agent; of `auto`, of each pool too."""
        state = self.state
        return dict(zip(state.agents, state.weights.tolist(), strict=True))

    def predict_proba_one(
        self, x: Mapping[str, Any], case: Any = None
    ) -> dict[int, float]:
        """Pool the reports of one case; with a ``case`` name its outcome may be late.

        Returns the probability of every class number; of two, 1 is the positive one.
        """
        return dict(enumerate(to_classes(self._pooled(x, case)).tolist()))

    def decide_one(self, x: Mapping[str, Any], case: Any = None) -> Any:
        """Decide one case at the lowest expected cost: a label, or a class number."""
        loss = self.learner.loss
        number = int(choose(self._pooled(x, case), loss.costs, loss.threshold))
        return next(label for label, k in self.numbers.items() if k == number)

    def learn_one(self, x: Mapping[str, Any], y: Any) -> None:
        """Learn from a case whose outcome is known."""
        with self._lock:
            outcome = self._outcome(y)
            self._settle(self._decision(x), outcome)

    def settle(self, case: Any, y: Any, learned: ArrayLike | None = None) -> None:
        """Settle a case that was predicted by name, in any order, at any time.

        The same outcome twice changes nothing; a different one is refused. If all
        agents that reported on the case have left, there is nothing to learn from it.
        ``learned`` is what a stream learned from this very outcome before (`learned`):
        it is taken over, and no update is computed.
        """
        with self._lock:
            outcome = self._outcome(y)
            if case in self.outcomes:
                if self.outcomes[case] != outcome:
                    labels = {k: label for label, k in self.numbers.items()}
                    raise OutcomeError(
                        f"a case has one outcome; case {case!r} was settled with "
                        f"outcome {labels[self.outcomes[case]]!r}; got "
                        f"{labels[outcome]!r}. The first one stays; to correct it, "
                        "learn all cases again in a new stream."
                    )
                return
            if case not in self.waiting:
                raise OutcomeError(f"no case {case!r} is waiting for its outcome")
            decision = self.waiting[case]
            if learned is not None:
                self._take_over(decision, outcome, learned)
            elif decision is not None:
                self._settle(decision, outcome)
            del self.waiting[case]
            self.outcomes[case] = outcome

    @property
    def learned(self) -> FloatArray:
        """All numbers that outcomes change, (M,); set them to go on from others.

        They say what a stream of the same cases has learned on any machine, where an
        update computed again may differ in the last bit.

        >>> stream = Stream("hedge", agents=("rf", "gbm"), rate=1.0)
        >>> stream.learned.tolist()
        [0.5, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0]
        >>> stream.learned = [0.25, 0.75, 0.0, 1.0, 0.0, 0.0, 0.0]
        >>> stream.weights
        {'rf': 0.25, 'gbm': 0.75}
        """
        with self._lock:
            return persistence.learned(self.state, self.recalibration)

    @learned.setter
    def learned(self, numbers: ArrayLike) -> None:
        with self._lock:
            self.state, self.recalibration = persistence.take_over(
                self.state, self.recalibration, np.asarray(numbers, dtype=np.float64)
            )

    def drop(self, case: Any) -> None:
        """Remove a case that will never have an outcome."""
        with self._lock:
            if case not in self.waiting:
                raise OutcomeError(f"no case {case!r} is waiting for its outcome")
            del self.waiting[case]

    def join(self, agent: str, prior: float | None = None) -> None:
        """Add an agent; it has no report in the cases that are still waiting."""
        with self._lock:
            self._check_agents_may_change()
            self.state = self.learner.join(self.state, agent, prior)
            for case, d in self.waiting.items():
                if d is not None:
                    none = np.full((1, d.reports.shape[1]), np.nan)
                    weights = np.append(d.unnormalised, 0.0)
                    self.waiting[case] = Decision(np.vstack([d.reports, none]), weights)

    def leave(self, agent: str) -> None:
        """Remove an agent, and its reports in the cases that are still waiting."""
        with self._lock:
            self._check_agents_may_change()
            i = self.state.agents.index(agent) if agent in self.state.agents else -1
            self.state = self.learner.leave(self.state, agent)
            for case, d in self.waiting.items():
                if d is not None:
                    reports = np.delete(d.reports, i, axis=0)
                    rest = Decision(reports, np.delete(d.unnormalised, i))
                    alone = bool(np.isnan(reports[:, 0]).all())
                    self.waiting[case] = None if alone else rest

    def save(self, path: str | Path) -> None:
        """Write the stream to a file, with the cases that wait, whole or not at all.

        `truepool.load_stream` goes on from there as if nothing had happened.
        """
        persistence.save(self.__getstate__(), path)

    def __repr__(self) -> str:
        settled = pluralize(self.state.settled, "case")
        agents = pluralize(len(self._agents), "agent")
        return (
            f"Stream({NAME if self.experts else self.learner.name}, {agents}, "
            f"{settled} settled, {len(self.waiting):,} waiting)"
        )

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {
                name: value.copy() if isinstance(value, dict) else value
                for name, value in vars(self).items()
                if name != "_lock"
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock())

    @property
    def _agents(self) -> tuple[str, ...]:
        """Those who report; the pools of `auto` are not among them."""
        return self.experts.agents if self.experts else self.state.agents

    def _check_agents_may_change(self) -> None:
        if self.experts is not None:
            raise SettingError(
                "the pools of auto learned from these agents; none can join or leave. "
                "An agent that has left has no reports; for a new one, make a new "
                "stream."
            )

    def _pooled(self, x: Mapping[str, Any], case: Any) -> FloatArray:
        """Pooled coordinates (C,) of a case; a named one waits for its outcome."""
        with self._lock:
            decision = self._decision(x)
            if case is not None:
                decision = self._named_decision(case, decision)
            recalibration = self.recalibration
        return (
            recalibration.apply(decision.pooled) if recalibration else decision.pooled
        )

    def _named_decision(self, case: Any, decision: Decision) -> Decision:
        """Return the first decision of a named case."""
        if case in self.outcomes:
            raise OutcomeError(
                f"a case is decided before its outcome; case {case!r} is settled"
            )
        if case in self.waiting:
            first = self.waiting[case]
            if first is None:
                raise ReportError(
                    f"a case is decided once; case {case!r} was decided by agents that "
                    "have left since, and waits for its outcome"
                )
            if not np.array_equal(first.reports, decision.reports, equal_nan=True):
                raise ReportError(
                    f"a case is decided once; case {case!r} was decided with other "
                    "reports and waits for its outcome"
                )
            return first
        if self.memory is not None:
            if len(self.waiting) >= self.memory:
                raise SettingError(
                    f"at most {self.memory:,} cases may wait for an outcome (memory); "
                    f"case {case!r} is one too many. Settle or drop() others first, or "
                    "make the stream with a larger memory."
                )
            while len(self.waiting) + len(self.outcomes) >= self.memory:
                del self.outcomes[next(iter(self.outcomes))]
        self.waiting[case] = decision
        return decision

    def _settle(self, decision: Decision, outcome: int) -> None:
        self.state = settle(self.learner, self.state, decision, outcome)
        self._learn_pools(decision, outcome)
        if self.recalibration is not None:
            self.recalibration = self.recalibration.learn(decision.pooled, outcome)

    def _take_over(
        self, decision: Decision | None, outcome: int, learned: ArrayLike
    ) -> None:
        self.learned = learned
        if decision is not None:
            self.state = replace(self.state, settled=self.state.settled + 1)
            self._learn_pools(decision, outcome)

    def _learn_pools(self, decision: Decision, outcome: int) -> None:
        if self.experts is not None:
            own = decision.reports[: len(self.experts.agents)]
            learn = self.experts.learn if self.refits else self.experts.observe
            self.experts = learn(own, outcome)

    def _decision(self, x: Mapping[str, Any]) -> Decision:
        reports = self._reports(x)
        if self.experts is not None:
            reports = self.experts.report(reports)
        decision = decide(self.state, reports)
        if decision is None:
            raise SettingError(
                "at least one agent must report on a case; none of "
                f"{', '.join(self._agents)} did"
            )
        return decision

    def _reports(self, x: Mapping[str, Any]) -> FloatArray:
        agents, K = self._agents, self.state.classes
        C = 1 if K == 2 else K
        reports = np.full((len(agents), C), np.nan)
        for name, report in x.items():
            if name not in agents:
                raise AgentError(
                    f"no agent is called {name!r}; known: {', '.join(agents)}"
                )
            if C == 1 and isinstance(report, float) and 0.0 <= report <= 1.0:
                reports[agents.index(name), 0] = report
                continue
            reports[agents.index(name)] = coordinates(name, report, K)
        return reports

    def _outcome(self, y: Any) -> int:
        label = isinstance(y, LABEL)
        number = self.numbers.get(y) if label else None
        if number is not None:
            return number
        cure = ""
        if len(self.numbers) == 2:
            cure = (
                ". A stream keeps its two labels; for others make a new one: "
                "Stream(..., positive=LABEL, negative=LABEL)"
            )
        near = suggestion(y, map(str, self.numbers)) if isinstance(y, str) else ""
        raise OutcomeError(
            f"an outcome must be {format_choice(self.numbers)}; got {y!r:.60}{near}"
            f"{cure}"
        )


def load_stream(path: str | Path) -> Stream:
    """Return the stream that `Stream.save` wrote to a file.

    It goes on to the last bit as the saved one would have. No file can make it run
    code: learners are found by name, and only plain numbers and text are read.
    """
    stream = Stream.__new__(Stream)
    stream.__setstate__(persistence.load(path))
    return stream


def _numbers(classes: int, positive: Any, negative: Any) -> dict[Any, int]:
    """Class number of each label that is known at the start."""
    if positive is None and negative is None:
        return {k: k for k in range(classes)}
    both = positive is not None and negative is not None
    if classes == 2 and not both:  # the first other outcome may be a typo
        known = "negative" if positive is None else "positive"
        other = "positive" if positive is None else "negative"
        given = negative if positive is None else positive
        raise SettingError(
            f"a stream must know both labels of its outcomes; got {known}={given!r} "
            f"alone. Add {other}=LABEL."
        )
    text = isinstance(positive, str), isinstance(negative, str)
    plain = isinstance(positive, LABEL) and isinstance(negative, LABEL)
    if classes != 2 or not plain or text[0] != text[1] or positive == negative:
        raise SettingError(
            "positive and negative must be the two labels of two classes; got "
            f"positive={positive!r} and negative={negative!r} for {classes} classes"
        )
    return {negative: 0, positive: 1}


def coordinates(
    agent: str, report: Any, classes: int, case: str | None = None
) -> FloatArray:
    """Report as coordinates (C,): a probability, one per class, or NaN for none."""
    try:
        if np.iscomplexobj(report):
            raise TypeError
        value = np.atleast_1d(np.asarray(report, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        value = np.array([np.inf])
    if np.isnan(value).all():
        return np.full(1 if classes == 2 else classes, np.nan)
    inside = bool(((value >= 0) & (value <= 1)).all())
    if inside and classes == 2 and value.shape == (1,):
        return value
    if inside and value.shape == (classes,) and abs(value.sum() - 1) <= SUM_TOLERANCE:
        exact = abs(value.sum() - 1) <= 1e-12
        return from_classes(value if exact else value / value.sum())
    percent = value.shape == (1,) and 1 < value[0] <= 100
    where = "" if case is None else f" on case {case!r:.60}"
    cure = f". If it is a percentage, write {value[0] / 100:g}." if percent else ""
    raise ReportError(
        f"a report must lie in [0, 1], or be one number per class that sum to 1; "
        f"agent {agent!r} has {report!r:.60}{where}{cure}"
    )
