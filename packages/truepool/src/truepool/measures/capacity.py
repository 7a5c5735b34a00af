"""Limited capacity: which cases to decide positive when not all of them can be."""

import re
from dataclasses import dataclass

import numpy as np

from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray
from truepool.core.errors import SettingError, closest
from truepool.core.formatting import amount, pluralize
from truepool.panel.panel import Panel

UNITS = {"hour": "h", "day": "D", "week": "W", "month": "M"}
"""Periods that a capacity may be for; weeks begin on Monday."""

EXAMPLES = "as in 200, 5% or 200/day"
ROUNDING = 1e-9
"""A share of the cases this close below a whole number is that number."""


@dataclass(frozen=True)
class Capacity:
    """How many cases can be decided positive: a number or a share, also per period.

    >>> Capacity.parse("200/day"), Capacity.parse("5%").share
    (Capacity(limit=200.0, share=False, period='day'), True)
    """

    limit: float
    share: bool = False
    period: str | None = None

    @classmethod
    def parse(cls, text: "str | int | Capacity") -> "Capacity":
        """Return the capacity that a text or a whole number states.

        >>> str(Capacity.parse("5 % / week"))
        '5% of cases per week'
        """
        if isinstance(text, Capacity):
            return text
        number, _, period = (part.strip() for part in str(text).partition("/"))
        found = re.fullmatch(r"([-+]?\d+(?:\.\d+)?)\s*(%?)", number)
        if not found or ("/" in str(text) and not period):
            raise SettingError(
                "a capacity must be a number of cases, a share of them, or one of both "
                f"per {', '.join(UNITS)}, {EXAMPLES}; got {str(text)!r}"
                f"{_meant(str(text))}"
            )
        if period and period not in UNITS:
            raise SettingError(
                f"a capacity must be per hour, day, week or month, as in 200/day; got "
                f"{str(text)!r}{_meant(str(text))}"
            )
        limit, share = float(found[1]), bool(found[2])
        if limit <= 0 or (share and limit > 100) or not (share or limit.is_integer()):
            raise SettingError(
                "a capacity must be a whole number of at least 1, or a share above 0 "
                f"and up to 100%, {EXAMPLES}; got {str(text)!r}"
            )
        return cls(limit / 100 if share else limit, share, period or None)

    def __str__(self) -> str:
        cases = pluralize(int(self.limit), "case")
        number = f"{amount(100 * self.limit)}% of cases" if self.share else cases
        return f"{number} per {self.period}" if self.period else number

    def check_classes(self, classes: int) -> None:
        """Refuse more than two classes, of which none is the positive one."""
        if classes != 2:
            raise SettingError(
                "a capacity limits positive decisions between two classes; there are "
                f"{classes}. Leave it out (capacity)."
            )

    def check(self, panel: Panel) -> None:
        """Refuse a panel with more than two classes, or without the dates of a rate.

        A case that is split into rows would be decided, and counted, once per row.
        """
        self.check_classes(panel.classes)
        if panel.questions is not None:
            raise SettingError(
                "a capacity counts cases, each decided once; these are split into "
                "intervals between updates. Leave out the capacity, or set updates to "
                "last."
            )
        self.periods(panel.times, len(panel))

    def scale(self, part: float) -> "Capacity":
        """Return the capacity for a part of the cases; only a plain number changes."""
        if self.share or self.period:
            return self
        return Capacity(np.floor(self.limit * part + ROUNDING))

    def periods(self, times: Array | None, cases: int) -> IntArray:
        """Period of each case, (T,), as a number; one for all if there is no rate."""
        if self.period is None:
            return np.zeros(cases, dtype=np.int64)
        if times is None:
            raise SettingError(
                f"a capacity per {self.period} needs the time of each case; there is "
                "none. Name the column of the times (time)."
            )
        if times.dtype.kind != "M":
            raise SettingError(
                f"a capacity per {self.period} needs dates; the times are numbers, "
                f"{times[0]} the first of them. Give dates (time)."
            )
        if self.period == "week":  # day 0 of the calendar was a Thursday
            days = times.astype("datetime64[D]").astype(np.int64)
            return np.asarray((days + 3) // 7)
        unit = f"datetime64[{UNITS[self.period]}]"
        return np.asarray(times.astype(unit).astype(np.int64))

    def select(
        self, values: FloatArray, wanted: BoolArray, periods: IntArray
    ) -> BoolArray:
        """Return the most valuable of the wanted cases that fit into each period, (T,).

        The first of equally valuable cases come first. A share counts all cases of the
        period and is rounded down.
        """
        order = np.lexsort((np.arange(len(values)), -values, ~wanted, periods))
        _, start, size = np.unique(
            periods[order], return_index=True, return_counts=True
        )
        limit = np.full(len(size), self.limit)
        if self.share:
            limit = np.floor(self.limit * size + ROUNDING)
        place = np.arange(len(values)) - np.repeat(start, size)
        selected = np.zeros(len(values), dtype=np.bool_)
        selected[order] = place < np.repeat(limit, size)
        return selected & wanted


def _meant(text: str) -> str:
    """Suggest the capacity that a text may mean.

    >>> _meant("5 per week"), _meant("5% a day"), _meant("many")
    (" (did you mean '5/week'?)", " (did you mean '5%/day'?)", '')
    """
    per = r"\s*(?:/|per\b|an?\b|each\b)?\s*"
    found = re.fullmatch(rf"([\d.]+)\s*(%?){per}([a-z]+)", text)
    period = None if found is None else closest(found[3], UNITS)
    if found is None or period is None:
        return ""
    return f" (did you mean '{found[1]}{found[2]}/{period}'?)"
