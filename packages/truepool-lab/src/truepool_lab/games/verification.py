"""Is truth an agent's best report under a payment? A test with a standard error."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.core.seeds import check_seed
from truepool.measures.inference import paired_p_values
from truepool_lab.games.game import Game
from truepool_lab.games.payments import Payment, as_payment
from truepool_lab.games.responses import GridResponse, Response, as_response, best_index


@dataclass(frozen=True)
class Verification:
    """What one agent can gain by a deviation of a family (tab:ic_verify).

    Attributes
    ----------
    truthful : float
        Mean utility per case of truthful reports.
    deviation : tuple
        The best deviation of the family, chosen on the first half of the trials.
    gain, error, p_value : float
        Its gain per case on the other half, the standard error over trials, and the
        two-sided p-value of that gain.
    max_gain : float
        Highest mean gain over all the trials: never below 0, since truth is in the
        family, and biased upwards because it is the highest.
    violations : float
        Share of trials in which some deviation gains more than ``tolerance``.
    """

    payment: str
    family: str
    trials: int
    truthful: float
    deviation: tuple[float, ...]
    gain: float
    error: float
    p_value: float
    max_gain: float
    violations: float
    tolerance: float

    @property
    def truthful_is_best(self) -> bool:
        """Whether the gain is within two standard errors, plus the tolerance, of 0."""
        return self.gain <= 2 * self.error + self.tolerance

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON."""
        return asdict(self)


def verify(
    payment: str | Payment,
    game: Game | None = None,
    *,
    response: str | Response = "shift",
    others: float = 0.0,
    agent: int = 0,
    trials: int = 100,
    tolerance: float = 0.003,
    seed: int = 0,
) -> Verification:
    """Try every deviation of a family on new games and test the best one.

    Parameters
    ----------
    game : Game
        By default the canonical game with drawn outcomes.
    others : float
        Shift of all other agents: truth that is best for every ``others`` is dominant,
        truth that is best only at 0 is an equilibrium.
    tolerance : float
        Gain per case that the paper calls noise (tab:ic_verify).

    Examples
    --------
    >>> verify("brier", trials=30).deviation
    (0.0,)
    """
    family = as_response(response)
    if not isinstance(family, GridResponse):
        raise SettingError(
            f"verification needs the response 'shift' or 'affine'; got {family.name!r}"
        )
    if trials < 4:
        raise SettingError(f"verification needs at least 4 trials; got {trials!r}")
    game = game or Game(threshold=0.3, outcomes="drawn")
    payment = as_payment(payment)
    check_seed(seed)
    seeds = np.random.SeedSequence(seed).generate_state(trials).tolist()
    results = [_trial(game, payment, family, others, agent, s) for s in seeds]
    values = np.stack([value for value, _ in results])  # (R, G)
    truth = int(family.distances.argmin())
    gains = values - values[:, [truth]]
    half = trials // 2
    chosen = best_index(gains[:half].mean(axis=0), family.distances)
    tested = gains[half:, chosen]
    return Verification(
        payment.name,
        family.name,
        trials,
        float(np.mean([level for _, level in results])),
        tuple(family.deviations[chosen].tolist()),
        float(tested.mean()),
        float(tested.std(ddof=1) / np.sqrt(len(tested))),
        float(paired_p_values(tested[:, None])[0]),
        float(gains.mean(axis=0).max()),
        float((gains.max(axis=1) > tolerance).mean()),
        tolerance,
    )


def _trial(
    game: Game,
    payment: Payment,
    family: GridResponse,
    others: float,
    agent: int,
    seed: int,
) -> tuple[FloatArray, float]:
    """Mean payoff of every deviation in one game, and the utility of the truth."""
    beliefs = game.draw(seed)
    state = game.state(beliefs, payment, family, "all", seed)
    truth = np.ascontiguousarray(state.beliefs.values[:, agent])
    sent = np.clip(state.beliefs.values + others, 0.0, 1.0)
    sent[:, agent] = truth
    payoff = payment.payoff(state.view(agent, sent, state.fit_pool(sent)))
    level = float(np.mean(payoff.evaluate(truth) + payoff.extra()))
    return family.mean_payoffs(payoff, truth), level
