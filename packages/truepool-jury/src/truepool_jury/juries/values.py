"""What the analysis of a jury returns."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from truepool.audits import Calibration
from truepool.audits.values import plain_value
from truepool.comparison import Estimate
from truepool.core import display
from truepool.core.arrays import Array, FloatArray, IntArray
from truepool.core.errors import SourceError
from truepool.measures.inference import Rate
from truepool.panel.costs import Costs
from truepool.panel.labels import Labels
from truepool.pools.training.certainty import LARGEST_CLIP
from truepool_jury.juries.score_scale import ScoreScale
from truepool_jury.measures.automation import Certificate
from truepool_jury.measures.label_plan import LabelPlan

NOT_RANDOM = 0.01
"""Below this p-value the labelled items are said to be no random sample."""

DECIMALS = 15
"""Decimals of a probability in the table of items: what follows is rounding error."""

Advice: TypeAlias = Literal["keep", "drop", "undecided", "keep one", "no relation"]


WEIGHT = "label_weight"
"""Column with the weights of items that were chosen to be labelled."""


@dataclass(frozen=True)
class Judge:
    """One judge: how often it answered and, on the labelled items, how well.

    Attributes
    ----------
    answered : float
        Share of all items that it gave a verdict on.
    labels : int
        Labelled items that it gave a verdict on.
    brier, accuracy : float or None
        On these. A verdict of exactly one half is half right.
    bias : Estimate or None
        Mean of verdict minus label: above 0, the judge is too generous.
    credit : Estimate or None
        How much the Brier loss of the mean verdict rises without this judge.
    advice : {"keep", "drop", "undecided", "keep one", "no relation"} or None
        Keep or drop where the interval of the credit excludes 0. Of near-copies, keep
        one. No relation is to the labels, or a reversed one: none to keep, whatever its
        credit. None where labels are too few.
    calibration : Calibration or None
        Slope and curve: how often verdicts of each height are right.
    auc : Estimate or None
        Chance that a positive item gets a higher verdict than a negative one; below
        one half the judge is reversed. None where labels are too few.
    """

    name: str
    answered: float
    labels: int
    brier: float | None
    accuracy: float | None
    bias: Estimate | None
    credit: Estimate | None
    advice: Advice | None
    calibration: Calibration | None
    auc: Estimate | None = None


@dataclass(frozen=True)
class Copy:
    """A judge that agrees with another one nearly always.

    ``correlation`` is that of their log-odds, ``error_correlation`` that on items of
    one label; None where labels are too few to tell a copy from two judges who are both
    right.
    """

    judge: str
    model: str
    correlation: float
    error_correlation: float | None


@dataclass(frozen=True)
class OrderBias:
    """One judge that saw each pair in both orders.

    ``bias``, in log-odds, is half the mean difference of ``first`` and ``second``; None
    where they share too few items.
    """

    first: str
    second: str
    items: int
    bias: Estimate | None
    p_value: float | None


@dataclass(frozen=True)
class Repetition:
    """One judge that answered more than once: reliability, which is not skill.

    ``runs`` are the columns of its answers, ``items`` the most items that two of them
    share. ``flips`` is the share of verdicts that change sides from one answer to
    another, ``difference`` the mean absolute difference in probability.
    """

    runs: tuple[str, ...]
    items: int
    flips: float | None
    difference: float | None


@dataclass(frozen=True)
class Cost:
    """Cost per item of the decisions, if nobody looks.

    ``fn`` and ``fp`` are shares of all items.

    ``miss_rate`` is the share of positive items that are missed, ``alarm_rate`` the
    share of negative items that are false alarms; None where no label is of that kind.
    """

    value: Estimate
    fn: Rate
    fp: Rate
    miss_rate: Rate | None
    alarm_rate: Rate | None


@dataclass(frozen=True)
class Review:
    """Items for a person within a budget; ``cost_left`` is a share of what is expected.

    The expected cost is that of the pooled probabilities.
    """

    items: int
    cost_left: float


@dataclass(frozen=True)
class Shortage:
    """A statement that is not made, and how many labels it needs."""

    statement: str
    needed: int


@dataclass(frozen=True, eq=False, repr=False)
class Jury:
    """What a jury knows, and how far it can be trusted.

    Attributes
    ----------
    ids : (T,)
        Names of the items; their row numbers where they have none.
    pooled : (T,)
        Pooled probability by ``pool``; of a labelled item out of fold.
    decisions : (T,)
        0 or 1; of a labelled item, its label.
    decided_by : (T,) of str
        "label", "automatic" or "person".
    judges : tuple of Judge
    effective_judges : float
        Number of judges with uncorrelated errors that these are worth; NaN where labels
        are too few to tell.
    rate : Rate or None
        The true share of positive items.
    certificate : Certificate or None
        Which items may be decided without a person, by the pool that no label has
        touched. None within a budget, and where the labels are no random sample: then
        no bound on errors is promised.
    scale : ScoreScale or None
        What each score stands for, where verdicts are scores and labels are enough.
    clip : float
        How close to 0 and 1 a verdict counts in log-odds.
    empty_items : int
        Items that were left out because no judge gave a verdict on them.
    plan : LabelPlan or None
        Which items to label next; its ``cases`` are rows of this jury.
    sample_p_value : float or None
        Test that the labelled items are a random sample of all.
    withheld : tuple of Shortage
        What is not said because labels are too few.
    chosen_labels : int
        Labels that carry the weight of a plan; the others were drawn at random, and
        only these count for the certificate.
    compared_pairs : int
        Pairs of judges that share enough items to look for copies.
    single : bool
        Whether all columns are one judge, who has no colleagues; ``judges`` are then
        its columns.
    """

    ids: Array
    pooled: FloatArray
    decisions: IntArray
    decided_by: Array
    pool: str
    judges: tuple[Judge, ...]
    effective_judges: float
    copies: tuple[Copy, ...]
    order_bias: tuple[OrderBias, ...]
    repetitions: tuple[Repetition, ...]
    rate: Rate | None
    cost: Cost | None
    certificate: Certificate | None
    review: Review | None
    plan: LabelPlan | None
    sample_p_value: float | None
    withheld: tuple[Shortage, ...]
    costs: Costs
    level: float
    labels: Labels
    label_cases: tuple[int, int]
    scale: ScoreScale | None = None
    score_range: tuple[float, float] | None = None
    clip: float = LARGEST_CLIP
    empty_items: int = 0
    chosen_labels: int = 0
    compared_pairs: int = 0
    single: bool = False

    @property
    def selective(self) -> bool:
        """Whether the labelled items are significantly unlike the others."""
        p_value = self.sample_p_value
        return p_value is not None and p_value < NOT_RANDOM

    @property
    def score_scale(self) -> list[tuple[float, float]]:
        """What each score is worth; empty without scores or with few labels."""
        if self.scale is None or self.score_range is None:
            return []
        low, high = self.score_range
        scores = np.round(low + (high - low) * self.scale.shares, 6)
        # The mean of two runs of a judge may lie between two scores.
        whole = scores % 1 == 0
        shown = whole if whole.any() else ~whole
        chances = self.scale.probabilities[shown]
        return list(zip(scores[shown].tolist(), chances.tolist(), strict=True))

    @property
    def needed_labels(self) -> int:
        """Number of labels with which nothing is withheld."""
        return max((shortage.needed for shortage in self.withheld), default=0)

    @property
    def labelled(self) -> int:
        """Number of labelled items."""
        return sum(self.label_cases)

    @property
    def random_labels(self) -> int:
        """Number of labels drawn at random."""
        return self.labelled - self.chosen_labels

    def __len__(self) -> int:
        """Return the number of items, T."""
        return len(self.pooled)

    @property
    def headline(self) -> str:
        """How far the jury can be relied on, in one sentence."""
        return str(display.render("truepool_jury.render.advice", "headline", self))

    @property
    def steps(self) -> tuple[str, ...]:
        """What to do, the most urgent first."""
        return tuple(display.render("truepool_jury.render.advice", "steps", self))

    def columns(self, id: str = "id") -> dict[str, Any]:
        """Return one row per item: ids, pooled, decision, decided_by, label_weight.

        The column of the ids is called ``id``. ``label_weight`` is there with a plan:
        how many items the label will stand for, empty where none is asked for.
        """
        columns: dict[str, Any] = {
            "pooled": np.round(self.pooled, DECIMALS),
            "decision": self.decisions,
            "decided_by": self.decided_by,
        }
        if self.plan is not None:
            weights = np.full(len(self), np.nan)
            weights[self.plan.cases] = self.plan.weights
            columns[WEIGHT] = weights
        if id in columns:
            raise SourceError(
                f"the result has a column {id!r} of its own; rename the id column"
            )
        return {id: self.ids, **columns}

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, ready for JSON; items are in `columns`."""
        kinds, counts = np.unique(self.decided_by, return_counts=True)
        effective = self.effective_judges
        return {
            "headline": self.headline,
            "steps": list(self.steps),
            "items": len(self),
            "empty_items": self.empty_items,
            "labelled": self.labelled,
            "chosen_labels": self.chosen_labels,
            "outcome_labels": self.labels.to_dict(list(self.label_cases)),
            "pool": self.pool,
            "judges": plain_value([asdict(judge) for judge in self.judges]),
            "effective_judges": effective if np.isfinite(effective) else None,
            "copies": [asdict(copy) for copy in self.copies],
            "compared_pairs": self.compared_pairs,
            "order_bias": [asdict(found) for found in self.order_bias],
            "repetitions": [asdict(found) for found in self.repetitions],
            "rate": None if self.rate is None else asdict(self.rate),
            "cost": None if self.cost is None else asdict(self.cost),
            "certificate": _certificate(self.certificate),
            "review": None if self.review is None else asdict(self.review),
            "decided_by": dict(zip(kinds.tolist(), counts.tolist(), strict=True)),
            "label_next": 0 if self.plan is None else len(self.plan.cases),
            "sample_p_value": self.sample_p_value,
            "withheld": [asdict(shortage) for shortage in self.withheld],
            "score_scale": [
                {"score": score, "probability": chance}
                for score, chance in self.score_scale
            ],
            "level": self.level,
        }

    def to_markdown(self) -> str:
        """Return the analysis as a Markdown page."""
        return str(display.render("truepool_jury.render.tables", "markdown", self))

    def to_html(self, path: str | Path) -> None:
        """Write the page as one file that works offline."""
        display.render("truepool_jury.render.page", "write", self, path)

    def __repr__(self) -> str:
        judges = "1 judge" if self.single else f"{len(self.judges)} judges"
        return f"Jury({judges}, {len(self):,} items, {self.labelled:,} labelled)"


def _certificate(found: Certificate | None) -> dict[str, Any] | None:
    """Return a certificate without its items, which are in the table of items."""
    if found is None:
        return None
    numbers = {k: v for k, v in vars(found).items() if not isinstance(v, np.ndarray)}
    return numbers | {"forecast": [asdict(one) for one in found.forecast]}
