"""Agents made to order: how much they know, how they err, how alike they are."""

from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from truepool.core.arrays import FloatArray, from_log_scale, logit
from truepool.core.errors import AgentError, SettingError
from truepool.datasets.interface import Dataset
from truepool.datasets.sampling import generator
from truepool.panel.panel import Panel

SKILLS = (2.0, 1.5, 1.5, 1.0, 0.5)


@final
class Synthetic(Dataset):
    """A panel of agents whose skill, bias and correlation are known."""

    name: ClassVar[str] = "synthetic"
    rows: ClassVar[int] = 10_000
    columns: ClassVar[int] = len(SKILLS)
    column_kind: ClassVar[str] = "agent"
    labels: ClassVar[tuple[str, ...]] = ("0", "1")
    source: ClassVar[str] = "made by seed"
    licence: ClassVar[str] = "BSD-3"
    cite: ClassVar[str] = "the binormal model of signal detection"

    @classmethod
    def load(
        cls,
        cases: int = 10_000,
        seed: int | np.random.Generator = 0,
        *,
        skill: ArrayLike = SKILLS,
        bias: ArrayLike = 0.0,
        correlation: float = 0.0,
        base_rate: float = 0.3,
    ) -> Panel:
        r"""Agents who see the outcome through noise and report what they believe.

        Agent i sees :math:`x_{ti} = d_i (y_t - \tfrac12) + e_{ti}`, with standard
        normal noise of one ``correlation`` between any two agents, and reports

        .. math:: \operatorname{logit} p_{ti} =
                  d_i x_{ti} + \operatorname{logit}(base\_rate) + b_i.

        With skill :math:`d_i` its AUC is :math:`\Phi(d_i / \sqrt 2)`; without bias
        :math:`b_i` it is calibrated, whatever its skill. Bias is in log-odds: a
        positive one raises too many alarms. One more agent, or another bias, does not
        change the draws of the others.

        Parameters
        ----------
        cases : int
            How many.
        seed : int or Generator
            Draws outcomes and noise.
        skill, bias : array-like (N,)
            Of each agent; one bias may stand for all.
        correlation : float
            Of the agents' noise given the outcome, in [0, 1].
        base_rate : float
            Share of outcomes that are 1.

        Examples
        --------
        >>> Synthetic.load(1000, skill=[2, 1], bias=[0, 0.5], correlation=0.4)
        Panel(1,000 cases, 2 agents (agent0, agent1), 2 classes, 0.0 % missing)
        """
        if cases < 2:
            raise SettingError(f"cases must be at least 2; got {cases}")
        if not 0 < base_rate < 1:
            raise SettingError(f"a base rate must lie in (0, 1); got {base_rate!r}")
        if not 0 <= correlation <= 1:
            raise SettingError(f"a correlation must lie in [0, 1]; got {correlation!r}")
        skills = _each("skill", skill)
        biases = _each("bias", bias, skills.size)
        if biases.shape != skills.shape:
            raise AgentError(
                "skill and bias must hold one number for each agent; they hold "
                f"{skills.size} and {biases.size}"
            )
        happened, together, alone = generator(seed).spawn(3)
        outcomes = happened.random(cases) < base_rate
        shared = together.normal(size=cases)[:, None]
        own = np.stack([a.normal(size=cases) for a in alone.spawn(skills.size)], axis=1)
        noise = np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * own
        seen = skills * (outcomes[:, None] - 0.5) + noise
        odds = skills * seen + logit(np.array(base_rate)) + biases
        return Panel(from_log_scale(odds[..., None])[..., 0], outcomes, copy=False)


def _each(what: str, given: ArrayLike, agents: int = 1) -> FloatArray:
    try:
        array = np.asarray(given, dtype=np.float64)
        if array.ndim == 0 and agents > 1:
            array = np.full(agents, array)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise SettingError(
            f"{what} must be a finite number for each agent; got {given!r:.60}"
        )
    return array


synthetic = Synthetic.load
