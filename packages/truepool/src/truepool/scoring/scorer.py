"""New cases scored by a fitted pool: batches of reports in, columns of results out."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from scipy.special import expit

from truepool.core import kernels
from truepool.core.arrays import BoolArray, FloatArray, IntArray, from_classes
from truepool.core.errors import SettingError, SourceError
from truepool.measures.capacity import Capacity
from truepool.panel.costs import Costs
from truepool.panel.reports import check_reports
from truepool.panel.row_names import named_cases
from truepool.pools.interface import LinearPool, Pool
from truepool.pools.interface.result import PoolResult
from truepool.scoring.changes import COMPARED, Doubt, compare
from truepool.tables.decode import Block
from truepool.tables.faults import Cure, Fault, Note, TableFaults
from truepool.tables.schema import PERCENT, Schema, Unit
from truepool.tables.write import Ids

Report: TypeAlias = tuple[float, ...]
"""Coordinates (C,) of one report."""

OTHER_REPORTS = 100
"""An agent is stuck if at least so many other reports would have been expected."""

EXPECTED = 7.0
"""Numbers up to 1 may be fractions and no percentages if so many higher ones must have
been expected."""

FIRST = 100
"""Reports of a batch that are looked at before all of them."""

TAKEN = ("pooled", "decision", "contribution:", "review", "propensity")
"""How the columns of a result begin; no id may be called like one."""


@dataclass(frozen=True, eq=False)
class PooledBatch:
    """What a pool makes of a batch: of the cases with reports, `known` (T,).

    ``pooled`` are coordinates (P, C) and ``decisions`` (P,) of these P cases; their
    reports are ``values`` (P, N, C), checked, where they were put together.
    """

    known: BoolArray
    pooled: FloatArray
    decisions: IntArray
    missing: IntArray
    """Missing reports of each agent in the batch, (N,)."""
    values: FloatArray | None = None


@dataclass(eq=False)
class Tally:
    """What was found while cases were scored: counts that can be added."""

    cases: int = 0
    empty: int = 0
    positive: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    constant: dict[str, Report | None] = field(default_factory=dict)
    """The one report of each agent so far; None if it has given two."""
    repeated: int = 0
    """Cases with the id of an earlier one, of those whose ids were compared."""
    not_compared: int = 0
    """Cases whose ids were not compared, for there are too many."""
    drawn: int = 0
    """Cases decided negative that are to be reviewed."""
    notes: dict[tuple[str, str], Note] = field(default_factory=dict)
    """What was done with the table, by code and column."""
    doubtful: dict[str, Doubt] = field(default_factory=dict)
    """Agents that do not report as they did in the fit, in some batch."""
    decisions: Counter[int] = field(default_factory=Counter)
    """How often each class was decided."""

    def add(self, other: "Tally") -> None:
        """Add the counts of other cases."""
        self.cases += other.cases
        self.empty += other.empty
        self.positive += other.positive
        self.decisions += other.decisions
        self.drawn += other.drawn
        self.missing += other.missing
        for agent, report in other.constant.items():
            same = self.constant.get(agent, report) == report
            self.constant[agent] = report if same else None
        self.repeated += other.repeated
        self.not_compared += other.not_compared
        for key, note in other.notes.items():
            known = self.notes.get(key)
            if known is not None and "count" in note.fields:
                count = known.fields["count"] + note.fields["count"]
                note = replace(note, fields={**note.fields, "count": count})
            self.notes[key] = note
        self.doubtful = other.doubtful | self.doubtful

    @property
    def silent(self) -> list[str]:
        """Agents without any report."""
        return sorted(a for a, n in self.missing.items() if n == self.cases)

    def stuck(self, pool: Pool) -> list[tuple[str, Report, int]]:
        """Agents that always report the same while others do not, and how often.

        At the rate of the training cases, `OTHER_REPORTS` of theirs would have been
        others than the commonest: a judge that says 1 now and then is not stuck.
        """
        shares = dict(zip(pool.agents_, pool.training_.commonest, strict=False))
        if None not in self.constant.values():
            return []
        counts = {a: self.cases - self.missing[a] for a in self.constant}
        return [
            (agent, report, counts[agent])
            for agent, report in sorted(self.constant.items())
            if report is not None
            and counts[agent] * (1 - shares.get(agent, 1.0)) >= OTHER_REPORTS
        ]


@dataclass(frozen=True, eq=False)
class Scorer:
    """A fitted pool, and what is to be written about each case.

    Parameters
    ----------
    pool : Pool
        A fitted pool.
    id : str
        Name of the id in the result.
    contributions : bool
        Add what each agent changed.
    explore : float, optional
        Share of the cases decided negative to be reviewed, drawn by ``seed``.
    within : (T,), optional
        Decisions on all cases, where they are made together (`decide_within`).
    strict : bool
        Refuse agents that are reversed or report noise, and not only another unit.
    """

    pool: Pool
    id: str = "id"
    contributions: bool = False
    explore: float | None = None
    seed: int = 0
    within: IntArray | None = None
    strict: bool = False

    def __post_init__(self) -> None:
        if self.id.startswith(TAKEN):
            raise SourceError(
                f"the result has a column {self.id!r} of its own; rename the id column"
            )
        classes = len(self.pool.labels_.names)
        if self.explore is not None and classes > 2:
            raise SettingError(
                "cases to review are drawn from those decided negative, so there must "
                f"be two classes; the pool has {classes}. Leave out explore, and "
                "draw cases of each decision yourself."
            )

    def score(self, batch: Block) -> tuple[dict[str, Ids], Tally]:
        """Columns of the result, and the counts of the batch."""
        pool, T = self.pool, len(batch)
        found = pool_batch(pool, batch, contributions=self.contributions)
        doubtful = self._compare(batch)
        known = found.known
        decisions = _spread(found.decisions, known)
        if self.within is not None:
            decisions = self.within[batch.start : batch.start + T]
        gone = None if known.all() else ~known
        columns: dict[str, Any] = {} if batch.ids is None else {self.id: batch.ids}
        names, C = pool.labels_.names, found.pooled.shape[1]
        suffixes = [""] if C == 1 else [f":{name}" for name in names]
        pooled = _spread(found.pooled, known)
        for k, suffix in enumerate(suffixes):
            columns[f"pooled{suffix}"] = pa.array(pooled[:, k], mask=gone)
        labels = decisions if C == 1 else np.array(names)[decisions]
        columns["decision"] = pa.array(labels, mask=gone)
        if self.contributions:
            changes = np.zeros((T, len(pool.agents_), C))
            if found.values is not None:
                changes[known] = pool.contributions_of(found.values)
            for i, agent in enumerate(pool.agents_):
                for k, suffix in enumerate(suffixes):
                    name = f"contribution:{agent}{suffix}"
                    columns[name] = pa.array(changes[:, i, k], mask=gone)
        if self.explore is not None:
            columns |= _review(batch, decisions, known, self.explore, self.seed)
        missing = dict(zip(pool.agents_, found.missing.tolist(), strict=True))
        # Elements that are picked by a mask are copied, which takes as long as pooling.
        decided = np.bincount(decisions if gone is None else decisions[known],
                              minlength=len(names))  # fmt: skip
        positive = int(decided[1:].sum())
        reported = int(np.count_nonzero(known))
        counts = Counter(missing)
        return columns, Tally(
            T,
            T - reported,
            positive,
            counts,
            _constant(pool.agents_, batch),
            drawn=columns["review"].true_count - positive if self.explore else 0,
            notes={(n.code, str(n.fields.get("column"))): n for n in batch.notes},
            doubtful=doubtful,
            decisions=Counter(dict(enumerate(decided.tolist()))),
        )

    def _compare(self, batch: Block) -> dict[str, Doubt]:
        """Agents that do not report as they did in the fit; refuse another unit."""
        pool = self.pool
        if not len(batch):
            return {}
        found = fractions = _fractions(pool, batch)
        if pool.habits_ is not None:
            found = found | compare(pool.habits_, _first_coordinates(batch))
        refused = {
            i: doubt
            for i, doubt in found.items()
            if self.strict or doubt in (Doubt.UNIT, Doubt.OPPOSITE)
        }
        if refused:
            raise TableFaults(
                _change(pool, batch, i, doubt, i in fractions)
                for i, doubt in refused.items()
            )
        return {pool.agents_[i]: doubt for i, doubt in found.items()}


def schema_of(pool: Pool) -> Schema:
    """Return what the columns are of tables that a pool takes."""
    if pool.table is not None:
        return pool.table
    names = pool.labels_.names if len(pool.labels_.names) > 2 else ()
    classes = tuple(map(str, names))
    columns = {a: tuple(f"{a}:{k}" for k in classes) or (a,) for a in pool.agents_}
    return Schema(pool.agents_, columns, classes, labels=tuple(pool.labels_.names))


def _fractions(pool: Pool, batch: Block) -> dict[int, Doubt]:
    """Agents in percent or higher scores whose first reports are all up to 1.

    In the fit so many of them would have been above 1 that chance makes none of these
    in one of a thousand tables. Percent signs leave no doubt.
    """
    above = pool.training_.above_percent
    if pool.table is None or batch.start or not (above and batch.reports):
        return {}
    found = {}
    for i, (agent, column) in enumerate(zip(pool.agents_, batch.reports, strict=True)):
        known, unit = column[~np.isnan(column)], pool.table.unit(agent)
        if unit.zero or unit.one < PERCENT.one or agent in batch.signed:
            continue
        if len(known) and 0 < known.max() <= 1 / unit.one:
            if len(known) * above[i] >= EXPECTED:
                found[i] = Doubt.UNIT
    return found


def _first_coordinates(batch: Block) -> FloatArray:
    """Reports (T', N) of a batch, of cases that are spread evenly."""
    step = -(-len(batch) // COMPARED)
    if batch.cube is not None:
        return batch.values[::step, :, 0]
    columns = [column[::step].astype(np.float64) for column in batch.reports]
    return np.stack(columns, axis=1)


def _change(pool: Pool, batch: Block, i: int, doubt: Doubt, fraction: bool) -> Fault:
    """Return the fault that an agent does not report as it did in the fit."""
    agent, own = pool.agents_[i], _first_coordinates(batch)[:, i]
    unit = schema_of(pool).unit(agent)
    key, cures = f"scores.{agent}", [Cure("empty-column"), Cure("fit-again")]
    if fraction or pool.habits_ is None:
        cures.insert(0, Cure("probabilities", key, "0-1"))
        most = float(unit.one * np.nanmax(own))
        return Fault("changed-scale", agent=agent, found=most, cures=tuple(cures))
    if doubt == Doubt.OPPOSITE:
        cures.insert(0, Cure("opposite", key, Unit(unit.one, unit.zero).span))
    elif doubt == Doubt.UNIT:
        cures.insert(0, Cure("new-range", key, unit.span))
    return Fault(
        f"changed-{doubt.name.lower()}",
        agent=agent,
        found=float(np.nanmedian(own)),
        cures=tuple(cures),
        fields={"then": float(expit(pool.habits_.quantiles[3, i]))},
    )


def _constant(agents: tuple[str, ...], batch: Block) -> dict[str, Report | None]:
    """The one report of each agent in a batch, None where it gives two.

    Most feeds show it in their first reports, so that this costs next to nothing.
    """
    found: dict[str, Report | None] = {}
    values = batch.values if batch.cube is not None else np.zeros(0)
    for i, agent in enumerate(agents):
        own = values[:, i] if batch.cube is not None else batch.reports[i][:, None]
        for part in (own[:FIRST], own):
            known = part[~np.isnan(part[:, 0])]
            if len(known):
                same = bool((known == known[0]).all())
                found[agent] = tuple(known[0].tolist()) if same else None
                if not same:
                    break
    return found


def pool_batch(pool: Pool, batch: Block, *, contributions: bool = False) -> PooledBatch:
    """Pool the cases of a batch that have reports; reports are checked here."""
    if isinstance(pool, LinearPool) and batch.reports and not contributions:
        p, outside, missing = kernels.linear_columns(batch.reports, pool.weights_)
        if not outside:
            return _decide_columns(pool, batch, p, missing)
    silent = np.isnan(batch.values[:, :, 0])
    known = np.asarray(~silent.all(axis=1))
    C, missing = batch.values.shape[2], silent.sum(axis=0)
    if not known.any():
        none = np.empty((0, C)), np.empty(0, dtype=np.int64)
        return PooledBatch(known, *none, missing)
    reports = batch.values[known]
    with _located(batch, known):
        values, _ = check_reports(reports[:, :, 0] if C == 1 else reports, pool.agents_)
        result = pool.pool(values, batch.columns.take(known))
    pooled = from_classes(result.probabilities)
    return PooledBatch(known, pooled, result.decisions, missing, values)


def _decide_columns(
    pool: LinearPool, batch: Block, p: FloatArray, missing: IntArray
) -> PooledBatch:
    """Decide cases whose columns were pooled without a table of rows: half the time."""
    known, pooled = ~np.isnan(p) if missing.any() else np.ones(len(p), bool), p[:, None]
    columns = batch.columns
    if not known.all():
        pooled, columns = pooled[known], columns.take(known)
    with _located(batch, known):
        return PooledBatch(known, pooled, pool.decide(pooled, columns), missing)


@contextmanager
def _located(batch: Block, known: BoolArray) -> Iterator[None]:
    """Say of an error in the cases with reports where these are."""
    rows = batch.start + np.flatnonzero(known)
    with named_cases(lambda t: batch.place(int(rows[t])).sentence()):
        yield


def _spread(values: Any, known: BoolArray) -> Any:
    """Values (P, ...) of the known cases among all T; 0 for the others."""
    if len(values) == len(known):
        return values
    every = np.zeros((len(known), *values.shape[1:]), dtype=values.dtype)
    every[known] = values
    return every


def decide_within(pool: Pool, batches: Iterable[Block], limit: Capacity) -> IntArray:
    """Decisions on all cases within a capacity, (T,); 0 where there is no report."""
    limit.check_classes(len(pool.classes_))
    costs = pool.costs or Costs()
    parts: dict[str, list[Any]] = {"p": [], "decisions": [], "times": []}
    parts |= {name: [] for name in costs.columns}
    reported = []
    for batch in batches:
        found = pool_batch(pool, batch)
        reported.append(found.known)
        parts["p"].append(found.pooled[:, 0])
        parts["decisions"].append(found.decisions)
        if batch.times is not None:
            parts["times"].append(batch.times[found.known])
        for name in costs.columns:
            parts[name].append(batch.columns[name][found.known])
    every = np.concatenate(reported)
    decisions = np.zeros(len(every), dtype=np.int64)
    if every.any():
        whole = {name: np.concatenate(part) for name, part in parts.items() if part}
        costs = costs.resolve({name: whole[name] for name in costs.columns})
        p = whole["p"]
        result = PoolResult(np.stack([1 - p, p], axis=1), whole["decisions"])
        decisions[every] = result.within(limit, costs, whole.get("times")).decisions
    return decisions


def _review(
    batch: Block, decisions: IntArray, known: BoolArray, share: float, seed: int
) -> dict[str, Ids]:
    """Whether each case is to be reviewed, and the chance that it was to be.

    Cases decided positive are reviewed anyway. The others are drawn by their id (by
    their place in the table where they have none), so that the draw can be repeated
    and checked, in any order.
    """
    ids: Any = range(batch.start, batch.start + len(batch))
    if batch.ids is not None:
        ids = batch.ids if isinstance(batch.ids, list) else batch.ids.to_pylist()
    review, chances = [], []
    for id, decision, there in zip(ids, decisions, known, strict=True):
        drawn = sha256(f"{seed}:{id}".encode()).digest()[:8]
        place = int.from_bytes(drawn, "big") / 2**64
        review.append(bool(decision > 0 or place < share) if there else None)
        chances.append((1.0 if decision > 0 else share) if there else None)
    return {
        "review": pa.array(review, pa.bool_()),
        "propensity": pa.array(chances, pa.float64()),
    }
