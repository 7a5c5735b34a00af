"""Is truth an agent's best report under a payment? Measured, with its error."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from truepool.core.arrays import FloatArray
from truepool.core.errors import SettingError
from truepool.games.game import Game
from truepool.games.payments import Payment, as_payment
from truepool.games.responses import Affine, Shift, as_response, truest
from truepool.measures.inference import paired_p_values


@dataclass(frozen=True)
class Verification:
    """How much one agent can gain by a deviation of a family (tab:ic_verify).

    Attributes
    ----------
    truthful : float
        Mean utility of telling the truth, a case.
    deviation : tuple
        The best deviation of the family: chosen on the first half of the trials.
    gain, error, p_value : float
        What it gains a case on the other half, its standard error over trials, and
        the p-value (two-sided) of that gain.
    largest : float
        Highest mean gain over all the trials: never below 0, since truth is in the
        family, and lifted by luck.
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
    largest: float
    violations: float
    tolerance: float

    @property
    def truthful_is_best(self) -> bool:
        """Whether no gain is to be seen beyond twice its standard error."""
        return self.gain <= 2 * self.error + self.tolerance

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON."""
        return asdict(self)


def verify(
    payment: str | Payment,
    game: Game | None = None,
    *,
    response: str | Shift | Affine = "shift",
    others: float = 0.0,
    agent: int = 0,
    trials: int = 100,
    tolerance: float = 0.003,
    seed: int = 0,
) -> Verification:
    """Try every deviation of a family on fresh games; see what the best one gains.

    Parameters
    ----------
    game : Game
        The canonical game with drawn outcomes by default.
    others : float
        Shift that all the others make: truth that is best for every ``others`` is
        dominant, truth that is best at 0 only is an equilibrium.
    tolerance : float
        Gain a case that the paper calls noise (tab:ic_verify).

    Examples
    --------
    >>> verify("brier", trials=30).deviation
    (0.0,)
    """
    family = as_response(response)
    if not isinstance(family, Shift | Affine):
        raise SettingError(
            f"deviations are verified for shift and affine; got {family.name!r}"
        )
    if trials < 4:
        raise SettingError(f"at least 4 trials are needed; {trials!r} were asked")
    game = game or Game(threshold=0.3, outcomes="drawn")
    rule = as_payment(payment)
    seeds = np.random.SeedSequence(seed).generate_state(trials).tolist()
    tried = [_tried(game, rule, family, others, agent, s) for s in seeds]
    values = np.stack([value for value, _ in tried])  # (R, G)
    places, distance = _candidates(family)
    truth = int(np.argmin(distance))
    gains = values - values[:, [truth]]
    half = trials // 2
    chosen = truest(gains[:half].mean(axis=0), distance)
    held = gains[half:, chosen]
    return Verification(
        rule.name,
        family.name,
        trials,
        float(np.mean([level for _, level in tried])),
        places[chosen],
        float(held.mean()),
        float(held.std(ddof=1) / np.sqrt(len(held))),
        float(paired_p_values(held[:, None])[0]),
        float(gains.mean(axis=0).max()),
        float((gains.max(axis=1) > tolerance).mean()),
        tolerance,
    )


def _tried(
    game: Game,
    rule: Payment,
    family: Shift | Affine,
    others: float,
    agent: int,
    seed: int,
) -> tuple[FloatArray, float]:
    """Payoffs of all the deviations in one game, and the utility of the truth."""
    beliefs = game.draw(seed)
    table = game.table(beliefs, rule, family, "all", seed)
    truth = np.ascontiguousarray(table.beliefs.values[:, agent])
    sent = np.clip(table.beliefs.values + others, 0.0, 1.0)
    sent[:, agent] = truth
    payoff = rule.payoff(table.seat(agent, sent, table.fitted(sent)))
    level = float(np.mean(payoff.of(truth) + payoff.extra()))
    return family.values(payoff, truth).ravel(), level


def _candidates(
    family: Shift | Affine,
) -> tuple[list[tuple[float, ...]], FloatArray]:
    """Every deviation of a family, and how far it lies from the truth."""
    if isinstance(family, Shift):
        return [(float(d),) for d in family.shifts], np.abs(family.shifts)
    intercepts, slopes = np.meshgrid(family.intercepts, family.slopes)
    pairs = [
        tuple(pair)
        for pair in np.stack([intercepts, slopes], 2).reshape(-1, 2).tolist()
    ]
    return pairs, np.asarray(np.abs(intercepts) + np.abs(slopes - 1)).ravel()
