r"""Twelve-class intrusion detection, made by seed: normal traffic and eleven attacks.

The paper prints neither its shares nor its features (sec:multiclass,
apd:multiclass_sim). The shares here are what its tables add up with: recalls in
tab:perclass are fractions of 404, 303, 202, 151, 126, 101, 76 and 50 test rows
(PortScan to Web_Attack), which is 8, 6, 4, 3, 2.5, 2, 1.5 and 1 parts in 99 of 5,000;
with 60 parts BENIGN and 10 DoS_Hulk they give back the accuracies of tab:multiclass to
the last digit. One part is left for Infiltration and Heartbleed; how it is split is our
guess. The features are our own.
"""

from typing import ClassVar, final

import numpy as np

from truepool.agents.features import Features
from truepool.core.arrays import FloatArray, IntArray
from truepool.core.errors import SettingError
from truepool.datasets import Dataset
from truepool.datasets.sampling import generator

PARTS = {
    "BENIGN": 60.0,
    "DoS_Hulk": 10.0,
    "PortScan": 8.0,
    "DDoS": 6.0,
    "DoS_GoldenEye": 4.0,
    "FTP_Patator": 3.0,
    "SSH_Patator": 2.5,
    "DoS_Slowloris": 2.0,
    "Bot": 1.5,
    "Web_Attack": 1.0,
    "Infiltration": 0.7,
    "Heartbleed": 0.3,
}
SHARES = np.array(list(PARTS.values())) / sum(PARTS.values())
ATTACKS = len(PARTS) - 1


@final
class Intrusion(Dataset):
    """60.6 % benign, eight attacks of 4 % and less; the rarer, the better hidden."""

    name: ClassVar[str] = "intrusion"
    rows: ClassVar[int] = 20_000
    columns: ClassVar[int] = 30
    labels: ClassVar[tuple[str, ...]] = tuple(PARTS)
    source: ClassVar[str] = "made by seed"
    licence: ClassVar[str] = "BSD-3"
    cite: ClassVar[str] = "after tab:perclass and tab:multiclass of the 2026 paper"

    @classmethod
    def load(
        cls,
        rows: int = 20_000,
        seed: int | np.random.Generator = 0,
        *,
        features: int = 30,
        clear: float = 6.0,
        faint: float = 2.0,
    ) -> Features:
        r"""Rows of twelve normal distributions, one per class, with the same spread.

        .. math:: x_t = s_{y_t} u_{y_t} + e_t, \qquad e_t \sim N(0, I),

        with directions :math:`u_k` at right angles, drawn by seed. BENIGN lies at the
        origin (:math:`s_0 = 0`); distances fall evenly from ``clear`` for the commonest
        attack to ``faint`` for the rarest. So the best recall against BENIGN alone is
        :math:`\Phi(s_k / 2 - \ln(\pi_0 / \pi_k) / s_k)`, and an agent that sees a part
        of the features has as large a part of every :math:`s_k^2`, on average.

        Parameters
        ----------
        rows : int
            How many; each class gets its exact share.
        seed : int or Generator
            Draws directions, noise and order.
        features : int
            At least 11, one direction per attack.
        clear, faint : float
            How far the commonest and the rarest attack lie from normal traffic, in
            standard deviations.

        Examples
        --------
        >>> Intrusion.load(1000, seed=1)
        Features(intrusion: 1,000 rows, 30 features, 12 classes, 0 missing)
        """
        if rows < 20:
            raise SettingError(f"rows must be at least 20; got {rows}")
        if features < ATTACKS:
            raise SettingError(
                f"features must be at least {ATTACKS}, one direction per attack; "
                f"got {features}"
            )
        if not (np.isfinite([clear, faint]).all() and min(clear, faint) >= 0):
            raise SettingError(
                f"distances must be finite and not negative; clear is {clear!r}, faint "
                f"{faint!r}"
            )
        ways, noise, order = generator(seed).spawn(3)
        centres = np.zeros((len(PARTS), features))
        centres[1:] = _directions(features, ways)
        centres[1:] *= np.linspace(clear, faint, ATTACKS)[:, None]
        outcomes = order.permutation(np.repeat(np.arange(len(PARTS)), counts(rows)))
        values = centres[outcomes] + noise.normal(size=(rows, features))
        return Features(values, outcomes, labels=cls.labels, name=cls.name, copy=False)


def counts(rows: int) -> IntArray:
    """Rows of each class: whole numbers nearest to the shares that sum to ``rows``.

    >>> counts(990)
    array([600, 100,  80,  60,  40,  30,  25,  20,  15,  10,   7,   3])
    """
    exact = SHARES * rows
    whole = np.floor(exact).astype(np.int64)
    short = rows - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:short]] += 1
    return whole


def _directions(features: int, rng: np.random.Generator) -> FloatArray:
    """Eleven unit vectors at right angles to each other, (11, F)."""
    frame, _ = np.linalg.qr(rng.normal(size=(features, ATTACKS)))
    return np.asarray(frame.T)


intrusion = Intrusion.load
