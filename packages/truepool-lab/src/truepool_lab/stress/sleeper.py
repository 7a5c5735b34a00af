"""An agent that is honest until it turns hostile."""

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import BoolArray, FloatArray
from truepool.core.errors import SettingError
from truepool.online import replay
from truepool.panel.panel import Panel
from truepool_lab.stress.interface import Stress
from truepool_lab.stress.label_flip import LabelFlip


@final
@dataclass(frozen=True)
class Sleeper(Stress):
    """Honest at first; under another stress once it has turned.

    Cases count in the order of time, if they have times. An agent turns after a share
    of the cases, or in the case after its weight first reaches ``weight`` under a
    learner that is replayed over the panel; if it never does, the agent never turns.

    Parameters
    ----------
    stress : Stress
        The stress after the turn; `LabelFlip` by default.
    at : float
        Share of the cases before the turn, unless ``weight`` is given.
    weight : float, optional
        Weight at which the agent turns.
    learner : str
        The learner of the weights; one of `truepool.learners.every`.

    Examples
    --------
    >>> panel = Panel([[0.9, 0.6], [0.2, 0.3]] * 2, [1, 0] * 2, agents=("ada", "bob"))
    >>> Sleeper()(panel, "bob").reports
    array([[0.9, 0.6],
           [0.2, 0.3],
           [0.9, 0.4],
           [0.2, 0.7]])
    """

    name: ClassVar[str] = "sleeper"
    stress: Stress = field(default_factory=LabelFlip)
    at: float = 0.5
    weight: float | None = None
    learner: str = "gradient"

    def __post_init__(self) -> None:
        if not 0 <= self.at <= 1:
            raise SettingError(
                "at must be the share of the cases before the turn, in [0, 1]; got "
                f"{self.at!r}"
            )
        if self.weight is not None and not 0 < self.weight <= 1:
            raise SettingError(
                "the weight at which an agent turns must lie in (0, 1]; got "
                f"{self.weight!r}"
            )

    def _transform(self, panel: Panel, columns: list[int], seed: int) -> FloatArray:
        turned = np.empty((len(panel), len(columns)), dtype=np.bool_)
        turned[panel.order] = self._turn(panel.sort_by_time(), columns)
        names = [panel.agents[i] for i in columns]
        after = self.stress(panel, names, seed=seed).values[:, columns]
        return np.where(turned[..., None], after, panel.values[:, columns])

    def _turn(self, panel: Panel, columns: list[int]) -> BoolArray:
        """Whether each agent has turned, (T, len(columns)), in the order of time."""
        T = len(panel)
        if self.weight is None:
            # 0.7 * 10 is a little more than 7, and case 7 is meant
            late = np.arange(T) >= self.at * T - 1e-9
            return np.repeat(late[:, None], len(columns), axis=1)
        weights = replay(self.learner, panel).weights
        if weights is None:
            raise AssertionError("a replay records the weights unless path=False")
        # Weights before the first case are not earned.
        earned = np.logical_or.accumulate(weights[1:T, columns] >= self.weight)
        return np.concatenate([np.zeros((1, len(columns)), dtype=np.bool_), earned])
