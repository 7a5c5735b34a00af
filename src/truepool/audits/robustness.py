"""The pool if its best agent fails, goes silent, or turns against it."""

import numpy as np

from truepool.audits.evidence import Evidence
from truepool.audits.values import CaseStudy
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray
from truepool.measures.losses import Loss, agent_losses
from truepool.stress.constant import ConstantLow
from truepool.stress.interface import Stress
from truepool.stress.label_flip import LabelFlip
from truepool.stress.noise import RandomNoise

TURNS: tuple[tuple[str, Stress], ...] = (
    ("reports noise", RandomNoise()),
    ("always says that nothing happens", ConstantLow()),
    ("says the opposite", LabelFlip()),
)


def best_agent(evidence: Evidence) -> str:
    """Agent of least Brier loss."""
    panel = evidence.panel
    return panel.agents[int(np.argmin(agent_losses(panel, Loss("brier"))))]


def robustness(evidence: Evidence) -> tuple[CaseStudy, ...]:
    """Cost a case if the best agent changed after the pool was learned."""
    if evidence.shortage is not None:
        return ()
    who = best_agent(evidence)
    i = evidence.panel.agents.index(who)
    part = evidence.panel.take(evidence.looked)
    studies = [_study(evidence, "falls silent", who, evidence.rises[:, i])]
    for what, stress in TURNS:
        values = stress(part, who, seed=evidence.seed).values
        pooled = evidence.judged.answers(values, evidence.looked)
        cost = evidence.loss.of(pooled, part.outcomes)
        studies.append(_study(evidence, what, who, cost - evidence.looked_cost))
    return tuple(studies)


def _study(evidence: Evidence, what: str, who: str, rise: FloatArray) -> CaseStudy:
    cost, by = (
        evidence.estimate(series) for series in (evidence.looked_cost + rise, rise)
    )
    return CaseStudy(what, who, _sure(cost), _sure(by))


def _sure(estimate: Estimate | None) -> Estimate:
    if estimate is None:  # there are cases enough
        raise AssertionError
    return estimate
