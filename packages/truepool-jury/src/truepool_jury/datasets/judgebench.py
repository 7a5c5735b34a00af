"""JudgeBench: which of two answers is better, by reward models and a language model."""

from typing import ClassVar, final

import numpy as np
from scipy.special import expit

from truepool.core.arrays import FloatArray
from truepool.datasets import Dataset, File
from truepool.panel.panel import Panel
from truepool_jury.datasets.crowds import read_arrays

REWARD_MODELS = 5
STEEPNESS = 1.5
"""Log-odds per standard deviation of a reward model's difference in score."""
VERDICT_LOW, VERDICT_RANGE = 0.1, 0.8
"""A verdict of 0, 1/2 or 1 counts as a probability of 0.1, 0.5 or 0.9."""


@final
class JudgeBench(Dataset):
    """350 pairs of answers; five reward models, and one model asked in both orders."""

    name: ClassVar[str] = "judgebench"
    rows: ClassVar[int] = 350
    columns: ClassVar[int] = 7
    column_kind: ClassVar[str] = "agent"
    labels: ClassVar[tuple[str, ...]] = ("second", "first")
    source: ClassVar[str] = "JudgeBench"
    licence: ClassVar[str] = "public"
    cite: ClassVar[str] = (
        "S. Tan et al., JudgeBench: a benchmark for evaluating LLM-based judges, "
        "ICLR 2025"
    )
    files: ClassVar[tuple[File, ...]] = (
        File(
            "judgebench.npz",
            "3247afbf563a26e7c82f40ea6fccccdcc7d93cd36ff3dd64ff95c37a0637469c",
            7_827,
            folder="jury",
        ),
    )

    @classmethod
    def load(cls) -> Panel:
        """Pairs of answers by one model; 1 where the first is the right one.

        A reward model's difference d in score becomes expit(1.5 d / sd), in tenths; a
        verdict for the first, neither or the second answer becomes 0.9, 0.5 or 0.1. The
        last two judges are one model that saw each pair in both orders.
        """
        (path,) = cls.paths()
        scores, outcomes, judges = read_arrays(path, ("scores", "y", "judges"))
        return Panel(
            judge_probabilities(scores), outcomes, agents=tuple(judges.tolist())
        )


def judge_probabilities(scores: FloatArray) -> FloatArray:
    """Probabilities (T, 7) that the first answer is better."""
    differences = scores[:, :REWARD_MODELS].astype(np.float64)
    scaled = STEEPNESS * differences / differences.std(axis=0)
    verdicts = scores[:, REWARD_MODELS:].astype(np.float64)
    chances = VERDICT_LOW + VERDICT_RANGE * verdicts
    return np.hstack([np.round(expit(scaled), 1), chances])


judgebench = JudgeBench.load
