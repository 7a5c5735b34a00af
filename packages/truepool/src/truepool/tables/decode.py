"""Blocks: rows of a table, decoded by its schema, and what is wrong with them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truepool.core import kernels
from truepool.core.arrays import Array, BoolArray, FloatArray, IntArray
from truepool.panel.case_columns import CaseColumns
from truepool.tables import cells
from truepool.tables.faults import Cure, FaultList, Note, Place
from truepool.tables.schema import PERCENT, PROBABILITY, Schema, Unit

EDGE = 1e-6
"""How far outside [0, 1] single precision may carry a probability; it is clipped."""
SUM_EDGE = 0.01
"""How far from 1 the class probabilities of a report in a table may sum."""
MARKED = re.compile(r"[-+]?\d*[.,][\d.,]*\s*%?")
"""Text that would be a number with another decimal mark."""
MOST_WORDS = 3
"""So many different words in a column may mean that there is no report."""
UNKNOWN = -1
"""Class number of an outcome that is not known yet."""


FEW_OUTSIDE = 10
"""One report in so many outside [0, 1] is a slip, more may be in another unit."""


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rows: the first one's place in the table, and what each row has.

    ``reports`` has a column (T,) per agent, of single or double precision, NaN where
    there is no report; with one probability per class, ``cube`` is (T, N, K). The
    ``outcomes`` (T,) are class numbers, `UNKNOWN` where there is none yet.
    """

    start: int
    reports: tuple[Array, ...] = ()
    cube: FloatArray | None = None
    outcomes: IntArray | None = None
    ids: pa.Array | None = None
    times: Array | None = None
    columns: CaseColumns = field(default_factory=CaseColumns)
    weights: FloatArray | None = None
    groups: Array | None = None
    propensity: FloatArray | None = None
    notes: tuple[Note, ...] = ()
    place: Callable[[int], Place] = lambda row: Place("case", row)
    """Where a person finds a row of the table."""
    signed: tuple[str, ...] = ()
    """Agents whose reports carry percent signs."""
    rows: int = 0

    def __len__(self) -> int:
        """Return the number of rows, T."""
        return self.rows

    def shifted(self, rows: int) -> "Block":
        """Return the block of a table whose first row is so many rows further down."""
        place = self.place
        return replace(
            self, start=self.start + rows, place=lambda row: place(row - rows)
        )

    @property
    def values(self) -> FloatArray:
        """Coordinates (T, N, C); NaN: no report."""
        if self.cube is not None:
            return self.cube[:, :, 1:] if self.cube.shape[2] == 2 else self.cube
        return np.stack(self.reports, axis=1, dtype=np.float64)[:, :, None]

    @property
    def blank(self) -> BoolArray:
        """Rows without any report, (T,)."""
        if self.reports and not any(kernels.scan(c)[1] for c in self.reports):
            return np.zeros(len(self), dtype=bool)
        return np.asarray(np.isnan(self.values[:, :, 0]).all(axis=1))


def _cell(values: FloatArray) -> Callable[[int], float]:
    """Return a function that returns the number of a row."""
    return lambda row: float(values[row])


