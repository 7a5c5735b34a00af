"""Beliefs: what each agent thinks in each case, and what then happens."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import BeliefError, SettingError
from truepool.data.panel import Panel
from truepool.games.marginals import marginal
from truepool.games.signals import Signals, draw_signals, feasible

CLIPPED_SHARE = 0.05
"""Share of beliefs pushed out of [0, 1] above which a warning is due."""


class ClippedBeliefsWarning(UserWarning):
    """An offset pushed beliefs out of [0, 1]: less of it arrived than was asked."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What N agents believe in T cases, the chance of each outcome, and the outcomes.

    Attributes
    ----------
    values : (T, N)
        The beliefs, in [0, 1].
    chance : (T,)
        Probability of the outcome; the outcome itself where no more is known.
    outcomes : (T,)
        What happened, drawn from the chance.
    clipped : float
        Share of the beliefs that an offset pushed out of [0, 1].
    signals : Signals, optional
        The model behind the beliefs; none where they come from a panel.
    """

    values: FloatArray
    chance: FloatArray
    outcomes: IntArray
    clipped: float = 0.0
    signals: Signals | None = None

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
        """Mean belief less mean chance: the offset that arrived."""
        return float(self.values.mean() - self.chance.mean())

    @property
    def correlation(self) -> float:
        """Mean Pearson correlation over the pairs of agents."""
        table = np.asarray(np.corrcoef(self.values, rowvar=False))
        return float(table[np.triu_indices(self.agents, 1)].mean())

    def posterior(self, known: Sequence[int]) -> FloatArray:
        """Probability of the outcome given what these agents know, (T,).

        From a panel it is known for one agent only: the best rising function of its
        reports (isotonic regression, on the same cases).
        """
        if self.signals is not None:
            return self.signals.posterior(known)
        if len(known) > 1:
            raise SettingError(
                "what several agents know together cannot be read off a panel; "
                "take sees='none', or another response than 'exact'"
            )
        from sklearn.isotonic import IsotonicRegression

        own = self.values[:, known[0]]
        fitted = IsotonicRegression(y_min=0, y_max=1).fit_transform(own, self.chance)
        return np.asarray(fitted, dtype=np.float64)

    def __repr__(self) -> str:
        return (
            f"Beliefs({len(self):,} cases, {self.agents} agents, "
            f"correlation {self.correlation:.3f}, offset {self.offset:+.3f})"
        )


def drawn(
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
) -> Beliefs:
    """Draw correlated beliefs and the outcomes that follow from them.

    Parameters
    ----------
    agents, correlation, mean, concentration
        How many agents; the Pearson correlation of two agents' beliefs; the base rate
        E[y]; how close beliefs lie to it (a Beta's a + b).
    offset : float
        E[b] - E[y]: calibrated beliefs are pushed by this much and clipped.
    model : ``copula`` or ``factor``
        Beta marginals under a Gaussian copula; or agents who each see the factor
        behind the outcome through noise and are calibrated when ``truth='latent'``.
    truth : ``mean`` or ``latent``
        Pr(y = 1) is the mean of the calibrated beliefs, or follows the shared factor.

    Examples
    --------
    >>> drawn(agents=3, correlation=0.5, cases=100_000)
    Beliefs(100,000 cases, 3 agents, correlation 0.498, offset +0.000)
    """
    check(agents, correlation, mean, offset, concentration, model, truth, cases)
    rng = np.random.default_rng(seed)
    shape = marginal(model, mean, concentration)
    signals = draw_signals(shape, truth, agents, correlation, cases, rng)
    calibrated = signals.beliefs()
    chance = signals.chance(calibrated)
    outcomes = (rng.random(cases) < chance).astype(np.int64)
    pushed = calibrated + offset
    values = np.clip(pushed, 0.0, 1.0)
    clipped = float((pushed != values).mean()) if offset else 0.0
    beliefs = Beliefs(values, chance, outcomes, clipped, signals)
    if clipped > CLIPPED_SHARE:
        warnings.warn(
            f"the offset {offset:+g} pushes {100 * clipped:.1f} % of the beliefs out "
            f"of [0, 1]; clipped there, {beliefs.offset:+.3f} of it arrives",
            ClippedBeliefsWarning,
            stacklevel=2,
        )
    return beliefs


def from_panel(panel: Panel) -> Beliefs:
    """Take the reports of a panel for beliefs; a silent agent agrees with the others.

    >>> from_panel(Panel([[0.9, 0.6], [0.2, 0.4], [0.7, 0.9]], [1, 0, 1])).chance
    array([1., 0., 1.])
    """
    if panel.classes != 2:
        raise SettingError(
            f"games are played with two classes; the panel has {panel.classes}"
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
) -> None:
    """Refuse beliefs that cannot be drawn, and say what could be."""
    if agents < 2:
        raise BeliefError(f"a game needs at least 2 agents; {agents!r} came")
    if cases < 2:
        raise BeliefError(f"a game needs at least 2 cases; {cases!r} came")
    if not -1 < offset < 1:
        raise BeliefError(f"an offset must lie between -1 and 1; it is {offset!r}")
    feasible(marginal(model, mean, concentration), truth, agents, correlation)
