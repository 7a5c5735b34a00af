"""AdaHedge: exponential weights that set their own rate."""

from dataclasses import dataclass
from typing import ClassVar, Literal, final

from truepool.learners.exponential import GAP, Exponential
from truepool.learners.interface import Signal


@final
@dataclass(frozen=True, kw_only=True)
class AdaHedge(Exponential):
    r"""Parameter-free exponential weights (de Rooij et al., JMLR 2014).

    The rate is :math:`\ln N / \Delta` with :math:`\Delta` the mixability gap so far: it
    stays high on easy sequences. Regret at most :math:`\sqrt{\ln N \sum_t s_t^2} +
    S(\tfrac43 \ln N + 2)`, whatever the scale of the losses.
    """

    name: ClassVar[str] = "adahedge"
    excused: ClassVar = {
        "asleep": "its rate may change after any case, which moves every weight"
    }
    signal: Literal["own", "slope"] = "slope"

    @property
    def hears(self) -> Signal:
        """Slopes, or own losses."""
        return self.signal

    @property
    def mode(self) -> int:
        """By the mixability gap."""
        return GAP
