"""Doubts about the unit of new reports: fractions that are read as percentages."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from truepool.core.arrays import FloatArray
from truepool.core.errors import ReportError
from truepool.core.formatting import join_names
from truepool.panel.report_units import (
    SMALL,
    UNIT_RATIO,
    largest_reports,
    percent_option,
    report_counts,
)
from truepool.panel.sparse import SparseReports
from truepool.tables.column_selection import Batch
from truepool.tables.table_format import TableFormat

EXPECTED = 7.0
"""Reports above 1 % that must have been expected where there is none: by chance, that
happens once in a thousand tables."""

ENOUGH = 20
"""Reports that say enough of an agent where the pool does not remember its reports."""


@dataclass(frozen=True)
class UnitDoubt:
    """Why percentages of some agents may be fractions, and the cure.

    ``columns`` are the numbers of those agents among all ``agents``, and ``percent``
    those of all that are read as percentages. The option for a table in which they are
    fractions stands between the parts of the ``cure``. ``above`` (N,) is the share of
    each agent's reports that were above 1 % in the fit, () where nobody counted.
    """

    agents: tuple[str, ...]
    columns: tuple[int, ...]
    percent: tuple[int, ...]
    reason: str
    cure: tuple[str, ...]
    above: tuple[float, ...] = ()
    nobody: str = ""
    """The cure where no agent is left in percent, if it is another one."""

    def check(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Refuse a table whose first batch has such reports up to 1 only."""
        for batch in batches:
            if batch.start == 0:
                self.check_reports(batch.values, batch.signed)
            yield batch

    def check_reports(
        self, reports: FloatArray | SparseReports, signed: Collection[str]
    ) -> None:
        """Refuse shares (T, N, C) that were written as numbers up to 1.

        All of them, or those of an agent that used to go higher. Percent signs leave no
        doubt, and zeros fit both units.
        """
        bare = [i for i in self.columns if self.agents[i] not in signed]
        largest = largest_reports(reports)
        suspect, why = bare, ""
        if not 0 < largest[bare].max(initial=0.0) <= SMALL:
            suspect = self._lower_than_before(reports, largest, bare)
            why = self._comparison(largest, suspect)
        if not suspect:
            return
        whose = ""
        if len(suspect) < len(self.agents):
            whose = f" of {join_names([repr(self.agents[i]) for i in suspect])}"
        first = "case" if len(reports) == 1 else f"{len(reports):,} cases"
        rest = [self.agents[i] for i in self.percent if i not in suspect]
        option = percent_option(rest) if rest else "--no-percent"
        raise ReportError(
            f"{self.reason}, and here all reports{whose} on the first {first} are at "
            f"most 1 (the largest is {100 * largest[suspect].max():g}){why}, so they "
            f"may be probabilities. "
            f"{self.nobody if self.nobody and not rest else option.join(self.cure)}"
        )

    def _lower_than_before(
        self,
        reports: FloatArray | SparseReports,
        largest: FloatArray,
        bare: Sequence[int],
    ) -> list[int]:
        """Agents up to 1 that went higher in the fit or, if that is unknown, others."""
        counts = report_counts(reports)
        low = [i for i in bare if 0 < largest[i] <= SMALL]
        if self.above:
            return [i for i in low if counts[i] * self.above[i] >= EXPECTED]
        top = largest[list(self.percent)].max()
        return [
            i for i in low if counts[i] >= ENOUGH and top >= UNIT_RATIO * largest[i]
        ]

    def _comparison(self, largest: FloatArray, suspect: Sequence[int]) -> str:
        if not suspect:
            return ""
        if self.above:
            share = min(self.above[i] for i in suspect)
            return f", while in the fit {100 * share:.2g} % were above 1"
        return f", while other agents go up to {100 * largest.max():g}"


def doubt_memory(
    agents: tuple[str, ...], known: TableFormat, above: tuple[float, ...] = ()
) -> UnitDoubt | None:
    """Doubt percentages that the pool was fitted on, and that nobody stated."""
    option = " ".join(TableFormat(percent=known.percent).options())
    cure = (f"Pass {option} if they are percentages, or ", " if not.")
    reason = "the pool was fitted on percentages"
    return _doubt(agents, known.in_percent, known, reason, cure, above)


def doubt_statement(
    agents: tuple[str, ...],
    stated: TableFormat,
    known: TableFormat,
    above: tuple[float, ...] = (),
) -> UnitDoubt | None:
    """Doubt percentages that an option states where the pool knows fractions."""
    end = "; if they are percentages, divide them by 100."
    doubt = _doubt(
        agents,
        lambda agent: stated.in_percent(agent) and not known.in_percent(agent),
        stated,
        "with --percent some report must be above 1",
        ("Pass ", f" instead{end}"),
        above,
    )
    return doubt and replace(doubt, nobody=f"Leave out --percent{end}")


def doubt_likeness(
    agents: tuple[str, ...], known: TableFormat, above: tuple[float, ...]
) -> UnitDoubt | None:
    """Doubt that one option is about two tables, of which the first was checked."""
    cure = (
        "Write NEW like it; if they are percentages, write a percent sign after each."
    )
    reason = "the table to fit has percentages"
    return _doubt(agents, known.in_percent, known, reason, (cure,), above)


def _doubt(
    agents: tuple[str, ...],
    doubted: Callable[[str], bool],
    written: TableFormat,
    reason: str,
    cure: tuple[str, ...],
    above: tuple[float, ...],
) -> UnitDoubt | None:
    columns = tuple(i for i, agent in enumerate(agents) if doubted(agent))
    percent = tuple(i for i, agent in enumerate(agents) if written.in_percent(agent))
    if not columns:
        return None
    return UnitDoubt(agents, columns, percent, reason, cure, above)
