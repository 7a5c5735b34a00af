"""Agents answer each other round by round, until they stand still or go in circles."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError, UnknownNameError
from truepool.data.costs import Costs
from truepool.games.agent_view import Seat, saved
from truepool.games.beliefs import Beliefs
from truepool.games.payments import Payment
from truepool.games.responses import Exact, Move, Response
from truepool.pools import LinearPool, Pool

ORDERS = ("sequential", "simultaneous")

Profile = tuple[Move, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """Everything that stays the same while a game is played.

    ``chance`` (T,) is what payoffs are expected under; ``fitted`` returns the pool as
    it is learned from the reports sent; ``seen`` says whose reports each agent sees.
    """

    beliefs: Beliefs
    chance: FloatArray
    payment: Payment
    response: Response
    fitted: Callable[[FloatArray], Pool]
    costs: Costs
    threshold: float
    seen: Sequence[tuple[int, ...]]
    known: list[Move | None] = field(default_factory=list)

    @cached_property
    def stakes(self) -> FloatArray:
        """What deciding 1 saves in each case."""
        return saved(self.chance, self.costs)

    def answer(
        self, agent: int, sent: FloatArray, pool: Pool, total: FloatArray | None
    ) -> Move:
        """Best response of an agent to the reports sent, as far as it sees them."""
        if not self.payment.social and self.known[agent] is not None:
            return self.known[agent]  # type: ignore[return-value]
        truth = self.beliefs.values[:, agent]
        payoff = self.payment.payoff(self.seat(agent, sent, pool, total))
        move = self.response.respond(payoff, truth)
        self.known[agent] = move
        return move

    def seat(
        self,
        agent: int,
        sent: FloatArray,
        pool: Pool,
        total: FloatArray | None = None,
    ) -> Seat:
        """What the agent knows; it takes those it does not see to tell the truth."""
        N = self.beliefs.agents
        seen = self.seen[agent]
        reports = sent
        if self.payment.social and len(seen) < N - 1:
            reports = self.beliefs.values.copy(order="F")
            reports[:, list(seen)] = sent[:, list(seen)]
            total = None
        chance = self.chance
        if isinstance(self.response, Exact):
            chance = self.beliefs.posterior([agent, *seen])
        stakes = self.stakes if chance is self.chance else None
        return Seat(
            agent, reports, chance, pool, self.costs, self.threshold,
            total=total, stakes=stakes,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Play:
    """How a game went: the moves at the end, and what led there.

    ``path`` holds each agent's mean shift after every round; ``cycle`` is the length
    of the circle the agents went in, None where they did not.
    """

    moves: Profile
    sent: FloatArray
    pool: Pool
    rounds: int
    converged: bool
    cycle: int | None
    path: FloatArray


def play(table: Table, rounds: int, order: str) -> Play:
    """Best-response dynamics from the truth, for at most so many rounds."""
    check(rounds, order)
    table = replace(table, known=[None] * table.beliefs.agents)
    values = np.asfortranarray(table.beliefs.values)
    means = values.mean(axis=0)
    truth = table.response.truth
    profile = tuple(Move(truth, column) for column in values.T)
    keys, path = [_key(profile)], [np.zeros(len(profile))]
    cycle, left = None, rounds
    while left:
        profile = _round(table, profile, order)
        path.append(_mean_shifts(profile, means))
        left -= 1
        if cycle is None:
            keys.append(_key(profile))
            cycle = _since(keys)
            # In a circle whole turns may be left out: the end is the same.
            left = left if cycle is None else 0 if cycle == 1 else left % cycle
    sent = _sent(profile)
    still = cycle == 1
    return Play(
        profile,
        sent,
        table.fitted(sent),
        rounds if cycle is not None and not still else len(path) - 1,
        still,
        None if still else cycle,
        np.array(path),
    )


def sights(
    sees: str | int, agents: int, rng: np.random.Generator
) -> tuple[tuple[int, ...], ...]:
    """Whose reports each agent sees: nobody's, k random others', or all.

    >>> sights("all", 3, np.random.default_rng(0))
    ((1, 2), (0, 2), (0, 1))
    """
    count = {"none": 0, "all": agents - 1}.get(str(sees), sees)
    if isinstance(count, str) or not 0 <= count <= agents:
        raise SettingError(
            f"sees must be 'none', 'all' or a number from 0 to {agents}; it is {sees!r}"
        )
    seen = []
    for i in range(agents):
        others = np.array([j for j in range(agents) if j != i])
        chosen = rng.permutation(others)[: int(count)]
        seen.append(tuple(sorted(chosen.tolist())))
    return tuple(seen)


def check(rounds: int, order: str) -> None:
    """Refuse a game that could not be played."""
    if rounds < 1:
        raise SettingError(f"a game takes at least one round; rounds is {rounds!r}")
    if order not in ORDERS:
        raise UnknownNameError("order", order, ORDERS)


def _round(table: Table, before: Profile, order: str) -> Profile:
    sent = _sent(before)
    pool = table.fitted(sent)
    total = _total(pool, sent)
    in_turn = order == "sequential" and table.payment.social
    after = []
    for i in range(len(before)):
        after.append(table.answer(i, sent, pool, total))
        if not in_turn or after[i].key == before[i].key:
            continue
        change = after[i].reports - sent[:, i]
        sent[:, i] = after[i].reports
        learned = table.fitted(sent)
        if learned is pool and total is not None:
            total = total + pool.weights_[i] * change
        else:
            pool, total = learned, _total(learned, sent)
    return tuple(after)


def _total(pool: Pool, sent: FloatArray) -> FloatArray | None:
    """Pool of the reports, kept up to date move by move; linear pools only."""
    if not isinstance(pool, LinearPool):
        return None
    return np.asarray(np.einsum("tn,n->t", sent, pool.weights_))


def _since(keys: list[bytes]) -> int | None:
    """How many rounds ago everybody sent the same as now, if ever."""
    for ago in range(1, len(keys)):
        if keys[-1] == keys[-1 - ago]:
            return ago
    return None


def _key(profile: Profile) -> bytes:
    """What tells two profiles of reports apart, to nine decimals, in a few bytes."""
    digest = blake2b(digest_size=16)
    for move in profile:
        digest.update(move.key)
    return digest.digest()


def _mean_shifts(profile: Profile, truth: FloatArray) -> FloatArray:
    return np.array([move.reports.mean() for move in profile]) - truth


def _sent(profile: Profile) -> FloatArray:
    return np.array([move.reports for move in profile]).T
