"""Doubts about the unit of new reports: fractions that are read as percentages."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from truepool.core.arrays import FloatArray
from truepool.core.errors import ReportError
from truepool.core.formatting import join_names
from truepool.data.reports import largest_reports, percent_option
from truepool.data.sparse import SparseReports
from truepool.data.tables.column_selection import Batch
from truepool.data.tables.table_format import TableFormat


@dataclass(frozen=True)
class UnitDoubt:
    """Why percentages of some agents may be fractions, and the cure.

    ``columns`` are the numbers of those agents among all ``agents``. A cure that is
    ``open`` ends with the option for a table in which they are fractions.
    """

    agents: tuple[str, ...]
    columns: tuple[int, ...]
    reason: str
    cure: str
    open: bool = False

    def check(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Refuse a table whose first batch has such reports up to 1 only."""
        for batch in batches:
            if batch.start == 0:
                self.check_reports(batch.values, batch.signed)
            yield batch

    def check_reports(
        self, reports: FloatArray | SparseReports, signed: Collection[str]
    ) -> None:
        """Refuse shares (T, N, C) that were all written as numbers up to 1.

        Percent signs leave no doubt, and zeros fit both units.
        """
        bare = [i for i in self.columns if self.agents[i] not in signed]
        largest = largest_reports(reports)[bare].max(initial=0.0)
        if 0 < largest <= 0.01:
            some = len(bare) < len(self.agents)
            whose = join_names([repr(self.agents[i]) for i in bare])
            first = "case" if len(reports) == 1 else f"{len(reports):,} cases"
            rest = [self.agents[i] for i in self.columns if i not in bare]
            option = percent_option(rest) if rest else "--no-percent"
            raise ReportError(
                f"{self.reason}, and here all reports{f' of {whose}' * some} on the "
                f"first {first} are at most 1 (the largest is {100 * largest:g}), so "
                f"they may be probabilities. {self.cure}"
                f"{f', or {option}.' * self.open}"
            )


def doubt_memory(agents: tuple[str, ...], known: TableFormat) -> UnitDoubt | None:
    """Doubt percentages that the pool was fitted on, and that nobody stated."""
    option = " ".join(TableFormat(percent=known.percent).options())
    return _doubt(
        agents,
        known.in_percent,
        "the pool was fitted on percentages",
        f"Pass {option} if they are percentages",
        open=True,
    )


def doubt_statement(
    agents: tuple[str, ...], stated: TableFormat, known: TableFormat
) -> UnitDoubt | None:
    """Doubt percentages that an option states where the pool knows fractions."""
    both = [a for a in agents if stated.in_percent(a) and known.in_percent(a)]
    cure = f"Pass {percent_option(both)} instead" if both else "Leave out --percent"
    return _doubt(
        agents,
        lambda agent: stated.in_percent(agent) and not known.in_percent(agent),
        "with --percent some report must be above 1",
        f"{cure}; if they are percentages, divide them by 100.",
    )


def doubt_likeness(agents: tuple[str, ...], known: TableFormat) -> UnitDoubt | None:
    """Doubt that one option is about two tables, of which the first was checked."""
    return _doubt(
        agents,
        known.in_percent,
        "the table to fit has percentages",
        "Write NEW like it; if they are percentages, write a percent sign after each.",
    )


def _doubt(
    agents: tuple[str, ...],
    in_percent: Callable[[str], bool],
    reason: str,
    cure: str,
    *,
    open: bool = False,
) -> UnitDoubt | None:
    columns = tuple(i for i, agent in enumerate(agents) if in_percent(agent))
    return UnitDoubt(agents, columns, reason, cure, open) if columns else None
