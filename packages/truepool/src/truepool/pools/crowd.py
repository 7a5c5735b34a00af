"""Dawid and Skene's model of a crowd: how often each voter errs, without labels."""

from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import FloatArray, from_classes, to_classes
from truepool.panel.panel import Panel
from truepool.pools.interface import Pool, learned

SUPPORT = 1.0
"""Votes of each kind that every voter is granted beforehand, and one more right one."""
MAX_STEPS, PRECISION = 200, 1e-8


@final
class Crowd(Pool):
    r"""Votes weighed by how often each voter errs, learned without the outcomes.

    Every report counts as a vote for its likeliest class; a tie is no vote. With
    :math:`\theta_{iyk}` the chance that agent i votes k when y happens and
    :math:`\pi_y` the rate of y,

    .. math:: p_y \propto \pi_y \prod_i \theta_{i y v_i}

    (Dawid and Skene 1979). Both are estimated from the votes alone, by expectation
    maximisation from the shares of the votes, with one vote of each kind and one more
    right one granted to every voter.

    It is meant for sparse crowds: many voters, few votes per case. Where a few agents
    all answer, it takes errors that they share for skill and loses to the mean. It is
    never tried by default.

    Attributes
    ----------
    votes_ : (N, K, K)
        Chance of each vote, by agent and true class.
    rates_ : (K,)
        Rate of each class.

    Examples
    --------
    >>> votes = [[1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0]] * 5
    >>> pool = Crowd().fit(votes, [1, 0, 1, 0] * 5)
    >>> pool.predict_proba([[1, 1, 0]])[:, 1].round(2)
    array([0.99])
    """

    name: ClassVar[str] = "crowd"
    complexity: ClassVar[int] = 2
    by_default: ClassVar[bool] = False
    exemptions: ClassVar = {
        "unanimity": "votes are counted, not probabilities: many voters who agree are "
        "surer than each of them",
    }

    votes_: FloatArray = learned()
    rates_: FloatArray = learned()

    def _learn(self, panel: Panel, case_weights: FloatArray | None) -> None:
        ballots = _ballots(panel.values)
        N, K = len(panel.agents), panel.classes
        cases = np.ones(len(panel)) if case_weights is None else case_weights
        counts = ballots.reshape(-1, N, K).sum(axis=1) + 1.0 / K
        beliefs = counts / counts.sum(axis=1, keepdims=True)
        granted = SUPPORT * (np.ones((K, K)) + np.eye(K))
        for _ in range(MAX_STEPS):
            weighed = beliefs * cases[:, None]
            votes = (weighed.T @ ballots).reshape(K, N, K).swapaxes(0, 1) + granted
            self.votes_ = votes / votes.sum(axis=2, keepdims=True)
            rates = weighed.sum(axis=0) + SUPPORT
            self.rates_ = rates / rates.sum()
            before, beliefs = beliefs, self._posterior(ballots)
            if np.abs(beliefs - before).max() <= PRECISION:
                break

    def combine(self, values: FloatArray) -> FloatArray:
        """Pool checked reports (T, N, C) into (T, C)."""
        return from_classes(self._posterior(_ballots(values)))

    def _posterior(self, ballots: FloatArray) -> FloatArray:
        """Chance (T, K) of each class, given the votes (T, N * K)."""
        K = len(self.rates_)
        evidence = ballots @ np.log(self.votes_).swapaxes(1, 2).reshape(-1, K)
        scores = np.log(self.rates_) + evidence
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        posterior: FloatArray = powers / powers.sum(axis=1, keepdims=True)
        return posterior


def _ballots(values: FloatArray) -> FloatArray:
    """Votes (T, N * K) for the likeliest class; none on a tie or without a report."""
    chances = to_classes(values)
    first = chances == chances.max(axis=2, keepdims=True)  # never true of NaN
    sole = first.sum(axis=2, keepdims=True) == 1
    votes: FloatArray = (first & sole).astype(np.float64)
    return votes.reshape(-1, first.shape[1] * first.shape[2])
