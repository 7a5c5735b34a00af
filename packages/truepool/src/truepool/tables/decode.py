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
from truepool.tables.faults import Cure, Fault, FaultList, Note, Place
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
            cube = self._rescale(cube, start)
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
            None
            if named["outcome"] is None
            else self.outcomes(named["outcome"], start),
            named["id"],
            None if times is None else self.times(str(schema.time), times, start),
            CaseColumns(
                {
                    name: self.case_column(name, columns[name], start)
                    for name in schema.kept
                    if name in columns
                },
                T,
                copy=False,
            ),
            self._numbers("weight", named["weight"], start),
            self._groups(named["group"], start),
            self._numbers("propensity", named["propensity"], start),
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
            return self._by_class(agent, found[0], start)
        return [
            nothing if column is None else self.reports(agent, column, name, start)
            for name, column in zip(own, found, strict=True)
        ]

    def _by_class(self, agent: str, column: pa.Array, start: int) -> list[Array]:
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
        self.faults.add_rows(
            "report-classes",
            odd,
            lambda t: listed[t],
            start,
            agent=agent,
            cures=(Cure("write-classes", "", names),),
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
            if known.max() <= 100:
                cures.append(Cure("percent", "percent", self._percent_with(agent)))
            top = f"0-{10 ** int(np.ceil(np.log10(known.max())))}"
            cures.append(Cure("scores", f"scores.{agent}", top))
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

    def _rescale(self, cube: FloatArray, start: int) -> FloatArray:
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
            self.faults.add_rows(
                "class-missing",
                part[:, i],
                lambda t: None,
                start,
                agent=agent,
                cures=(Cure("fill-in"),),
            )
            self.faults.add_rows(
                "class-sum",
                far[:, i],
                _cell(totals[:, i]),
                start,
                len(cube),
                agent=agent,
                cures=(Cure("divide-by-sum"),),
                fields={"classes": cube.shape[2]},
            )
        self.rescaled += int((gap > np.finfo(np.float32).eps).sum())
        with np.errstate(invalid="ignore"):
            return np.where(gap[:, :, None] > 0, cube / totals[:, :, None], cube)

    def outcomes(self, column: pa.Array, start: int) -> IntArray:
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
            self.faults.add_rows(
                "label-unknown",
                wrong,
                lambda t: found[t].as_py(),
                start,
                T,
                column=schema.outcome,
                fields={"labels": names},
                cures=(
                    Cure("fix"),
                    Cure(
                        "no-outcome",
                        "missing",
                        [
                            str(v)
                            for v in pc.unique(
                                found.filter(pa.array(wrong))
                            ).to_pylist()
                        ],
                    ),
                ),
            )
        return np.asarray(numbers, dtype=np.int64)

    def times(self, name: str, column: pa.Array, start: int) -> Array:
        """Return the times (T,) of a column; note cells that are none."""
        schema = self.schema
        found = cells.times(column, schema.formats.get(name), schema.missing)
        if found.odd is not None:
            text = cells.trim(column)
            row = int(np.argmax(found.odd))
            zone = cells.zone_name(text[row].as_py() or "")
            code = "time-zone-name" if zone else "time-odd"
            written = schema.formats.get(name) or ""
            cures = [Cure("offset") if zone else _time_cure(text, written)]
            cures += [] if self.new else [Cure("no-time", "ignore", [name])]
            self.faults.add_rows(
                code,
                found.odd,
                lambda t: text[t].as_py(),
                start,
                len(column),
                column=name,
                cures=tuple(cures),
                fields={"written": written},
            )
        mixed = found.mixed
        if self.zones is not None and found.zoned not in (None, self.zones[0]):
            mixed = int(np.argmax(~cells.is_empty(column)))
        if mixed is not None:
            other = self.zones[1] if self.zones else name
            self.faults.add(
                Fault(
                    "time-zones-mixed",
                    column=name,
                    row=start + mixed,
                    found=str(column[mixed].as_py()),
                    fields={"other": other},
                    cures=(Cure("one-zone"),),
                )
            )
        if found.zoned is not None and self.zones is None:
            self.zones = (found.zoned, name)
        gone = (
            np.isnat(found.values)
            if found.values.dtype.kind == "M"
            else (np.isnan(found.values.astype(np.float64)))
        )
        gone &= True if found.odd is None else ~found.odd
        self.faults.add_rows(
            "time-missing",
            gone,
            lambda t: None,
            start,
            len(column),
            column=name,
            cures=(Cure("fill-in"),),
        )
        return found.values

    def case_column(self, name: str, column: pa.Array, start: int) -> Array:
        """Return a column of the cases: amounts as numbers, else as it is.

        Among amounts that show how they are written a few other cells stay text.
        """
        schema = self.schema
        if not cells.is_text(column):
            return np.asarray(column.to_numpy(zero_copy_only=False))
        found = cells.amounts(column, schema.decimal, schema.missing)
        if found.odd is None and not found.doubtful:
            self._show(name, found)
            return found.values
        text = cells.trim(column, schema.missing)
        if found.doubtful:
            self._doubt(name, text, start)
        values = np.array(text.to_pylist(), dtype=object)
        odd = np.zeros(0, bool) if found.odd is None else found.odd
        if found.shown is not None and 4 * np.count_nonzero(odd) < len(odd):
            values[~odd] = found.values[~odd]
        return values

    def _show(self, name: str, found: cells.Amounts) -> None:
        if found.shown is not None and name not in self.shown:
            row, cell = found.shown
            self.shown[name] = f"{cell!r} as {found.values[row]:.15g}"

    def _doubt(self, name: str, text: pa.Array, start: int) -> None:
        row = int(
            np.argmax(
                np.asarray(pc.fill_null(pc.match_substring_regex(text, "[.,]"), False))
            )
        )
        self.faults.add(
            Fault(
                "thousands-or-decimals",
                column=name,
                row=start + row,
                found=text[row].as_py(),
                cures=(Cure("set", "decimal", "."), Cure("set", "decimal", ",")),
            )
        )

    def _numbers(
        self, key: str, column: pa.Array | None, start: int
    ) -> FloatArray | None:
        """Weights or propensities (T,); note those that are none, or too small."""
        if column is None:
            return None
        schema, name = self.schema, vars(self.schema)[key]
        signed = cells.numbers(column, schema.mark, schema.missing)
        if key == "propensity" and signed.signed is not None and signed.signed.any():
            values, odd = signed.values / 100, signed.odd
            bare = np.isfinite(values) & ~signed.signed
            self.faults.add_rows(
                "percent-signs-mixed",
                bare,
                as_written(column),
                start,
                len(column),
                column=name,
                cures=(Cure("one-unit"),),
            )
        else:
            found = cells.amounts(column, schema.decimal, schema.missing)
            values, odd = found.values, found.odd
            if found.doubtful:
                self._doubt(name, cells.trim(column), start)
            self._show(name, found)
        shown = as_written(column)
        high = 1.0 if key == "propensity" else np.inf
        with np.errstate(invalid="ignore"):
            gone = np.isnan(values) if odd is None else np.isnan(values) & ~odd
            wrong = ~gone & ~((values > 0) & (values <= high))
        settings = {"column": name, "fields": {"key": key}}
        if odd is not None:
            wrong &= ~odd
            self.faults.add_rows(
                "amount-odd",
                odd,
                shown,
                start,
                len(column),
                cures=(Cure("fix"),),
                **settings,
            )
        self.faults.add_rows(
            f"{key}-range",
            wrong,
            shown,
            start,
            len(column),
            cures=(Cure("leave-out-case"),),
            **settings,
        )
        if key == "weight" or gone.any():
            self.faults.add_rows(
                "amount-missing",
                gone,
                shown,
                start,
                len(column),
                cures=(Cure("fill-in"),),
                **settings,
            )
        return values

    def _groups(self, column: pa.Array | None, start: int) -> Array | None:
        if column is None:
            return None
        text = cells.trim(column) if cells.is_text(column) else column
        gone = cells.is_empty(column)
        self.faults.add_rows(
            "group-missing",
            gone,
            lambda t: None,
            start,
            len(column),
            column=self.schema.group,
            cures=(Cure("fill-in"),),
        )
        return np.array(text.to_pylist(), dtype=object)

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
