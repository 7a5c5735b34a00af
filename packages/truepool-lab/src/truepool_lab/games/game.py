"""A game: agents with beliefs, a pool with a threshold, and their equilibrium."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError, UnknownNameError
from truepool.core.seeds import check_seed
from truepool.measures.decisions import check_threshold
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools import FixedPool, Pool, configure
from truepool.pools.mean import Mean
from truepool_lab.games.agent_view import pooled_probability
from truepool_lab.games.beliefs import (
    Beliefs,
    check_costs,
    draw_beliefs,
    from_panel,
)
from truepool_lab.games.beliefs import check as check_beliefs
from truepool_lab.games.dynamics import GameState, Play, check, draw_visibility, play
from truepool_lab.games.equilibrium import Equilibrium, errors_by_case, rates
from truepool_lab.games.payments import Payment, as_payment
from truepool_lab.games.responses import Exact, Response, as_response

OUTCOMES = ("expected", "drawn")


@dataclass(frozen=True)
class Game:
    """Agents with correlated beliefs report to a pool, which decides.

    Parameters
    ----------
    agents, correlation, mean, offset, concentration, model, truth, separation, cases
        The beliefs: see `truepool_lab.games.draw_beliefs`. ``offset`` is E[b] - E[y].
    threshold, costs : float, Costs, optional
        The decision is 1 above the threshold, by default ``costs.threshold``.
    pool : str or Pool
        How reports are pooled; weights are learned from the reports *sent*.
    outcomes : ``expected`` or ``drawn``
        Weight each case by the probability of its outcome, or draw an outcome from it.
        Best responses to drawn outcomes also fit their noise.
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
    separation: float | None = None

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        check_costs(self.costs)
        if self.outcomes not in OUTCOMES:
            raise UnknownNameError("kind of outcomes", self.outcomes, OUTCOMES)
        configure(self.pool)
        if self.panel is None:
            check_beliefs(
                self.agents, self.correlation, self.mean, self.offset,
                self.concentration, self.model, self.truth, self.cases, self.separation,
            )  # fmt: skip

    @classmethod
    def on(cls, panel: Panel, **settings: Any) -> Self:
        """Return the game of the agents of a panel, whose reports are their beliefs."""
        game = cls(panel=panel, outcomes="drawn", **settings)
        beliefs = from_panel(panel)
        return replace(game, agents=beliefs.agents, cases=len(beliefs))

    @property
    def decision_threshold(self) -> float:
        """The threshold in use: ``threshold``, or that of the costs."""
        return self.costs.threshold if self.threshold is None else self.threshold

    def draw(self, seed: int = 0) -> Beliefs:
        """Draw the beliefs of one game, or take those of the panel."""
        check_seed(seed)
        if self.panel is not None:
            return from_panel(self.panel)
        return draw_beliefs(
            self.agents,
            self.correlation,
            self.mean,
            self.offset,
            concentration=self.concentration,
            model=self.model,
            truth=self.truth,
            cases=self.cases,
            seed=seed,
            separation=self.separation,
            posterior=self.outcomes == "expected",
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
        """Run best-response dynamics under a payment and return where they end.

        Parameters
        ----------
        payment : str or Payment
            What agents are paid for; `truepool_lab.games.payments.every` lists them.
        rounds, order : int, ``sequential`` or ``simultaneous``
            The number of rounds at most, and whether agents respond in turn or at once.
        response : str or Response
            ``shift`` (the paper's grid), ``affine``, ``threshold`` or ``exact``.
        sees : ``all``, ``none`` or a number of others, optional
            Whose reports each agent sees. It assumes that the others are truthful; with
            ``exact`` it also learns what the agents it sees know. By default all; none
            for ``exact`` where the payoff does not depend on other reports.
        """
        rule = as_payment(payment)
        family = as_response(response)
        check(rounds, order)
        state = self.state(self.draw(seed), rule, family, sees, seed)
        return self._equilibrium(state, play(state, rounds, order))

    def state(
        self,
        beliefs: Beliefs,
        payment: Payment,
        response: Response,
        sees: str | int | None = None,
        seed: int = 0,
    ) -> GameState:
        """Prepare a game with these beliefs."""
        N = beliefs.agents
        if sees is None:
            alone = isinstance(response, Exact) and not payment.depends_on_others
            sees = "none" if alone else "all"
        rng = np.random.default_rng([seed, 1])
        visible = draw_visibility(sees, N, rng)
        whole = all(len(others) == N - 1 for others in visible)
        if isinstance(response, Exact) and payment.depends_on_others and not whole:
            raise SettingError(
                f"the exact response under {payment.name!r} needs the reports of all "
                "others; pass sees='all', or another response"
            )
        chance = beliefs.chance
        if self.outcomes == "drawn":
            chance = beliefs.outcomes.astype(np.float64)
        beliefs = replace(beliefs, values=np.asfortranarray(beliefs.values))
        fit_pool = self._pool_fitter(beliefs)
        return GameState(
            beliefs, chance, payment, response, fit_pool, self.costs,
            self.decision_threshold, visible, [None] * N,
        )  # fmt: skip

    def _pool_fitter(self, beliefs: Beliefs) -> Callable[[FloatArray], Pool]:
        """Return a function that fits the pool; a fixed pool is fitted only once."""
        pool = configure(self.pool, costs=self.costs, threshold=self.decision_threshold)

        def fit(sent: FloatArray) -> Pool:
            panel = Panel(sent, beliefs.outcomes, copy=False)
            return configure(pool).fit_panel(panel)

        if isinstance(pool, Mean | FixedPool):
            once = fit(beliefs.values)
            return lambda sent: once
        return fit

    def _equilibrium(self, state: GameState, end: Play) -> Equilibrium:
        truth = state.beliefs.values
        truthful = pooled_probability(state.fit_pool(truth), truth)
        pooled = pooled_probability(end.pool, end.reports)
        by_case = errors_by_case(
            pooled, truthful, state.chance, self.costs, self.decision_threshold
        )
        found = rates(by_case)
        exact = [move.deviation for move in end.moves]
        shifts = [
            deviation[0] if len(deviation) == 1 else float(mean)
            for deviation, mean in zip(exact, end.path[-1], strict=True)
        ]
        return Equilibrium(
            state.payment.name,
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
            end.reports,
        )
