"""Game: agents, beliefs, a pool, a threshold; and where strategy leads them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError, UnknownNameError
from truepool.data.costs import Costs
from truepool.data.panel import Panel
from truepool.games.beliefs import Beliefs, drawn, from_panel
from truepool.games.beliefs import check as check_beliefs
from truepool.games.dynamics import Play, Table, check, play, sights
from truepool.games.equilibrium import Equilibrium, errors_by_case, rates
from truepool.games.payments import Payment, as_payment
from truepool.games.responses import Exact, Response, as_response
from truepool.measures.decisions import check_threshold
from truepool.pools import Pool
from truepool.pools.interface import FixedPool, configure
from truepool.pools.mean import Mean

OUTCOMES = ("expected", "drawn")


@dataclass(frozen=True)
class Game:
    """Agents with correlated beliefs who report to a pool that decides.

    Parameters
    ----------
    agents, correlation, mean, offset, concentration, model, truth, cases
        The beliefs: see `truepool.games.beliefs.drawn`. ``offset`` is E[b] - E[y].
    threshold, costs : float, Costs, optional
        1 is decided above the threshold, by default ``costs.threshold``.
    pool : str or Pool
        How reports are pooled; weights are learned from the reports *sent*.
    outcomes : ``expected`` or ``drawn``
        Count each case by the chance of its outcome, or by an outcome drawn from it.
        Agents who best-respond to drawn outcomes also respond to their luck.
    panel : Panel, optional
        Beliefs from a real panel instead; see `Game.on`.

    Examples
    --------
    >>> game = Game(offset=0.1, threshold=0.3, costs=Costs(fn=10, fp=1), cases=5000)
    >>> game.solve("brier").shifts
    array([-0.1, -0.1, -0.1, -0.1, -0.1])
    """

    agents: int = 5
    correlation: float = 0.5
    mean: float = 0.3
    offset: float = 0.0
    threshold: float | None = None
    costs: Costs = field(default_factory=Costs)
    cases: int = 10_000
    concentration: float = 4.0
    model: str = "copula"
    truth: str = "mean"
    outcomes: str = "expected"
    pool: str | Pool = "mean"
    panel: Panel | None = None

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        if self.outcomes not in OUTCOMES:
            raise UnknownNameError("way to count outcomes", self.outcomes, OUTCOMES)
        configure(self.pool)
        if self.panel is None:
            check_beliefs(
                self.agents, self.correlation, self.mean, self.offset,
                self.concentration, self.model, self.truth, self.cases,
            )  # fmt: skip

    @classmethod
    def on(cls, panel: Panel, **settings: Any) -> Self:
        """Return the game of the agents of a panel, whose reports are their beliefs."""
        game = cls(panel=panel, outcomes="drawn", **settings)
        beliefs = from_panel(panel)
        return replace(game, agents=beliefs.agents, cases=len(beliefs))

    @property
    def line(self) -> float:
        """The threshold that decides."""
        return self.costs.threshold if self.threshold is None else self.threshold

    def draw(self, seed: int = 0) -> Beliefs:
        """Draw the beliefs of one game; those of a panel are what they are."""
        if self.panel is not None:
            return from_panel(self.panel)
        return drawn(
            self.agents,
            self.correlation,
            self.mean,
            self.offset,
            concentration=self.concentration,
            model=self.model,
            truth=self.truth,
            cases=self.cases,
            seed=seed,
        )

    def solve(
        self,
        payment: str | Payment,
        rounds: int = 20,
        seed: int = 0,
        *,
        response: str | Response = "shift",
        order: str = "sequential",
        sees: str | int | None = None,
    ) -> Equilibrium:
        """Let the agents answer each other under a payment, and see where they end.

        Parameters
        ----------
        payment : str or Payment
            What agents are paid for; `truepool.games.payments.every` lists them.
        rounds, order : int, ``sequential`` or ``simultaneous``
            How often each agent answers at most, and whether one after the other.
        response : str or Response
            ``shift`` (the paper's grid), ``affine`` or ``exact``.
        sees : ``all``, ``none`` or a number of others, optional
            Whose reports each agent sees. It takes those it does not see to tell the
            truth; with ``exact`` it also learns what those it sees know. By default
            all, and none for ``exact`` where others' reports do not enter the payoff.
        """
        rule = as_payment(payment)
        family = as_response(response)
        check(rounds, order)
        table = self.table(self.draw(seed), rule, family, sees, seed)
        return self._told(table, play(table, rounds, order))

    def table(
        self,
        beliefs: Beliefs,
        payment: Payment,
        response: Response,
        sees: str | int | None = None,
        seed: int = 0,
    ) -> Table:
        """Set the table for these beliefs."""
        N = beliefs.agents
        if sees is None:
            alone = isinstance(response, Exact) and not payment.social
            sees = "none" if alone else "all"
        rng = np.random.default_rng([seed, 1])
        seen = sights(sees, N, rng)
        whole = all(len(others) == N - 1 for others in seen)
        if isinstance(response, Exact) and payment.social and not whole:
            raise SettingError(
                f"the exact response under {payment.name!r} needs the reports of all "
                "others; take sees='all', or another response"
            )
        chance = beliefs.chance
        if self.outcomes == "drawn":
            chance = beliefs.outcomes.astype(np.float64)
        beliefs = replace(beliefs, values=np.asfortranarray(beliefs.values))
        fitted = self._fitting(beliefs)
        known: list[Any] = [None] * N
        return Table(
            beliefs, chance, payment, response, fitted, self.costs, self.line, seen,
            known,
        )  # fmt: skip

    def _fitting(self, beliefs: Beliefs) -> Callable[[FloatArray], Pool]:
        """How the pool learns from the reports sent; once, where it learns nothing."""
        pool = configure(self.pool, costs=self.costs, threshold=self.line)

        def fit(sent: FloatArray) -> Pool:
            panel = Panel(sent, beliefs.outcomes, copy=False)
            return configure(pool).fit_panel(panel)

        if isinstance(pool, Mean | FixedPool):
            once = fit(beliefs.values)
            return lambda sent: once
        return fit

    def _told(self, table: Table, end: Play) -> Equilibrium:
        truth = table.beliefs.values
        truthful = _pool(table.fitted(truth), truth)
        pooled = _pool(end.pool, end.sent)
        by_case = errors_by_case(pooled, truthful, table.chance, self.costs, self.line)
        found = rates(by_case)
        exact = [move.deviation for move in end.moves]
        shifts = [
            deviation[0] if len(deviation) == 1 else float(mean)
            for deviation, mean in zip(exact, end.path[-1], strict=True)
        ]
        return Equilibrium(
            table.payment.name,
            np.array(shifts),
            tuple(exact),
            found["fn"],
            found["fp"],
            found["cost"],
            found["truthful_fn"],
            found["truthful_fp"],
            found["truthful_cost"],
            float(pooled.mean() - truthful.mean()),
            end.rounds,
            end.converged,
            end.cycle,
            end.path,
            by_case,
            end.sent,
        )


def _pool(pool: Pool, reports: FloatArray) -> FloatArray:
    return pool.combine(np.ascontiguousarray(reports)[:, :, None])[:, 0]
