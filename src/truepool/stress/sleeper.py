"""The agent that earns trust, and then spends it."""

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import BoolArray, FloatArray
from truepool.core.errors import SettingError
from truepool.data.panel import Panel
from truepool.online import replay
from truepool.stress.interface import Stress
from truepool.stress.label_flip import LabelFlip


@final
@dataclass(frozen=True)
class Sleeper(Stress):
    """Honest at first, under another stress ever after it turns.

    Cases count in the order of time, if they have times. It turns after a share of
    them, or in the case after its weight has first reached ``weight`` under a learner
    that is replayed over the panel as it was given; if it never gets there, never.

    Parameters
    ----------
    then : Stress
        What it does once it has turned; `LabelFlip` by default.
    at : float
        Share of the cases before it turns, unless ``weight`` is given.
    weight : float, optional
        Weight that makes it turn.
    learner : str
        By whose weights; one of `truepool.learners.every`.

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
    then: Stress = field(default_factory=LabelFlip)
    at: float = 0.5
    weight: float | None = None
    learner: str = "gradient"

    def __post_init__(self) -> None:
        if not 0 <= self.at <= 1:
            raise SettingError(
                f"at must be the share of the cases before it turns, in [0, 1]; it is "
                f"{self.at!r}"
            )
        if self.weight is not None and not 0 < self.weight <= 1:
            raise SettingError(
                f"a weight that makes it turn must lie in (0, 1]; it is {self.weight!r}"
            )

    def _said(self, panel: Panel, who: list[int], seed: int) -> FloatArray:
        turned = np.empty((len(panel), len(who)), dtype=np.bool_)
        turned[panel.order] = self._turned(panel.sort_by_time(), who)
        names = [panel.agents[i] for i in who]
        after = self.then(panel, names, seed=seed).values[:, who]
        return np.where(turned[..., None], after, panel.values[:, who])

    def _turned(self, panel: Panel, who: list[int]) -> BoolArray:
        """Whether each agent (T, len(who)) has turned, cases in the order of time."""
        T = len(panel)
        if self.weight is None:
            # 0.7 * 10 is a little more than 7, and case 7 is meant
            late = np.arange(T) >= self.at * T - 1e-9
            return np.repeat(late[:, None], len(who), axis=1)
        held = replay(self.learner, panel).weights
        if held is None:
            raise AssertionError("a replay keeps the path unless told not to")
        # Before the first case nobody has earned anything.
        earned = np.logical_or.accumulate(held[1:T, who] >= self.weight)
        return np.concatenate([np.zeros((1, len(who)), dtype=np.bool_), earned])
