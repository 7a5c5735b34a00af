"""The paper's online weights: multiplicative in leave-one-out contributions."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.learners.exponential import Exponential
from truepool.learners.interface import Signal, State, check_rate, horizon_rate


@final
@dataclass(frozen=True, kw_only=True)
class Marginal(Exponential):
    r"""alg:vcg as printed: :math:`w_i \leftarrow w_i e^{\eta \Delta_i} / Z`.

    :math:`\Delta_i = \ell(p_{-i}, y) - \ell(p, y)` at the current weights, and by
    default :math:`\eta = \sqrt{\ln N / T}` (thm:regret). It does **not** have the
    regret bound that the paper states for it, with three agents not even where the
    loss is linear in the weights: to first order :math:`\Delta_i` is proportional to
    :math:`w_i / (1 - w_i)`, so small weights hardly change, and the step shrinks like
    1 / N (READINGS 3). With two agents and such a loss it is Hedge. If one agent has
    nearly all the weight, the others are weighted equally in its absence, which keeps
    the update finite.

    Parameters
    ----------
    rate : float, optional
        By default sqrt(ln N / horizon).
    scale : float
        Multiplies the default rate; 0.5 is the paper's choice under drift.
    uniform : bool
        Use contributions to the *uniform* pool, times N - 1, and redistribute a small
        share equally: the step then depends neither on N nor on the weights.
    """

    name: ClassVar[str] = "marginal"
    rate: float | None = None
    scale: float = 1.0
    uniform: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate(self.rate)
        check_rate(self.scale)

    @property
    def signal(self) -> Signal:
        """Contributions to the current pool, or to the uniform pool."""
        return "uniform" if self.uniform else "marginal"

    @property
    def mixing_rate(self) -> float:
        """One thousandth with contributions to the uniform pool, else 0."""
        return 1e-3 if self.uniform else 0.0

    def learning_rate(self, agents: int, classes: int) -> float:
        """The given rate, or that of thm:regret; times N - 1 if uniform."""
        rate = self.rate
        if rate is None:
            rate = self.scale * horizon_rate(agents, self.horizon)
        return rate * (agents - 1) if self.uniform else rate

    def bound(self, state: State) -> float | None:
        """Return None: the bound the paper states does not hold (READINGS 3)."""
        return None
