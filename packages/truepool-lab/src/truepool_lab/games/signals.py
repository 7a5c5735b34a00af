"""What agents know in a model of beliefs: normal signals that share a factor."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from truepool.core.arrays import FloatArray
from truepool.core.errors import BeliefError, UnknownNameError
from truepool_lab.games.given_outcome import correlated
from truepool_lab.games.marginals import (
    Marginal,
    Probit,
    belief_correlation,
    copula_correlation,
    smooth,
)

TRUTHS = ("mean", "latent")


@dataclass(frozen=True, eq=False)
class Signals:
    """Equally correlated signals (T, N) and the factor (T,) that they share.

    ``truth`` says what outcomes depend on: ``mean``, the mean belief of all agents, or
    ``latent``, the shared factor alone.
    """

    values: FloatArray
    factor: FloatArray
    copula: float
    marginal: Marginal
    truth: str

    def beliefs(self) -> FloatArray:
        """Beliefs (T, N) that are right on average, before any offset."""
        return self.marginal.quantile(self.values)

    def chance(self, beliefs: FloatArray) -> FloatArray:
        """Probability of a positive outcome in each case, (T,)."""
        if self.truth == "mean":
            return np.asarray(beliefs.mean(axis=1))
        if isinstance(self.marginal, Probit):
            seen = self.marginal.share / self.copula
            lean = np.sqrt(seen) * self.factor - self.marginal.cut
            spread = np.sqrt(max(1 - seen, 1e-300))
            return np.asarray(ndtr(lean / spread))
        centre = np.sqrt(self.copula) * self.factor
        return smooth(self.marginal, centre, np.sqrt(1 - self.copula))

    def posterior(self, agents: Sequence[int]) -> FloatArray:
        """Probability of a positive outcome given these agents' signals, (T,)."""
        r, count, N = self.copula, len(agents), self.values.shape[1]
        scale = 1 + (count - 1) * r
        total = self.values[:, list(agents)].sum(axis=1)
        if self.truth == "latent" and isinstance(self.marginal, Probit):
            share, cut = self.marginal.share, self.marginal.cut
            left = max(1 - count * share / scale, 1e-300)
            lean = np.sqrt(share) * total / scale - cut
            return np.asarray(ndtr(lean / np.sqrt(left)))
        spread = np.sqrt(max(1 - count * r * r / scale, 0.0)) if scale > 0 else 0.0
        unseen = smooth(self.marginal, r * total / max(scale, 1e-300), spread)
        if self.truth == "latent":
            return unseen
        seen = self.marginal.quantile(self.values[:, list(agents)]).sum(axis=1)
        return np.asarray((seen + (N - count) * unseen) / N)


def draw_signals(
    marginal: Marginal,
    truth: str,
    agents: int,
    correlation: float,
    cases: int,
    rng: np.random.Generator,
) -> Signals:
    """Draw signals such that beliefs have this Pearson correlation."""
    r = signal_correlation(marginal, truth, agents, correlation)
    factor = rng.standard_normal(cases)
    noise = rng.standard_normal((agents, cases)).T  # each agent's column contiguous
    values = correlated(factor, noise, r)
    return Signals(values, factor, r, marginal, truth)


def signal_correlation(
    marginal: Marginal, truth: str, agents: int, correlation: float
) -> float:
    """Correlation of the signals; an error where there is no such distribution."""
    if truth not in TRUTHS:
        raise UnknownNameError("truth", truth, TRUTHS)
    copula = copula_correlation(marginal, correlation, agents)
    least = -1.0 if truth == "mean" else 0.0
    if truth == "latent" and isinstance(marginal, Probit):
        least = marginal.share  # agents cannot know more than they share
    if copula < least:
        bound = belief_correlation(marginal, least)
        raise BeliefError(
            "with a latent truth and these marginals the correlation of beliefs must "
            f"lie in [{bound:.4f}, 1]; got {correlation!r}. Use truth='mean' or a "
            "larger concentration."
        )
    return copula
