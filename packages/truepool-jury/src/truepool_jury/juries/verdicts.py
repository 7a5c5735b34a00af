"""Verdicts of judges on items, some of them labelled, and their label-free mean."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray, logit
from truepool.core.errors import (
    AgentError,
    OutcomeError,
    PanelError,
    SettingError,
    suggestion,
)
from truepool.panel.labels import Labels
from truepool.panel.panel import Panel
from truepool.pools.crowd import Crowd
from truepool.pools.training.certainty import LARGEST_CLIP, RARE_SHARE
from truepool.tables import ReportTable
from truepool_jury.measures.label_plan import combine_weights

MIN_JUDGES = 2
"""A pool needs so many."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Verdicts (T, N) of N judges on T items; ``labels`` (n,) of those ``labelled``.

    ``label_weights`` (n,) say how many items a label stands for that was chosen by a
    plan; NaN where it was drawn at random. ``by_votes`` weighs judges by Dawid and
    Skene's model, for a sparse crowd.
    """

    reports: FloatArray
    judges: tuple[str, ...]
    ids: Array
    labelled: IntArray
    labels: IntArray
    names: Labels
    label_weights: FloatArray = field(default_factory=lambda: np.empty(0))
    by_votes: bool = False

    @classmethod
    def from_panel(
        cls,
        source: Any,
        label_weights: ArrayLike | None = None,
        *,
        by_votes: bool = False,
    ) -> "Verdicts":
        """Return the verdicts of a panel, its pending cases included, or of reports."""
        if isinstance(source, Panel):
            found = cls._of_panel(source)
        elif isinstance(source, ReportTable):
            nothing = np.empty(0, dtype=np.int64)
            ids = _row_numbers(len(source.values)) if source.ids is None else source.ids
            names = Labels.from_count(2)
            found = cls(source.values, source.agents, ids, nothing, nothing, names)
        else:
            raise PanelError(
                "a jury needs a Panel, or a ReportTable where nothing is labelled; got "
                f"{type(source).__name__}. Read the table with tp.read_panel(...)."
            )
        if found.reports.ndim == 3:
            raise PanelError(
                "a jury gives verdicts between two labels; got "
                f"{found.reports.shape[2]} classes. Use truepool compare."
            )
        empty = np.isnan(found.reports).all(axis=1)
        if empty.any():
            raise PanelError(
                "every item needs a verdict of some judge; item "
                f"{found.ids[int(np.argmax(empty))]} has none. Leave it out."
            )
        n = len(found.labels)
        weights = np.full(n, np.nan)
        if label_weights is not None:
            weights = np.asarray(label_weights, dtype=np.float64)
            if weights.shape != (n,) or (weights <= 0).any() or np.isinf(weights).any():
                raise SettingError(
                    "label weights must be numbers above 0, one per label, or NaN for "
                    f"labels drawn at random; got {weights.shape[0]:,} for {n:,} "
                    f"labels, the smallest {np.nanmin(weights, initial=1):g}"
                )
        return replace(found, label_weights=weights, by_votes=by_votes)

    @classmethod
    def _of_panel(cls, panel: Panel) -> "Verdicts":
        for name in ("weights", "groups", "propensity"):
            if vars(panel)[name] is not None:
                raise PanelError(
                    "a jury counts every item once, as independent; the panel has "
                    f"{name}. Leave them out."
                )
        T, labels = len(panel), panel.outcomes
        if panel.ids is not None:
            _check_contradictions(panel.ids, labels, panel.labels)
        reports, ids, place = panel.reports, panel.ids, np.arange(T)
        if panel.pending is not None:
            later = panel.pending
            reports = np.concatenate([reports, later.reports])
            known = ids is not None and later.ids is not None
            ids = np.concatenate([ids, later.ids]) if known else None
            # A pending case stands before the case that its position names.
            keys = np.concatenate([place, later.position])
            settled = np.arange(len(keys)) < T
            order = np.lexsort((settled, keys))
            reports = reports[order]
            ids = None if ids is None else ids[order]
            place = np.argsort(order)[:T]
        ids = _row_numbers(len(reports)) if ids is None else ids
        return cls(reports, panel.agents, ids, place, labels, panel.labels)

    @cached_property
    def clip(self) -> float:
        """How close to 0 and 1 a verdict counts; it depends on no label."""
        mean = float(np.nanmean(self.reports))
        rare = min(share for share in (mean, 1 - mean) if share > 0)
        return min(LARGEST_CLIP, RARE_SHARE * rare)

    @cached_property
    def log_odds(self) -> FloatArray:
        """Log-odds (T, N) of the verdicts."""
        return logit(self.reports, self.clip)

    @cached_property
    def anchor(self) -> FloatArray:
        """Pooled probability (T,) that depends on no label.

        The mean of the log-odds, or the votes weighed by how often each judge errs.
        """
        if not self.by_votes:
            return np.asarray(expit(np.nanmean(self.log_odds, axis=1)))
        no_labels = np.arange(len(self.reports)) % 2  # Crowd looks at none
        everything = Panel(self.reports, no_labels, self.judges, copy=False)
        return Crowd().fit_panel(everything).combine(everything.values)[:, 0]

    @cached_property
    def weights(self) -> FloatArray:
        """How much each label counts, (n,); their mean is 1."""
        return combine_weights(self.label_weights)

    @property
    def random(self) -> BoolArray:
        """Which labels (n,) were drawn at random."""
        return np.isnan(self.label_weights)

    @cached_property
    def unlabelled(self) -> IntArray:
        """Items without a label."""
        return np.setdiff1d(np.arange(len(self.reports)), self.labelled)

    def panel(self) -> Panel:
        """Return the labelled items as a panel; with weights where labels have them."""
        weights = None if self.random.all() else self.weights
        reports = self.reports[self.labelled]
        return Panel(reports, self.labels, self.judges, weights=weights)

    def column(self, judge: str) -> int:
        """Place of a judge; a name that is none is refused."""
        if judge not in self.judges:
            raise AgentError(
                f"there is no judge {judge!r}{suggestion(judge, self.judges)}; judges: "
                f"{', '.join(self.judges)}"
            )
        return self.judges.index(judge)

    def merge(self, columns: Sequence[Sequence[str]]) -> "Verdicts":
        """Return the verdicts with each group of columns as one judge, their mean.

        It has the name of the first column; the mean is one of log-odds, so that an
        order bias cancels. If one judge alone would be left, all columns stay.
        """
        named = [name for group in columns for name in group]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise SettingError(
                "a column may be paired once only, as swapped or as repeated; "
                f"{twice[0]!r} is named twice. Leave it out of one of them."
            )
        reports, gone = self.reports.copy(), []
        for group in columns:
            places = [self.column(name) for name in group]
            all_runs = self.log_odds[:, places]
            answered = ~np.isnan(all_runs).all(axis=1)
            reports[answered, places[0]] = expit(np.nanmean(all_runs[answered], axis=1))
            gone += places[1:]
        rest = [i for i in range(len(self.judges)) if i not in gone]
        judges = tuple(self.judges[i] for i in rest)
        if len(judges) < MIN_JUDGES:
            return self
        return replace(self, reports=reports[:, rest], judges=judges)


def _check_contradictions(ids: Array, labels: IntArray, names: Labels) -> None:
    """Refuse an item that has two labels."""
    first: dict[Any, int] = {}
    for item, label in zip(ids.tolist(), labels.tolist(), strict=True):
        if first.setdefault(item, label) != label:
            raise OutcomeError(
                f"an item must have one label; item {item!r} has "
                f"{names.names[first[item]]!r} and {names.names[label]!r}. Correct one."
            )


def _row_numbers(items: int) -> IntArray:
    return np.arange(items)
