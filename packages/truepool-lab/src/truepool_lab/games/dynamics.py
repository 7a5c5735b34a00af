"""Best-response dynamics: agents respond in rounds until they converge or cycle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError, UnknownNameError
from truepool.panel.costs import Costs
from truepool.pools import LinearPool, Pool
from truepool_lab.games.agent_view import AgentView, expected_savings
from truepool_lab.games.beliefs import Beliefs, check_count
from truepool_lab.games.payments import Payment
from truepool_lab.games.responses import Exact, Move, Response

ORDERS = ("sequential", "simultaneous")
MAX_AGENTS = 2000
"""Largest number of agents in a game: each may see the reports of every other."""

Profile = tuple[Move, ...]


@dataclass(frozen=True, eq=False)
class GameState:
    """A game with its beliefs drawn: what stays the same in every round.

    ``chance`` (T,) is the probability over which payoffs are averaged; ``fit_pool``
    fits the pool to the reports sent; ``visible`` lists whose reports each agent sees;
    ``memo`` keeps responses that do not depend on what others report.
    """

    beliefs: Beliefs
    chance: FloatArray
    payment: Payment
    response: Response
    fit_pool: Callable[[FloatArray], Pool]
    costs: Costs
    threshold: float
    visible: Sequence[tuple[int, ...]]
    memo: list[Move | None] = field(default_factory=list)

    @cached_property
    def savings(self) -> FloatArray:
        """Expected savings of deciding 1 in each case, (T,)."""
        return expected_savings(self.chance, self.costs)

    def respond(
        self, agent: int, sent: FloatArray, pool: Pool, total: FloatArray | None
    ) -> Move:
        """Best response of an agent to the reports sent that it sees."""
        if not self.payment.depends_on_others and self.memo[agent] is not None:
            return self.memo[agent]  # type: ignore[return-value]
        truth = self.beliefs.values[:, agent]
        payoff = self.payment.payoff(self.view(agent, sent, pool, total))
        move = self.response.respond(payoff, truth)
        self.memo[agent] = move
        return move

    def view(
        self,
        agent: int,
        sent: FloatArray,
        pool: Pool,
        total: FloatArray | None = None,
    ) -> AgentView:
        """What the agent knows; it assumes that agents it does not see are truthful."""
        N = self.beliefs.agents
        seen = self.visible[agent]
        reports = sent
        if self.payment.depends_on_others and len(seen) < N - 1:
            reports = self.beliefs.values.copy(order="F")
            reports[:, list(seen)] = sent[:, list(seen)]
            total = None
        chance = self.chance
        if isinstance(self.response, Exact):
            chance = self.beliefs.posterior([agent, *seen])
        savings = self.savings if chance is self.chance else None
        return AgentView(
            agent, reports, chance, pool, self.costs, self.threshold,
            total=total, savings=savings,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Play:
    """How a game was played: the moves at the end, and the path to them.

    ``path`` holds each agent's mean shift after every round; ``cycle`` is the length
    of the cycle that the agents are in, None where there is none.
    """

    moves: Profile
    reports: FloatArray
    pool: Pool
    rounds: int
    converged: bool
    cycle: int | None
    path: FloatArray


def play(state: GameState, rounds: int, order: str) -> Play:
    """Run best-response dynamics from truthful reports, for at most ``rounds``."""
    check(rounds, order)
    state = replace(state, memo=[None] * state.beliefs.agents)
    values = np.asfortranarray(state.beliefs.values)
    means = values.mean(axis=0)
    truth = state.response.truth
    profile = tuple(Move(truth, column) for column in values.T)
    keys, path = [_key(profile)], [np.zeros(len(profile))]
    cycle, left = None, rounds
    while left:
        profile = _round(state, profile, order)
        path.append(_mean_shifts(profile, means))
        left -= 1
        if cycle is None:
            keys.append(_key(profile))
            cycle = _rounds_since(keys)
            # Whole cycles can be left out: the end is the same.
            left = left if cycle is None else 0 if cycle == 1 else left % cycle
    sent = _reports_of(profile)
    converged = cycle == 1
    return Play(
        profile,
        sent,
        state.fit_pool(sent),
        rounds if cycle is not None and not converged else len(path) - 1,
        converged,
        None if converged else cycle,
        np.array(path),
    )


def draw_visibility(
    sees: str | int, agents: int, rng: np.random.Generator
) -> tuple[tuple[int, ...], ...]:
    """Draw whose reports each agent sees: those of none, k random or all others.

    >>> draw_visibility("all", 3, np.random.default_rng(0))
    ((1, 2), (0, 2), (0, 1))
    """
    if agents > MAX_AGENTS:
        raise SettingError(
            f"a game may have at most {MAX_AGENTS:,} agents; got {agents:,}"
        )
    count = {"none": 0, "all": agents - 1}.get(str(sees), sees)
    if not isinstance(count, int | np.integer) or not 0 <= count <= agents:
        raise SettingError(
            f"sees must be 'none', 'all' or a whole number from 0 to {agents}; got "
            f"{sees!r}"
        )
    seen = []
    for i in range(agents):
        others = np.array([j for j in range(agents) if j != i])
        chosen = rng.permutation(others)[: int(count)]
        seen.append(tuple(sorted(chosen.tolist())))
    return tuple(seen)


def check(rounds: int, order: str) -> None:
    """Refuse a number of rounds or an order that is not valid."""
    check_count("rounds", rounds, 1)
    if order not in ORDERS:
        raise UnknownNameError("order", order, ORDERS)


def _round(state: GameState, before: Profile, order: str) -> Profile:
    sent = _reports_of(before)
    pool = state.fit_pool(sent)
    total = _total(pool, sent)
    in_turn = order == "sequential" and state.payment.depends_on_others
    after = []
    for i in range(len(before)):
        after.append(state.respond(i, sent, pool, total))
        if not in_turn or after[i].key == before[i].key:
            continue
        change = after[i].reports - sent[:, i]
        sent[:, i] = after[i].reports
        learned = state.fit_pool(sent)
        if learned is pool and total is not None:
            total = total + pool.weights_[i] * change
        else:
            pool, total = learned, _total(learned, sent)
    return tuple(after)


def _total(pool: Pool, sent: FloatArray) -> FloatArray | None:
    """Pooled reports of a linear pool, which are updated move by move; else None."""
    if not isinstance(pool, LinearPool):
        return None
    return np.asarray(np.einsum("tn,n->t", sent, pool.weights_))


def _rounds_since(keys: list[bytes]) -> int | None:
    """How many rounds ago all agents sent the same reports as now, if ever."""
    for ago in range(1, len(keys)):
        if keys[-1] == keys[-1 - ago]:
            return ago
    return None


def _key(profile: Profile) -> bytes:
    """Digest of the reports of all agents, to nine decimals."""
    digest = blake2b(digest_size=16)
    for move in profile:
        digest.update(move.key)
    return digest.digest()


def _mean_shifts(profile: Profile, truth: FloatArray) -> FloatArray:
    return np.array([move.reports.mean() for move in profile]) - truth


def _reports_of(profile: Profile) -> FloatArray:
    return np.array([move.reports for move in profile]).T
