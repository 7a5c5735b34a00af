"""Verdicts of judges on items, some of them labelled, and their label-free mean."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from truepool.core.arrays import Array, FloatArray, IntArray, logit
from truepool.core.errors import AgentError, PanelError, SettingError, suggestion
from truepool.data.labels import Labels
from truepool.data.panel import Panel
from truepool.data.tables import ReportTable
from truepool.pools.certainty import LARGEST_CLIP, RARE_SHARE

MIN_JUDGES = 2
"""A pool needs so many."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Verdicts (T, N) of N judges on T items; ``labels`` (n,) of those ``labelled``."""

    reports: FloatArray
    judges: tuple[str, ...]
    ids: Array
    labelled: IntArray
    labels: IntArray
    names: Labels

    @classmethod
    def of(cls, source: Any) -> "Verdicts":
        """Return the verdicts of a panel, its pending cases included, or of reports."""
        if isinstance(source, Panel):
            found = cls._of_panel(source)
        elif isinstance(source, ReportTable):
            nothing = np.empty(0, dtype=np.int64)
            ids = _row_numbers(len(source.values)) if source.ids is None else source.ids
            names = Labels.of_numbers(2)
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
        return found

    @classmethod
    def _of_panel(cls, panel: Panel) -> "Verdicts":
        for name in ("weights", "groups", "propensity"):
            if vars(panel)[name] is not None:
                raise PanelError(
                    "a jury counts every item once and for itself; the panel has "
                    f"{name}. Leave them out."
                )
        T, labels = len(panel), panel.outcomes
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
        """Mean of the log-odds as a probability, (T,): it depends on no label."""
        return np.asarray(expit(np.nanmean(self.log_odds, axis=1)))

    @cached_property
    def unlabelled(self) -> IntArray:
        """Items without a label."""
        return np.setdiff1d(np.arange(len(self.reports)), self.labelled)

    def panel(self) -> Panel:
        """Return the labelled items as a panel."""
        return Panel(self.reports[self.labelled], self.labels, self.judges)

    def column(self, judge: str) -> int:
        """Place of a judge; a name that is none is refused."""
        if judge not in self.judges:
            raise AgentError(
                f"there is no judge {judge!r}{suggestion(judge, self.judges)}; judges: "
                f"{', '.join(self.judges)}"
            )
        return self.judges.index(judge)

    def merge(self, pairs: Sequence[tuple[str, str]]) -> "Verdicts":
        """Return the verdicts with each pair of columns as one judge, their mean.

        It has the name of the first column; the mean is one of log-odds, so that an
        order bias cancels. If one judge alone would be left, all columns stay.
        """
        named = [name for pair in pairs for name in pair]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise SettingError(
                "a column belongs to one pair of columns at most; "
                f"{twice[0]!r} is named twice. Leave out one of the pairs."
            )
        reports, gone = self.reports.copy(), []
        for first, second in pairs:
            i, j = self.column(first), self.column(second)
            both = self.log_odds[:, [i, j]]
            answered = ~np.isnan(both).all(axis=1)
            reports[answered, i] = expit(np.nanmean(both[answered], axis=1))
            gone.append(j)
        rest = [i for i in range(len(self.judges)) if i not in gone]
        judges = tuple(self.judges[i] for i in rest)
        if len(judges) < MIN_JUDGES:
            return self
        return replace(self, reports=reports[:, rest], judges=judges)


def _row_numbers(items: int) -> IntArray:
    return np.arange(items)
