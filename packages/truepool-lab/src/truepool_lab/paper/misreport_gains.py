"""Agents who misreport to a pool that learns: what they gain, and what it costs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from truepool import Panel
from truepool.core.arrays import FloatArray
from truepool.measures.losses import Loss
from truepool.pools import Pool, configure

STEP = 0.2
"""How far a misreport shifts beliefs."""
EDGE = 1e-6
"""Beliefs are kept this far from 0 and 1 before they are moved on the odds scale."""
ROUNDS = 3
"""Most rounds of a game; the pool learns anew after each."""

Profile: TypeAlias = tuple[str, ...]
"""Which misreport each agent sends, by name."""


def _on_odds(beliefs: FloatArray, power: float) -> FloatArray:
    inside = np.clip(beliefs, EDGE, 1 - EDGE)
    odds = (inside / (1 - inside)) ** power
    return np.asarray(odds / (1 + odds))


MISREPORTS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "truth": np.asarray,
    "more": lambda beliefs: np.minimum(beliefs + STEP, 1.0),
    "less": lambda beliefs: np.maximum(beliefs - STEP, 0.0),
    "exaggerated": lambda beliefs: _on_odds(beliefs, 2.0),
    "hedged": lambda beliefs: _on_odds(beliefs, 0.5),
    "rounded": lambda beliefs: (beliefs > 0.5).astype(np.float64),
    "inverted": lambda beliefs: 1.0 - beliefs,
}
"""The truth, which wins ties, and six simple misreports."""


@dataclass(frozen=True)
class Gain:
    """What a misreport gains its sender per case, and how much more the pool loses.

    ``name`` is the misreport that is best on all test cases.
    """

    agent: float
    pool: float
    name: str = "truth"


@dataclass(frozen=True)
class Outcome:
    """End of a game: what each agent sends, and whether a round changed nothing."""

    profile: Profile
    settled: bool


@dataclass(frozen=True, eq=False)
class Coordinator:
    """A pool that learns from reports sent, and pays agents what they save it.

    It learns from the cases ``known``; gains are measured on the cases ``test``. An
    agent is paid its leave-one-out credit: the loss of the pool as learned where the
    agent is silent, less that with its report. ``memo`` keeps what was learned from
    each profile.
    """

    pool: Pool
    known: Panel
    test: Panel
    loss: Loss
    memo: dict[Profile, Pool] = field(default_factory=dict)

    @property
    def honest(self) -> Profile:
        """Everybody sends the truth."""
        return ("truth",) * len(self.known.agents)

    def learn(self, profile: Profile) -> Pool:
        """Return the pool that has learned from what these agents send."""
        if profile not in self.memo:
            sent = send(self.known, profile)
            self.memo[profile] = configure(self.pool).fit_panel(sent)
        return self.memo[profile]

    def losses(self, pool: Pool, panel: Panel) -> FloatArray:
        """Loss of the pool in each case, (T,)."""
        return self.loss.evaluate(pool.combine(panel.values), panel.outcomes)

    def credit(self, pool: Pool, panel: Panel, agent: int) -> FloatArray:
        """Payment of an agent in each case, (T,)."""
        return self._absent(pool, panel, agent) - self.losses(pool, panel)

    def _absent(self, pool: Pool, panel: Panel, agent: int) -> FloatArray:
        others = panel.reports.copy()
        others[:, agent] = np.nan
        return self.losses(pool, panel.with_reports(others))

    def gain(self, agent: int, *, relearns: bool, apart: bool = False) -> Gain:
        """Gain of one agent by its best misreport; everybody else tells the truth.

        With ``relearns`` it misreports in the cases that the pool learns from, too, and
        foresees what the pool will learn; otherwise the pool has learned from the
        truth. With ``apart`` it is paid against a pool that never heard of it, so that
        it gains what the misreport saves. The misreport is chosen on every other test
        case and measured on the rest, both ways.
        """
        paid, lost = [], []
        for name in MISREPORTS:
            profile = changed(self.honest, agent, name)
            pool = self.learn(profile if relearns else self.honest)
            sent = send(self.test, profile)
            lost.append(self.losses(pool, sent))
            paid.append(-lost[-1] if apart else self.credit(pool, sent, agent))
        return cross_fitted(np.stack(paid), np.stack(lost))

    def play(self, rounds: int = ROUNDS) -> Outcome:
        """Let agents respond in turn, with the weights as they are, and relearn.

        They choose on the cases that the pool learns from.
        """
        profile = self.honest
        for _ in range(rounds):
            before, pool = profile, self.learn(profile)
            for agent in range(len(profile)):
                profile = self._respond(pool, profile, agent)
            if profile == before:
                return Outcome(profile, settled=True)
        return Outcome(profile, settled=False)

    def _respond(self, pool: Pool, profile: Profile, agent: int) -> Profile:
        options = [changed(profile, agent, name) for name in MISREPORTS]
        # Without the agent the pool is the same whatever it sends.
        losses = [self.losses(pool, send(self.known, o)).mean() for o in options]
        return options[best(-np.array(losses))]


def changed(profile: Profile, agent: int, name: str) -> Profile:
    """Return the profile in which this agent sends another misreport."""
    return (*profile[:agent], name, *profile[agent + 1 :])


def send(panel: Panel, profile: Profile) -> Panel:
    """Return the panel with what the agents send."""
    sent = [
        MISREPORTS[name](panel.reports[:, agent]) for agent, name in enumerate(profile)
    ]
    return panel.with_reports(np.stack(sent, axis=1))


def best(values: FloatArray) -> int:
    """Return the place of the largest value; the first, the truth, wins ties.

    >>> best(np.array([0.3, 0.1, 0.1 + 0.2]))
    0
    """
    return int(np.flatnonzero(values >= values.max() - 1e-12)[0])


def cross_fitted(paid: FloatArray, lost: FloatArray) -> Gain:
    """Choose a row of ``paid`` (S, T) on half of the cases and measure on the others.

    The first row is the truth; ``lost`` (S, T) holds the pool's losses.

    >>> cross_fitted(np.array([[0.0, 0, 0, 0], [1, 2, 1, 2]]), np.zeros((2, 4)))
    Gain(agent=1.5, pool=0.0, name='more')
    """
    even = np.arange(paid.shape[1]) % 2 == 0
    agent, pool = paid - paid[0], lost - lost[0]
    sums = np.zeros(2)
    for chosen_on in (even, ~even):
        row = best(agent[:, chosen_on].mean(axis=1))
        sums += agent[row, ~chosen_on].sum(), pool[row, ~chosen_on].sum()
    gained, cost = (sums / paid.shape[1]).tolist()
    return Gain(gained, cost, list(MISREPORTS)[best(agent.mean(axis=1))])