class Decoder:
    """Decodes rows by a schema, batch after batch, and collects what is wrong.

    ``zones`` of times must be alike in the whole table, so that it remembers them.
    """

    def __init__(
        self, schema: Schema, faults: FaultList | None = None, *, new: bool = False
    ) -> None:
        self.schema, self.new = schema, new
        self.faults = FaultList() if faults is None else faults
        self.start = 0
        self.zones: tuple[bool, str] | None = None
        self.rescaled = 0
        self.signs: dict[str, bool] = {}
        self.shown: dict[str, str] = {}
        self.noted: set[str] = set()

    def block(
        self, rows: pa.RecordBatch | pa.Table, start: int = 0, T: int | None = None
    ) -> Block:
        """Decode some rows, of which the first is number ``start`` of the table.

        A table without any column does not say how many rows it has: ``T`` does.
        """
        schema, T = self.schema, rows.num_rows if T is None else T
        self.start = start
        columns = {
            name: cells.plain(rows.column(name))
            for name in schema.columns
            if name in rows.schema.names
        }
        reports = [self._agent(agent, columns, T, start) for agent in schema.agents]
        cube = None
        if schema.classes:
            cube = np.stack(
                [np.stack(own, axis=1, dtype=np.float64) for own in reports], axis=1
            )
            cube = self._rescale(cube)
        single = () if cube is not None else tuple(own[0] for own in reports)
        named = {
            key: self._column(columns, vars(schema)[key])
            for key in ("outcome", "id", "time", "weight", "propensity", "group")
        }
        times = named["time"]
        return Block(
            start,
            single,
            cube,
            None if named["outcome"] is None else self.outcomes(named["outcome"]),
            named["id"],
            None if times is None else self.times(str(schema.time), times, start),
            CaseColumns(
                {
                    name: self.case_column(name, columns[name])
                    for name in schema.kept
                    if name in columns
                },
                T,
                copy=False,
            ),
            self._numbers("weight", named["weight"]),
            self._groups(named["group"]),
            self._numbers("propensity", named["propensity"]),
            self.notes(),
            signed=schema.signed,
            rows=T,
        )

    def _column(self, columns: Mapping[str, pa.Array], name: str | None) -> Any:
        return None if name is None else columns.get(name)

    def _agent(
        self, agent: str, columns: Mapping[str, pa.Array], T: int, start: int
    ) -> list[Array]:
        own = self.schema.reports[agent]
        found = [columns.get(name) for name in own]
        nothing = np.full(T, np.nan)
        if len(own) == 1 and self.schema.classes:
            if found[0] is None:
                return [nothing] * len(self.schema.labels)
            return self._by_class(agent, found[0])
        return [
            nothing if column is None else self.reports(agent, column, name, start)
            for name, column in zip(own, found, strict=True)
        ]

    def _by_class(self, agent: str, column: pa.Array) -> list[Array]:
        """Reports over classes in one cell: a list in their order, or by name."""
        K = len(self.schema.labels)
        names = [str(name) for name in self.schema.labels]
        found = np.full((len(column), K), np.nan)
        odd = np.zeros(len(column), dtype=bool)
        listed = column.to_pylist()
        for t, cell in enumerate(listed):
            if cell is None or cell != cell:
                continue
            values = cell if isinstance(cell, list) else []
            if isinstance(cell, Mapping):
                known = {str(k): v for k, v in cell.items() if v is not None}
                values = [known[n] for n in names] if set(known) == set(names) else []
            if len(values) == K and all(isinstance(v, int | float) for v in values):
                found[t] = values
            else:
                odd[t] = True
        self._mark(
            "report-classes",
            odd,
            Cure("write-classes", "", names),
            cell=lambda t: listed[t],
            agent=agent,
            fields={"classes": K},
        )
        return list(found.T)

    def reports(self, agent: str, column: pa.Array, name: str, start: int) -> Array:
        """Return the probabilities (T,) of an agent's column, NaN for none."""
        schema = self.schema
        if pa.types.is_floating(column.type) and not schema.missing:
            values = np.asarray(column.to_numpy(zero_copy_only=False))
            found = cells.Numbers(values)
        else:
            found = cells.numbers(column, schema.mark, schema.missing)
        return self.shares(agent, name, found, lambda: column, start)

    def shares(
        self,
        agent: str,
        name: str,
        found: cells.Numbers,
        column: Callable[[], pa.Array],
        rows: int | IntArray,
    ) -> Array:
        """Return the probabilities (T,) that numbers of an agent stand for.

        ``column`` returns the cells that they are from, and ``rows`` says which they
        are: the first one, or each. What is no probability is noted.
        """
        settings: dict[str, Any] = {
            "agent": agent,
            "column": name,
            "first": rows,
            "total": len(found.values),
        }
        if found.odd is not None and found.odd.any():
            self._odd(found.odd, column(), settings)
        unit = self.schema.unit(agent)
        if self._signs(unit, column, found, settings):
            return np.full(len(found.values), np.nan)
        shares = unit.shares(found.values)
        outside, _ = kernels.scan(shares)
        if not outside:
            return shares
        with np.errstate(invalid="ignore"):
            wrong = (shares < -EDGE) | (shares > 1 + EDGE)
        if wrong.any():
            settings["total"] = int(np.count_nonzero(~np.isnan(shares)))
            self.faults.add_rows(
                "report-outside" if unit == PROBABILITY else "number-outside",
                wrong,
                as_written(column()),
                cures=self._outside_cures(agent, unit, found, wrong),
                fields={"low": unit.low, "high": unit.high, "kind": unit.kind},
                **settings,
            )
        return np.clip(shares, 0.0, 1.0)

    def _outside_cures(
        self, agent: str, unit: Unit, found: cells.Numbers, wrong: BoolArray
    ) -> tuple[Cure, ...]:
        """What can be done about numbers outside of their range."""
        own = np.unique(found.values[wrong])
        cures = [Cure("fix")]
        if len(own) == 1 and np.isfinite(own[0]):
            cures.append(Cure("no-report", "missing", [f"{own[0]:.15g}"]))
        if unit != PROBABILITY:
            return (*cures, Cure("other-range", f"scores.{agent}", unit.span))
        known = found.values[np.isfinite(found.values)]
        several = FEW_OUTSIDE * np.count_nonzero(wrong) >= len(known) > 0
        if several and known.min() >= 0 and known.max() > 1:
            key, top = f"scores.{agent}", 10 ** int(np.ceil(np.log10(known.max())))
            if known.max() <= PERCENT.one:
                cures.append(Cure("percent", key, PERCENT.span))
            if top != PERCENT.one:
                cures.append(Cure("scores", key, f"0-{top}"))
        return (*cures, *self._without(agent))

    def _percent_with(self, agent: str) -> list[str]:
        """Agents to be declared as percentages, and one more; signs need no key."""
        schema = self.schema
        known = [a for a, unit in schema.units.items()
                 if unit == PERCENT and a not in schema.signed]  # fmt: skip
        return [*known, agent]

    def _without(self, agent: str) -> list[Cure]:
        """How the table can be read without an agent; a pool learns from two."""
        if self.new:
            return [Cure("leave-empty")]
        if len(self.schema.agents) < 3:
            return []
        return [Cure("leave-out", "ignore", [agent])]

    def _odd(
        self, odd: BoolArray, column: pa.Array, settings: Mapping[str, Any]
    ) -> None:
        """Note cells that are no number."""
        text = cells.trim(column, self.schema.missing)
        words = text.filter(pa.array(odd)).unique().to_pylist()
        cures = [Cure("fix")]
        if any(MARKED.fullmatch(word) for word in words):
            cures.append(Cure("one-mark"))
        elif len(words) <= MOST_WORDS:
            cures.append(Cure("no-report", "missing", words))
        cures += self._without(settings["agent"])
        self.faults.add_rows(
            "report-not-number",
            odd,
            lambda t: text[t].as_py(),
            cures=tuple(cures),
            **settings,
        )

    def _signs(
        self,
        unit: Unit,
        column: Callable[[], pa.Array],
        found: cells.Numbers,
        settings: Mapping[str, Any],
    ) -> bool:
        """Note percent signs where there should be none, or only some; all or none."""
        agent, signed = settings["agent"], found.signed
        if signed is None and self.signs.get(agent) is False:
            return False
        known = np.isfinite(found.values)
        if not known.any():
            return False
        signed = np.zeros(len(known), bool) if signed is None else signed
        bare = known & ~signed
        usual = bool(np.count_nonzero(signed) > np.count_nonzero(bare))
        before = self.signs.setdefault(agent, usual)
        mixed = (signed.any() and bare.any()) or bool(signed.any()) != before
        if not mixed and (unit == PERCENT or not signed.any()):
            return False
        cell, wrong = as_written(column()), bare if mixed and before else signed
        cure = (
            Cure("one-unit")
            if mixed
            else Cure("set", "percent", self._percent_with(agent))
        )
        self.faults.add_rows(
            "percent-signs-mixed" if mixed else "percent-sign",
            wrong,
            cell,
            cures=(cure,),
            **settings,
        )
        return True

    def _rescale(self, cube: FloatArray) -> FloatArray:
        """Rescale class probabilities that were rounded; note those that do not fit.

        Four whole percents may sum to 98 or 102: that much rounding explains.
        """
        totals = cube.sum(axis=2)
        silent = np.isnan(cube)
        part = np.asarray(silent.any(axis=2) & ~silent.all(axis=2))
        gap = np.nan_to_num(np.abs(totals - 1))
        whole = (np.abs(100 * cube - np.round(100 * cube)) < EDGE).all(axis=2)
        rounding = np.where(whole, 0.005 * cube.shape[2], 0.0)
        edge = np.maximum(SUM_EDGE, rounding) + 1e-9  # 0.99 is within 1 % of 1
        far = np.asarray(gap > edge)
        for i, agent in enumerate(self.schema.agents):
            self._mark("class-missing", part[:, i], Cure("fill-in"), agent=agent)
            self._mark(
                "class-sum",
                far[:, i],
                Cure("divide-by-sum"),
                cell=_cell(totals[:, i]),
                agent=agent,
                fields={"classes": cube.shape[2]},
            )
        self.rescaled += int((gap > np.finfo(np.float32).eps).sum())
        with np.errstate(invalid="ignore"):
            return np.where(gap[:, :, None] > 0, cube / totals[:, :, None], cube)

    def outcomes(self, column: pa.Array) -> IntArray:
        """Class numbers (T,) of a column of outcomes, `UNKNOWN` where there is none."""
        schema = self.schema
        names = list(schema.labels)
        T = len(column)
        if not names:
            return np.full(T, UNKNOWN)
        place = {name: k for k, name in enumerate(names)}
        if cells.is_text(column):
            found = cells.trim(column, schema.missing)
            place = {cells.fold(str(name)): k for name, k in place.items()}
        else:
            found = cells.labels(column, schema.missing)
        coded = pc.dictionary_encode(found)
        distinct = map(cells.fold, coded.dictionary.to_pylist())
        codes = np.array([*(place.get(cell, -2) for cell in distinct), UNKNOWN])
        numbers = codes[np.asarray(pc.fill_null(coded.indices, len(codes) - 1))]
        wrong = numbers == -2
        if wrong.any():
            words = pc.unique(found.filter(pa.array(wrong))).to_pylist()
            self._mark(
                "label-unknown",
                wrong,
                Cure("fix"),
                Cure("no-outcome", "missing", [str(word) for word in words]),
                cell=lambda t: found[t].as_py(),
                column=schema.outcome,
                fields={"labels": names},
            )
        return np.asarray(numbers, dtype=np.int64)

    def times(self, name: str, column: pa.Array, start: int) -> Array:
        """Return the times (T,) of a column; note cells that are none."""
        self.start, schema = start, self.schema
        found = cells.times(column, schema.formats.get(name), schema.missing)
        odd = np.zeros(len(column), bool) if found.odd is None else found.odd
        if odd.any():
            text, written = cells.trim(column), schema.formats.get(name) or ""
            zone = cells.zone_name(text[int(np.argmax(odd))].as_py() or "")
            cures = [Cure("offset") if zone else _time_cure(text, written)]
            cures += [] if self.new else [Cure("no-time", "ignore", [name])]
            code, fields = (
                "time-zone-name" if zone else "time-odd",
                {"written": written},
            )
            self._mark(
                code, odd, *cures, cell=as_written(text), column=name, fields=fields
            )
        mixed = np.zeros(len(column), bool)
        if self.zones is not None and found.zoned not in (None, self.zones[0]):
            mixed |= ~cells.is_empty(column)
        elif found.mixed is not None:
            mixed[found.mixed] = True
        self._mark(
            "time-zones-mixed",
            mixed,
            Cure("one-zone"),
            cell=lambda t: str(column[t].as_py()),
            column=name,
            fields={"other": self.zones[1] if self.zones else name},
        )
        if found.zoned is not None and self.zones is None:
            self.zones = (found.zoned, name)
        dated = found.values.dtype.kind == "M"
        gone = np.isnat(found.values) if dated else np.isnan(found.values * 1.0)
        self._mark("time-missing", gone & ~odd, Cure("fill-in"), column=name)
        return found.values

    def case_column(self, name: str, column: pa.Array) -> Array:
        """Return a column of the cases: amounts as numbers, else as it is.

        Among amounts that show how they are written a few other cells stay text.
        """
        schema = self.schema
        if not cells.is_text(column):
            return np.asarray(column.to_numpy(zero_copy_only=False))
        found = self._amounts(name, column)
        if found.odd is None and not found.doubtful:
            return found.values
        values = np.array(cells.trim(column, schema.missing).to_pylist(), dtype=object)
        odd = np.zeros(0, bool) if found.odd is None else found.odd
        if found.shown is not None and 4 * np.count_nonzero(odd) < len(odd):
            values[~odd] = found.values[~odd]
        return values

    def _amounts(self, name: str, column: pa.Array) -> cells.Amounts:
        """Read amounts; note the first one whose mark may mean either thing."""
        found = cells.amounts(column, self.schema.decimal, self.schema.missing)
        if found.doubtful:
            text = cells.trim(column, self.schema.missing)
            marked = pc.fill_null(pc.match_substring_regex(text, "[.,]"), False)
            cures = [Cure("set", "decimal", mark) for mark in ".,"]
            row, cell = int(np.argmax(np.asarray(marked))), as_written(text)
            only = np.arange(len(text)) == row
            self._mark("thousands-or-decimals", only, *cures, cell=cell, column=name)
        elif found.shown is not None and name not in self.shown:
            row, written = found.shown
            self.shown[name] = f"{written!r} as {found.values[row]:.15g}"
        return found

    def _numbers(self, key: str, column: pa.Array | None) -> FloatArray | None:
        """Weights or propensities (T,); note those that are none, or too small."""
        if column is None:
            return None
        schema, name = self.schema, vars(self.schema)[key]
        signed = cells.numbers(column, schema.mark, schema.missing)
        cell = as_written(column)
        if key == "propensity" and signed.signed is not None and signed.signed.any():
            values, odd = signed.values / 100, signed.odd
            bare = np.isfinite(values) & ~signed.signed
            cure = Cure("one-unit")
            self._mark("percent-signs-mixed", bare, cure, cell=cell, column=name)
        else:
            found = self._amounts(name, column)
            values, odd = found.values, found.odd
        odd = np.zeros(len(values), bool) if odd is None else odd
        high = 1.0 if key == "propensity" else np.inf
        gone = np.isnan(values) & ~odd
        with np.errstate(invalid="ignore"):
            wrong = ~gone & ~odd & ~((values > 0) & (values <= high))
        settings = {"cell": cell, "column": name, "fields": {"key": key}}
        self._mark("amount-odd", odd, Cure("fix"), **settings)
        self._mark(f"{key}-range", wrong, Cure("leave-out-case"), **settings)
        self._mark("amount-missing", gone, Cure("fill-in"), **settings)
        return values

    def _groups(self, column: pa.Array | None) -> Array | None:
        if column is None:
            return None
        text = cells.trim(column) if cells.is_text(column) else column
        gone, name = cells.is_empty(column), self.schema.group
        self._mark("group-missing", gone, Cure("fill-in"), column=name)
        return np.array(text.to_pylist(), dtype=object)

    def _mark(
        self,
        code: str,
        wrong: BoolArray,
        *cures: Cure,
        cell: Callable[[int], Any] = lambda t: None,
        **settings: Any,
    ) -> None:
        """Note rows (T,) of the block that are wrong, and a cell of the first one."""
        settings["total"] = settings.get("total", len(wrong))
        self.faults.add_rows(code, wrong, cell, self.start, cures=cures, **settings)

    def notes(self) -> tuple[Note, ...]:
        """Return what was done, since this was last asked, without being asked for."""
        found = [
            Note("amounts", {"column": name, "example": example})
            for name, example in self.shown.items()
            if name not in self.noted
        ]
        self.noted.update(self.shown)
        if self.rescaled:
            found.append(Note("rescaled", {"count": self.rescaled}))
        self.rescaled = 0
        return tuple(found)


def _time_cure(text: pa.Array, written: str) -> Cure:
    """What can be done about cells that are no times: correct them, if few."""
    likely = cells.likely_formats(text.drop_null().to_pylist())
    if written in likely:
        return Cure("fix")
    if likely and not likely[0]:
        return Cure("unset", "time-format")
    return Cure("time-format", "time-format", (likely or ["%d.%m.%Y %H:%M"])[0])


def as_written(column: pa.Array) -> Callable[[int], Any]:
    """Return what gives a cell as the table has it."""

    def cell(row: int) -> Any:
        value = column[row].as_py()
        if isinstance(value, float):
            return float(f"{value:.6g}")
        return value.strip() if isinstance(value, str) else value

    return cell
