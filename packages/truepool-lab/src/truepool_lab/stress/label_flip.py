"""An agent that reports the opposite."""

from dataclasses import dataclass
from typing import ClassVar, final

from truepool.core.arrays import FloatArray
from truepool.panel.panel import Panel
from truepool_lab.stress.interface import Stress


@final
@dataclass(frozen=True)
class LabelFlip(Stress):
    r"""Report :math:`1 - p` (apd:adversarial); applied twice it changes nothing.

    With K classes the probability of class k goes to class :math:`K - 1 - k`, the
    usual label flip of federated learning (Fang et al. 2020).

    >>> panel = Panel([[0.9, 0.6], [0.2, 0.3]], [1, 0], agents=("ada", "bob"))
    >>> LabelFlip()(panel, "bob").reports
    array([[0.9, 0.4],
           [0.2, 0.7]])
    """

    name: ClassVar[str] = "label-flip"

    def _transform(self, panel: Panel, columns: list[int], seed: int) -> FloatArray:
        own = panel.values[:, columns]
        return 1.0 - own if panel.classes == 2 else own[..., ::-1]
