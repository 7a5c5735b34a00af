"""A stream does what a plain model of it does, whatever the order of the calls."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from truepool import learners
from truepool.core.errors import AgentError, OutcomeError, ReportError, SettingError
from truepool.online import Stream, load_stream
from truepool.online.decision import decide
from truepool.online.experts import Experts
from truepool.online.loop import settle

NAMES = ("a", "b", "c", "d")
CASES = st.integers(0, 7)
REPORTS = st.sampled_from([0.0, 5e-324, 0.25, 0.5, 1 - 2**-53, 1.0])
LEARNERS = tuple(learners.every())
ASKED = st.dictionaries(st.sampled_from(NAMES[:2]), REPORTS, min_size=1)


class StreamMachine(RuleBasedStateMachine):
    """The model keeps, in plain dicts, what each case was decided by and its outcome.

    Its weights come from the functions without state that a replay uses as well.
    """

    @initialize(
        learner=st.sampled_from(LEARNERS), memory=st.sampled_from([None, None, 3])
    )
    def start(self, learner, memory):
        self.stream = Stream(learner, NAMES[:3], memory=memory)
        self.memory = memory
        self.state = self.stream.state
        self.reports = {}  # of the cases that wait: by agent, without those who left
        self.used = {}  # the weights that decided them, likewise
        self.outcomes = {}
        self.settled = 0

    @property
    def agents(self):
        return self.state.agents

    def column(self, values, missing):
        return np.array([values.get(agent, missing) for agent in self.agents])

    @rule(case=CASES, reports=st.dictionaries(st.sampled_from(NAMES), REPORTS))
    def decide(self, case, reports):
        predict = self.stream.predict_proba_one
        if not set(reports) <= set(self.agents):
            with pytest.raises(AgentError):
                predict(reports, case=case)
        elif not reports:
            with pytest.raises(SettingError, match="at least one agent"):
                predict(reports, case=case)
        elif case in self.outcomes:
            with pytest.raises(OutcomeError, match="is settled"):
                predict(reports, case=case)
        elif case in self.reports and self.reports[case] != reports:
            with pytest.raises(ReportError, match="decided once"):
                predict(reports, case=case)
        elif case not in self.reports and len(self.reports) == self.memory:
            with pytest.raises(SettingError, match="one too many"):
                predict(reports, case=case)
        else:
            if case not in self.reports:
                self.remember(case, reports)
            pooled = predict(reports, case=case)[1]
            assert pooled == pytest.approx(self.pooled(case), abs=1e-12)

    def remember(self, case, reports):
        while self.memory and len(self.reports) + len(self.outcomes) >= self.memory:
            del self.outcomes[next(iter(self.outcomes))]
        self.reports[case] = reports
        self.used[case] = dict(
            zip(self.agents, self.state.unnormalised.tolist(), strict=True)
        )

    def pooled(self, case):
        """Weighted mean of those who reported; the plain mean if none has weight."""
        reports, used = self.reports[case], self.used[case]
        total = sum(used[agent] for agent in reports)
        if total == 0:
            return np.mean(list(reports.values()))
        return sum(used[agent] * p for agent, p in reports.items()) / total

    @rule(case=CASES, outcome=st.integers(0, 1))
    def settle(self, case, outcome):
        if case in self.outcomes and self.outcomes[case] != outcome:
            with pytest.raises(OutcomeError, match="was settled with outcome"):
                self.stream.settle(case, outcome)
        elif case not in self.outcomes and case not in self.reports:
            with pytest.raises(OutcomeError, match="is waiting"):
                self.stream.settle(case, outcome)
        else:
            self.stream.settle(case, outcome)
            if case not in self.outcomes:
                self.learn(case, outcome)

    def learn(self, case, outcome):
        reports, used = self.reports.pop(case), self.used.pop(case)
        self.outcomes[case] = outcome
        if not reports:  # all who reported have left
            return
        decision = decide(self.state, self.column(reports, np.nan)[:, None])
        object.__setattr__(decision, "unnormalised", self.column(used, 0.0))
        self.state = settle(self.stream.learner, self.state, decision, outcome)
        self.settled += 1

    @rule(reports=st.dictionaries(st.sampled_from(NAMES[:2]), REPORTS, min_size=1))
    def learn_at_once(self, reports):
        if set(reports) <= set(self.agents):
            self.stream.learn_one(reports, 1)
            decision = decide(self.state, self.column(reports, np.nan)[:, None])
            self.state = settle(self.stream.learner, self.state, decision, 1)
            self.settled += 1

    @rule(case=CASES)
    def drop(self, case):
        if case in self.reports:
            self.stream.drop(case)
            del self.reports[case], self.used[case]
        else:
            with pytest.raises(OutcomeError, match="is waiting"):
                self.stream.drop(case)

    @rule(agent=st.sampled_from(NAMES))
    def join(self, agent):
        if agent in self.agents:
            with pytest.raises(AgentError, match="is taken"):
                self.stream.join(agent)
        else:
            self.stream.join(agent)
            self.state = self.stream.learner.join(self.state, agent)

    @rule(agent=st.sampled_from(NAMES))
    def leave(self, agent):
        if agent not in self.agents or len(self.agents) == 2:
            with pytest.raises(AgentError):
                self.stream.leave(agent)
        else:
            self.stream.leave(agent)
            self.state = self.stream.learner.leave(self.state, agent)
            for known in (*self.reports.values(), *self.used.values()):
                known.pop(agent, None)

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "s.stream")
            self.stream.save(path)
            self.stream = load_stream(path)

    @precondition(lambda self: self.reports)
    @rule(outcome=st.integers(0, 1))
    def settle_in_threads(self, outcome):
        """The order is that of the threads, so the model takes the weights over."""
        waiting = list(self.reports)
        learned = sum(bool(self.reports[case]) for case in waiting)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda case: self.stream.settle(case, outcome), waiting))
        assert self.stream.state.settled == self.settled + learned
        self.outcomes = dict(self.stream.outcomes)
        assert all(self.outcomes[case] == outcome for case in waiting)
        self.reports, self.used = {}, {}
        self.state, self.settled = self.stream.state, self.settled + learned

    @invariant()
    def agrees_with_the_model(self):
        if not hasattr(self, "stream"):
            return
        assert set(self.stream.waiting) == set(self.reports)
        assert self.stream.outcomes == self.outcomes
        assert self.stream.state.settled == self.settled
        assert tuple(self.stream.weights) == self.agents
        np.testing.assert_array_equal(self.stream.state.weights, self.state.weights)
        np.testing.assert_allclose(sum(self.stream.weights.values()), 1, atol=1e-9)


TestStream = StreamMachine.TestCase
TestStream.settings = settings(max_examples=20, stateful_step_count=30, deadline=None)


class AutoMachine(RuleBasedStateMachine):
    """`auto` against its parts: a learner over agents and pools, and their refits.

    No agent joins or leaves it.
    """

    @initialize()
    def start(self):
        self.stream = Stream("auto", NAMES[:2])
        self.experts = Experts(NAMES[:2], 2)
        self.state = self.stream.state
        self.waiting, self.outcomes = {}, {}

    def decision(self, reports):
        column = [[reports.get(agent, np.nan)] for agent in NAMES[:2]]
        return decide(self.state, self.experts.report(np.array(column)))

    def learn(self, decision, outcome):
        self.state = settle(self.stream.learner, self.state, decision, outcome)
        self.experts = self.experts.learn(decision.reports[:2], outcome)

    @rule(case=CASES, reports=ASKED)
    def decide(self, case, reports):
        predict = self.stream.predict_proba_one
        if case in self.outcomes:
            with pytest.raises(OutcomeError, match="is settled"):
                predict(reports, case=case)
        elif case not in self.waiting:
            self.waiting[case] = self.decision(reports)
            assert predict(reports, case=case)[1] == self.waiting[case].pooled[0]

    @rule(case=CASES, outcome=st.integers(0, 1))
    def settle(self, case, outcome):
        if case in self.waiting:
            self.stream.settle(case, outcome)
            self.learn(self.waiting.pop(case), outcome)
            self.outcomes[case] = outcome
        elif self.outcomes.get(case, 1 - outcome) != outcome:
            with pytest.raises(OutcomeError):
                self.stream.settle(case, outcome)

    @rule(reports=ASKED, outcomes=st.lists(st.integers(0, 1), min_size=4, max_size=8))
    def learn_at_once(self, reports, outcomes):
        for outcome in outcomes:
            self.stream.learn_one(reports, outcome)
            self.learn(self.decision(reports), outcome)

    @rule(agent=st.sampled_from(NAMES))
    def nobody_joins_or_leaves(self, agent):
        for change in (self.stream.join, self.stream.leave):
            with pytest.raises(SettingError, match="none can join or leave"):
                change(agent)

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "s.stream")
            self.stream.save(path)
            self.stream = load_stream(path)

    @invariant()
    def agrees_with_its_parts(self):
        if hasattr(self, "stream"):
            np.testing.assert_array_equal(self.stream.state.weights, self.state.weights)
            assert self.stream.state.settled == self.experts.settled
            assert self.stream.outcomes == self.outcomes
            assert set(self.stream.waiting) == set(self.waiting)


TestAuto = AutoMachine.TestCase
TestAuto.settings = settings(max_examples=5, stateful_step_count=15, deadline=None)
