"""Whether an agent says the opposite of what happens."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.special import ndtri

from truepool.audits.calibration import supported
from truepool.audits.evidence import Evidence
from truepool.audits.suspicion import Suspicion
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray, to_classes
from truepool.measures.inference import paired_p_values
from truepool.measures.scores import auc
from truepool.stress.label_flip import LabelFlip

CLEARLY = 0.45
"""Area under the ROC curve below which an agent is upside down, not just useless."""

name = "agents upside down"


def check(evidence: Evidence) -> Iterator[Suspicion]:
    r"""One test an agent: is it *less* sure of what happens than of what does not.

    :math:`\sum_k \mathrm{cov}(p_k, 1[y = k])`, by a t-test over the cases; its sign is
    that of AUC - 1/2 for two classes, and K classes need no other.
    """
    panel = evidence.panel
    share = np.bincount(panel.outcomes, minlength=panel.classes) / len(panel)
    for i, agent in enumerate(panel.agents):
        spoke = ~np.isnan(panel.values[:, i, 0])
        said, outcomes = panel.values[spoke, i], panel.outcomes[spoke]
        leaning = _leaning(said, outcomes, share)
        below = len(leaning) > 1 and leaning.mean() < 0
        p = float(paired_p_values(leaning[:, None])[0]) if below else 1.0
        ranked = auc(to_classes(said), outcomes) if p < 0.05 else 0.5
        yield Suspicion(
            "upside-down",
            (agent,),
            f"{agent} is upside down: the likelier it calls an event, the rarer it is "
            f"(AUC {ranked:.2f}).",
            f"Ask {agent} which class it means by 1; until then leave it out, or take "
            "one minus what it says.",
            p_value=p,
            matters=ranked < CLEARLY,
            number=_area(ranked, outcomes, evidence.level),
            unit="AUC",
            price=partial(_price, evidence, agent),
            figure="credit",
        )


def _leaning(said: FloatArray, outcomes: IntArray, share: FloatArray) -> FloatArray:
    """Probability given to what happened, less what it would get by chance."""
    spelled = to_classes(said)
    given = np.take_along_axis(spelled, outcomes[:, None], axis=1)[:, 0]
    return np.asarray(given - spelled @ share)


def _area(ranked: float, outcomes: IntArray, level: float) -> Estimate:
    """Area under the curve with the interval of Hanley & McNeil (1982), two classes."""
    ones, zeros = int((outcomes == 1).sum()), int((outcomes == 0).sum())
    if ones + zeros < len(outcomes) or not supported(outcomes):
        return Estimate(ranked, float("nan"), float("nan"))
    above, below = ranked / (2 - ranked), 2 * ranked**2 / (1 + ranked)
    spread = ranked * (1 - ranked)
    spread += (ones - 1) * (above - ranked**2) + (zeros - 1) * (below - ranked**2)
    reach = float(ndtri((1 + level) / 2) * np.sqrt(max(spread, 0.0) / (ones * zeros)))
    return Estimate(ranked, max(ranked - reach, 0.0), min(ranked + reach, 1.0))


def _price(evidence: Evidence, agent: str) -> Estimate | None:
    """What the pool costs more than with the agent turned around."""
    turned = LabelFlip()(evidence.panel, agent)
    return evidence.estimate(evidence.cost - evidence.cost_of(turned))
