"""New cases of a table, scored some thousand at a time."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import pyarrow as pa

from truepool.measures.capacity import Capacity
from truepool.pools.interface import Pool
from truepool.scoring.scorer import Scorer, Tally, decide_within, schema_of
from truepool.tables import Declared, Note, Table, TableWarning, match
from truepool.tables.read import read_blocks
from truepool.tables.write import Ids, RepeatedIds, as_table


@dataclass(frozen=True)
class Scoring:
    """What is found out about each new case, and what is known of their table.

    Parameters
    ----------
    declared : Declared
        What the user says of the table; the pool knows the rest.
    contributions : bool
        Add what the report of each agent changed.
    capacity : str, optional
        Flag at most this many cases, the most valuable ones: as in "200" or "5%".
    explore : float, optional
        Share of the cases decided negative that are marked for review, by ``seed``.
    strict : bool
        Refuse agents that are reversed or report noise, and not only another unit.
    """

    declared: Declared = field(default_factory=Declared)
    contributions: bool = False
    capacity: str | None = None
    explore: float | None = None
    strict: bool = False
    seed: int = 0

    @property
    def limit(self) -> Capacity | None:
        """How many cases may be flagged."""
        return None if self.capacity is None else Capacity.parse(self.capacity)

    def scorer(self, pool: Pool, id: str | None) -> Scorer:
        """Return what scores each batch."""
        return Scorer(
            pool,
            id or "id",
            self.contributions,
            self.explore,
            self.seed,
            strict=self.strict,
        )

    def open(self, pool: Pool, source: Any) -> Table:
        """Find out which columns of new cases are the agents of the pool.

        The time of a case is read where a rate limits how many are flagged.
        """
        columns = () if pool.costs is None else pool.costs.columns
        if pool.threshold is not None and self.capacity is None:
            columns = ()
        table: Table = match(source, schema_of(pool), self.declared, columns)
        limit = self.limit
        if table.schema.long or (limit is not None and limit.period is not None):
            return table
        return replace(table, schema=replace(table.schema, time=None))

    def score(self, pool: Pool, source: Any) -> "Scored":
        """Return the new cases of a table, to be scored batch by batch.

        Within a capacity they are decided together, so that they are read twice.
        """
        table, limit = self.open(pool, source), self.limit
        scorer = self.scorer(pool, (table.schema.long or (table.schema.id,))[0])
        if limit is not None:
            again = read_blocks(self.open(pool, source), declared=self.declared)
            scorer = replace(scorer, within=decide_within(pool, again, limit))
        return Scored(table, scorer, self.declared)


@dataclass(eq=False)
class Scored:
    """New cases while they are scored, and what was counted of those that are."""

    table: Table
    scorer: Scorer
    declared: Declared
    tally: Tally = field(default_factory=Tally)

    def __iter__(self) -> Iterator[tuple[dict[str, Ids], int]]:
        """Yield the columns of the result, and how many cases they have."""
        seen = RepeatedIds()
        for block in read_blocks(self.table, declared=self.declared):
            columns, counts = self.scorer.score(block)
            self.tally.add(counts)
            seen.add(block.ids)
            yield columns, len(block)
        self.tally.repeated, self.tally.not_compared = seen.count(), seen.left_out

    @property
    def notes(self) -> list[Note]:
        """What was done with the table, and which agents may be broken."""
        known = [*self.table.notes, *self.tally.notes.values()]
        return known + doubts(self.tally, self.scorer.pool, self.table)


def doubts(tally: Tally, pool: Pool, table: Table) -> list[Note]:
    """Return which agents are silent or dead, or do not report as they did in the fit.

    Those without a column were named when the table was read.
    """
    names = {*table.source.names}
    absent = {a for a, own in table.schema.reports.items() if names.isdisjoint(own)}
    silent = [agent for agent in tally.silent if agent not in absent]
    found: list[tuple[str, Mapping[str, Any]]] = []
    if silent and tally.empty < tally.cases:
        found.append(("silent", {"names": [*map(repr, silent)]}))
    for agent, report, count in tally.stuck(pool):
        values = [f"{p:.4g}" for p in report]
        found.append(("stuck", {"agent": agent, "values": values, "count": count}))
    for agent, doubt in sorted(tally.doubtful.items()):
        found.append((f"moved-{doubt.name.lower()}", {"agent": agent}))
    return [Note(code, fields, warning=True) for code, fields in found]


def score(
    pool: Pool,
    new: Any,
    *,
    contributions: bool = False,
    capacity: str | None = None,
    explore: float | None = None,
    strict: bool = False,
    seed: int = 0,
    **keys: Any,
) -> Any:
    """Score new cases with a fitted pool: what ``truepool score`` writes, as a frame.

    Parameters
    ----------
    pool : Pool
        A fitted pool, or one that `load_pool` returned.
    new : path or frame
        A file, or a pandas, polars or pyarrow frame, with a column for each agent. It
        is read as the table was that the pool was fitted on.
    contributions, capacity, explore, strict, seed
        See `Scoring`.
    **keys
        What else is known of the columns, such as ``id`` or ``missing``; see
        `truepool.tables.Declared`.

    Returns
    -------
    frame
        One row per case: its id, ``pooled`` and ``decision``; empty where it has no
        report. Of the kind of ``new``, a pyarrow table for a file.

    Examples
    --------
    >>> from truepool import Mean, Panel
    >>> panel = Panel([[0.9, 0.6], [0.2, 0.1]], [1, 0], agents=("ada", "bob"))
    >>> pool = Mean().fit_panel(panel)
    >>> new = pa.table({"id": ["a", "b"], "bob": [0.2, None], "ada": [0.6, None]})
    >>> score(pool, new).to_pydict()
    {'id': ['a', 'b'], 'pooled': [0.4, None], 'decision': [0, None]}
    """
    declared = Declared.of(keys)
    how = Scoring(declared, contributions, capacity, explore, strict, seed)
    scored = how.score(pool, new)
    table = pa.concat_tables([as_table(columns) for columns, _ in scored])
    if scored.tally.repeated:
        fields = {"count": scored.tally.repeated}
        repeated = [Note("ids-repeated", fields, warning=True)]
    for note in [*scored.notes, *(repeated if scored.tally.repeated else ())]:
        if note.warning:
            warnings.warn(note.sentence(), TableWarning, stacklevel=2)
    return _like(table, new)


def _like(table: pa.Table, given: Any) -> Any:
    """Return a table as a frame of the kind that was given, with its index."""
    frame = nw.from_native(given, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or isinstance(given, pa.Table):
        return table
    made = nw.from_arrow(table, backend=nw.get_native_namespace(frame)).to_native()
    index = nw.maybe_get_index(frame)  # of pandas
    same = index is not None and len(index) == len(table)
    return made.set_axis(index) if same else made
