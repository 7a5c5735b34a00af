"""Beliefs: the probability that each agent holds in each case, and the outcomes."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import BeliefError, SettingError, UnknownNameError
from truepool.core.seeds import check_seed
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool_lab.games.given_outcome import (
    OutcomeSignals,
    draw_given_outcome,
    outcome_copulas,
    outcome_marginals,
)
from truepool_lab.games.marginals import marginal
from truepool_lab.games.signals import (
    TRUTHS,
    Signals,
    draw_signals,
    signal_correlation,
)

MODELS = ("copula", "factor", "outcome")
CLIPPED_SHARE = 0.05
"""Share of clipped beliefs above which a warning is given."""

MAX_BELIEFS = 10**8
"""Largest number of beliefs in a game, agents times cases: about 1 GB per array."""


class ClippedBeliefsWarning(UserWarning):
    """Clipping beliefs to [0, 1] made their offset smaller than requested."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Beliefs of N agents in T cases, with the outcomes and their probabilities.

    Attributes
    ----------
    values : (T, N)
        The beliefs, in [0, 1].
    chance : (T,)
        Probability of a positive outcome; the outcome itself where no more is known.
    outcomes : (T,)
        The outcomes, drawn with these probabilities.
    clipped_share : float
        Share of the beliefs that were clipped to [0, 1] after the offset.
    signals : Signals or OutcomeSignals, optional
        The model of the beliefs; None where they come from a panel.
    """

    values: FloatArray
    chance: FloatArray
    outcomes: IntArray
    clipped_share: float = 0.0
    signals: Signals | OutcomeSignals | None = None

    def __post_init__(self) -> None:
        for name in ("values", "chance", "outcomes"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return int(self.values.shape[1])

    @property
    def offset(self) -> float:
        """Mean belief minus mean outcome probability: the offset after clipping."""
        return float(self.values.mean() - self.chance.mean())

    @property
    def correlation(self) -> float:
        """Mean Pearson correlation over all pairs of agents."""
        table = np.asarray(np.corrcoef(self.values, rowvar=False))
        return float(table[np.triu_indices(self.agents, 1)].mean())

    def posterior(self, agents: Sequence[int]) -> FloatArray:
        """Probability of a positive outcome given what these agents know, (T,).

        For a panel it is defined for one agent only: isotonic regression of the
        outcomes on its reports, on the same cases.
        """
        if self.signals is not None:
            return self.signals.posterior(agents)
        if len(agents) > 1:
            raise SettingError(
                "what several agents know together cannot be estimated from a panel; "
                "pass sees='none', or another response than 'exact'"
            )
        from sklearn.isotonic import IsotonicRegression

        own = self.values[:, agents[0]]
        fitted = IsotonicRegression(y_min=0, y_max=1).fit_transform(own, self.chance)
        return np.asarray(fitted, dtype=np.float64)

    def __repr__(self) -> str:
        return (
            f"Beliefs({len(self):,} cases, {self.agents} agents, "
            f"correlation {self.correlation:.3f}, offset {self.offset:+.3f})"
        )


def draw_beliefs(
    agents: int = 5,
    correlation: float = 0.5,
    mean: float = 0.3,
    offset: float = 0.0,
    *,
    concentration: float = 4.0,
    model: str = "copula",
    truth: str = "mean",
    cases: int = 10_000,
    seed: int = 0,
    separation: float | None = None,
    posterior: bool = True,
) -> Beliefs:
    """Draw correlated beliefs, and outcomes that depend on them.

    Parameters
    ----------
    agents, correlation, mean, concentration
        The number of agents; the Pearson correlation of two agents' beliefs; the base
        rate E[y]; how closely beliefs lie around it (a + b of a Beta distribution).
    offset : float
        E[b] - E[y]: added to calibrated beliefs, which are then clipped to [0, 1]; for
        ``outcome`` added to the means that beliefs have given each outcome.
    model : ``copula``, ``factor`` or ``outcome``
        Beta marginals under a Gaussian copula; or agents who each observe the factor
        behind the outcome with noise and are calibrated when ``truth='latent'``; or
        Beta beliefs drawn given the outcome, as those of classifiers, with this
        correlation given the outcome.
    truth : ``mean`` or ``latent``
        Pr(y = 1) is the mean of the calibrated beliefs, or given by the shared factor.
        For ``outcome``, where the outcome comes first, only the default.
    separation : float, optional
        For ``outcome``: mean belief given 1 minus mean belief given 0. By default
        1 / (concentration + 1), with which every agent is calibrated by itself.
    posterior : bool
        For ``outcome``: whether ``chance`` is what all agents know together, or the
        outcome itself, which is much faster to draw.

    Examples
    --------
    >>> draw_beliefs(agents=3, correlation=0.5, cases=100_000)
    Beliefs(100,000 cases, 3 agents, correlation 0.498, offset +0.000)
    """
    check(
        agents, correlation, mean, offset, concentration, model, truth, cases,
        separation,
    )  # fmt: skip
    check_seed(seed)
    rng = np.random.default_rng(seed)
    if model == "outcome":
        shapes = outcome_marginals(mean, offset, concentration, separation)
        copulas = outcome_copulas(shapes, correlation, agents)
        given, known = draw_given_outcome(mean, shapes, copulas, agents, cases, rng)
        everybody = given.posterior(range(agents)) if posterior else known.astype(float)
        return Beliefs(given.values, everybody, known, 0.0, given)
    shape = marginal(model, mean, concentration)
    signals = draw_signals(shape, truth, agents, correlation, cases, rng)
    calibrated = signals.beliefs()
    chance = signals.chance(calibrated)
    outcomes = (rng.random(cases) < chance).astype(np.int64)
    shifted = calibrated + offset
    values = np.clip(shifted, 0.0, 1.0)
    clipped = float((shifted != values).mean()) if offset else 0.0
    beliefs = Beliefs(values, chance, outcomes, clipped, signals)
    if clipped > CLIPPED_SHARE:
        warnings.warn(
            f"the offset {offset:+g} moves {100 * clipped:.1f} % of the beliefs out of "
            f"[0, 1]; after clipping the offset is {beliefs.offset:+.3f}",
            ClippedBeliefsWarning,
            stacklevel=2,
        )
    return beliefs


def from_panel(panel: Panel) -> Beliefs:
    """Use the reports of a panel as beliefs; a missing one is the mean of the others.

    >>> from_panel(Panel([[0.9, 0.6], [0.2, 0.4], [0.7, 0.9]], [1, 0, 1])).chance
    array([1., 0., 1.])
    """
    if panel.classes != 2:
        raise SettingError(
            f"a game needs a panel with two classes; got {panel.classes} classes"
        )
    values = np.asfortranarray(panel.fill_missing().reports)
    return Beliefs(values, panel.outcomes.astype(np.float64), panel.outcomes)


def check(
    agents: int,
    correlation: float,
    mean: float,
    offset: float,
    concentration: float,
    model: str,
    truth: str,
    cases: int,
    separation: float | None = None,
) -> None:
    """Refuse settings from which no beliefs can be drawn."""
    check_count("agents", agents, 2)
    check_count("cases", cases, 2)
    if agents * cases > MAX_BELIEFS:
        raise SettingError(
            f"a game may have at most {MAX_BELIEFS:,} beliefs; got {agents:,} agents "
            f"times {cases:,} cases. Use fewer cases."
        )
    if not -1 < offset < 1:
        raise BeliefError(f"an offset must lie between -1 and 1; got {offset!r}")
    if model not in MODELS:
        raise UnknownNameError("model of beliefs", model, MODELS)
    if model == "outcome":
        _check_outcome_first(truth)
        shapes = outcome_marginals(mean, offset, concentration, separation)
        outcome_copulas(shapes, correlation, agents)
        return
    if separation is not None:
        raise SettingError(
            "a separation is that of beliefs given the outcome; got one for the model "
            f"{model!r}. Leave it out, or pass model='outcome'."
        )
    signal_correlation(marginal(model, mean, concentration), truth, agents, correlation)


def _check_outcome_first(truth: str) -> None:
    if truth not in TRUTHS:
        raise UnknownNameError("truth", truth, TRUTHS)
    if truth != "mean":
        raise SettingError(
            "with beliefs given the outcome, outcomes depend on nothing else; got the "
            f"truth {truth!r}. Leave it out, or choose another model of beliefs."
        )


def check_count(what: str, count: int, least: int) -> None:
    """Refuse a count that is not a whole number of at least ``least``."""
    if not isinstance(count, int | np.integer) or count < least:
        raise SettingError(
            f"a game needs a whole number of {what}, at least {least}; got {count!r}"
        )


def check_costs(costs: Costs) -> None:
    """Refuse costs per case, and benefits."""
    if not costs.constant or (costs.tp, costs.tn) != (0.0, 0.0):
        raise SettingError(
            "agents' incentives are known for one cost of a missed case and one of a "
            "false alarm; got costs per case or benefits. Give two numbers, fn and fp."
        )
