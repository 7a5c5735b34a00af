"""FiveThirtyEight's forecasts of governors' elections: a panel of real forecasters."""

from typing import ClassVar, final

import numpy as np

from truepool.core.arrays import Array
from truepool.core.errors import SettingError, SourceError
from truepool.datasets.columns import number_columns, read_columns, text_column
from truepool.datasets.files import File
from truepool.datasets.interface import Dataset
from truepool.panel.panel import Panel

AGENTS = ("lite", "classic", "deluxe")
"""Polls only; with fundamentals; with the ratings of experts too."""

NUMBERS = ("year", "probwin", "probwin_outcome")
TEXT = ("state", "forecast_date", "forecast_type", "party", "candidate")
YEARS = (2018, 2022)


@final
class Governors(Dataset):
    """Three models' daily forecasts of each candidate's chance to win."""

    name: ClassVar[str] = "governors"
    rows: ClassVar[int] = 6_583
    columns: ClassVar[int] = 3
    column_kind: ClassVar[str] = "agent"
    labels: ClassVar[tuple[str, ...]] = ("lost", "won")
    source: ClassVar[str] = "FiveThirtyEight"
    licence: ClassVar[str] = "CC BY 4.0"
    cite: ClassVar[str] = "FiveThirtyEight, How Good Are FiveThirtyEight Forecasts?"
    files: ClassVar[tuple[File, ...]] = (
        File(
            "fivethirtyeight_governors_elections.csv",
            "213b13c16b80517315688c99abf3d3efa01285eec27ab37c6bd7e0cf0e9725d5",
            1_918_140,
            "https://raw.githubusercontent.com/fivethirtyeight/checking-our-work-data/"
            "f6d5b2e1d6da2889345d381c41431f9a4ee208dd/governors_elections.csv",
        ),
    )

    @classmethod
    def load(cls, year: int | None = None) -> Panel:
        """Forecasts of governors' elections by candidate and day; 1 is a win.

        Cases are in order of time and carry their day and a label such as
        ``2018-11-05 KS Laura Kelly (D)``. Candidates of a race and days of a campaign
        are correlated: 6,583 cases are 72 races, so compare across states and years;
        intervals that treat cases as independent are far too narrow.

        Parameters
        ----------
        year : int, optional
            Only this year, 2018 or 2022; None takes both.
        """
        if year is not None and year not in YEARS:
            raise SettingError(
                f"there are forecasts by three models for {YEARS[0]} and {YEARS[1]}; "
                f"got the year {year!r}"
            )
        (path,) = cls.paths()
        table = read_columns(path, [*NUMBERS, *TEXT], TEXT)
        figures = number_columns(table, NUMBERS)
        day, kind = (
            text_column(table, "forecast_date"),
            text_column(table, "forecast_type"),
        )
        selected = np.isin(kind.astype(str), AGENTS)  # 2010 had one model only
        selected &= np.isin(figures[:, 0], YEARS if year is None else (year,))
        who = (text_column(table, name) for name in ("state", "candidate", "party"))
        labels = np.array(
            [f"{d} {s} {c} ({p})" for d, s, c, p in zip(day, *who, strict=True)]
        )
        cases, case = np.unique(labels[selected], return_inverse=True)
        agent = np.array([AGENTS.index(name) for name in kind[selected]])
        reports = np.full((len(cases), len(AGENTS)), np.nan)
        reports[case, agent] = figures[selected, 1]
        outcomes = np.full(len(cases), np.nan)
        outcomes[case] = figures[selected, 2]
        if np.isnan(reports).any() or len(case) > reports.size:
            raise SourceError(
                f"{str(path)!r} must hold one forecast by each of {', '.join(AGENTS)} "
                "for every candidate and day; it does not. Download it again."
            )
        return Panel(reports, outcomes, AGENTS, ids=cases, times=_days(cases))


def _days(cases: Array) -> Array:
    return np.array([case[:10] for case in cases.tolist()], dtype="datetime64[D]")


governors = Governors.load
