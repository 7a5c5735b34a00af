"""Tables for every reader: what each holds, what is declared of it, what is found.

A table is written as a person sees it. It gives the same numbers, or the same codes of
faults, as a file of any kind, as a frame, in parts, and as new cases of a pool that knows
its agents.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from pyarrow import parquet

from truepool.tables import (
    Declared,
    Schema,
    TableFaults,
    load_panel,
    match,
    read_panel,
    read_reports,
)
from truepool.tables.dataset import open_dataset
from truepool.tables.read import read_blocks
from truepool.tables.stream import open_panels

T = 60
RNG = np.random.default_rng(0)
P = RNG.uniform(0.05, 0.95, T).round(4)
Y = (RNG.uniform(size=T) < P).astype(int)
A, B = np.clip(P[:, None] + RNG.normal(0, 0.05, (T, 2)), 0.01, 0.99).T.round(4)
PERCENT = np.clip(100 * (P + RNG.normal(0, 0.05, T)), 1.5, 99).round(2)
STARS = RNG.integers(1, 11, (3, T))
SOUND = {"rf": P, "gbm": A, "mlp": B}


@dataclass(frozen=True, eq=False)
class Case:
    """Columns of a table, what is declared, and the codes of what is wrong or asked.

    ``new`` has the codes where the same rows are new cases of a pool that knows the
    agents, and their units as far as they are declared; ``reports`` (T, N) or (T, N, K)
    are those of the rows where nothing is wrong.
    """

    columns: dict[str, Any]
    keys: dict[str, Any] = field(default_factory=dict)
    codes: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    reports: Any = None

    @property
    def known(self):
        """What a pool knows of the agents of this table."""
        declared, labels = Declared.of(self.keys), ()
        if "who" in self.columns:
            agents = tuple(sorted({*self.columns["who"]}))
            reports, written = {}, LONG
        elif "level" in self.columns:
            agents, labels, written = ("rf", "gbm"), ("low", "mid", "top"), None
            reports = {a: tuple(f"{a}:{k}" for k in labels) for a in agents}
        else:
            agents = tuple(n for n in self.columns if n not in OTHERS)
            reports, written = {a: (a,) for a in agents}, None
        units = {a: declared.unit(a) for a in agents}
        units = {a: unit for a, unit in units.items() if unit is not None}
        return Schema(
            agents, reports, labels, units, labels=labels or (0, 1), long=written
        )


LONG = ("question", "who", "p")
OUTSIDE = ("report-outside",)
OTHERS = ("y", "day", "seen", "kept", "bureau")


def table(rf, *, reports=None, codes=(), new=None, y=Y, **keys):
    """Two sound agents beside a first one, and the outcome."""
    if not (codes or reports is not None):
        reports = np.column_stack([np.asarray(rf, float), A, B])
    codes = (codes,) if isinstance(codes, str) else codes
    new = codes if new is None else new
    return Case({**SOUND, "rf": rf, "y": y}, keys, codes, new, reports)


def changed(values, cells):
    """Values with other cells at some rows."""
    found = list(values)
    for row, cell in cells.items():
        found[row] = cell
    return found


def signed(values, form="{:.2f}%"):
    return [form.format(100 * v) for v in values]


def asked(columns, *codes, outside=0, y=True):
    """A table about which something is asked; a pool that knows its agents does not.

    So many agents are ``outside`` of [0, 1].
    """
    reports = None if outside else np.column_stack([P, A, B])
    outcomes = {"y": Y} if y else {}
    return Case(outcomes | columns, {}, codes, OUTSIDE * outside, reports)


def every(first):
    return np.column_stack([first, A, B])


def long(columns, **more):
    """The same reports with one row for each."""
    rows = [(f"q{t}", name, values[t], Y[t]) for t in range(T)
            for name, values in columns.items()]  # fmt: skip
    names = ("question", "who", "p", "y")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) | more


DAYS = [f"{1 + t % 12:02}/{1 + t // 12:02}/2026" for t in range(T)]
MIXED = np.where(np.arange(T) % 2 == 1, PERCENT, (PERCENT / 100).round(4))
CLASSES = {
    f"{name}:{label}": share
    for name, p in (("rf", P), ("gbm", A))
    for label, share in zip(("low", "mid", "top"), (p / 2, p / 2, 1 - p), strict=True)
}
LEVELS = np.array(["low", "mid", "top"])[np.arange(T) % 3]
CUBE = np.stack([np.stack([p / 2, p / 2, 1 - p], axis=1) for p in (P, A)], axis=1)

TABLES = {
    "probabilities": table(P),
    "text": table([f" {p}" for p in P], reports=every(P)),
    "gaps": table(changed(P, {3: None, 9: None}), reports=every(changed(P, {3: np.nan, 9: np.nan}))),
    "no report in a case": Case(
        {"rf": changed(P, {4: None}), "gbm": changed(A, {4: None}), "y": Y},
        reports=np.column_stack([changed(P, {4: np.nan}), changed(A, {4: np.nan})]),
    ),
    "words for nothing": table(changed(map(str, P), {3: "NA", 4: "null", 5: ""}),
                               reports=every(changed(P, dict.fromkeys((3, 4, 5), np.nan)))),
    "own word for nothing": table(changed(map(str, P), {3: "n/d"}), missing="n/d",
                                  reports=every(changed(P, {3: np.nan}))),
    "own number for nothing": table(changed(P, {3: -9}), missing="-9",
                                    reports=every(changed(P, {3: np.nan}))),
    "signs": table(signed(P), reports=every(P)),
    "signs with spaces": table(signed(P, "{:.2f} %"), reports=every(P)),
    "signs of small shares": table([f"{p}%" for p in P], reports=every(P / 100)),
    "percent that is declared": table(100 * P, percent="rf", reports=every(P)),
    "percent by a pattern": table(100 * P, percent="r?", reports=every(P)),
    "percent of all": Case({"a": 100 * P, "b": 100 * A, "y": Y}, {"percent": True},
                           reports=np.column_stack([P, A])),
    "signs beside declared percent": Case(
        {"a": signed(P), "b": 100 * A, "y": Y}, {"percent": True}, reports=np.column_stack([P, A]),
    ),
    "scores": table((999 * P).round(), scores={"rf": "0-999"}, reports=every((999 * P).round() / 999)),
    "scores reversed": table(850 - 550 * P, scores={"rf": "850-300"}, reports=every(P)),
    "scores of all": Case({"a": 1 + 4 * P, "b": 1 + 4 * A, "y": Y}, {"scores": "1-5"},
                          reports=np.column_stack([P, A])),
    "decimal commas": table([str(p).replace(".", ",") for p in P], reports=every(P)),
    "decimal commas and signs": table([f"{100 * p:.2f} %".replace(".", ",") for p in P], reports=every(P)),
    "decimal commas beside points": Case(
        {"rf": [f"{p:.4f}".replace(".", ",") for p in P], "gbm": [str(p) for p in A], "y": Y},
        reports=np.column_stack([P, A]),
    ),
    "scientific notation": table([f"{p:.3e}" for p in P], reports=every(P)),
    "truth values": table([bool(y) for y in Y], reports=every(Y)),
    "single precision": table(changed(P, {1: 1.0000001, 2: -1e-8}), reports=every(changed(P, {1: 1.0, 2: 0.0}))),
    "outcomes not known yet": table(P, y=changed(map(float, Y), {5: None, 6: None})),
    "labels": table(P, y=np.where(Y, "ja", "nein"), positive="ja"),
    "labels with spaces": table(P, y=np.where(Y, " ja", "nein "), positive="ja"),
    "long": Case(long({"gbm": A, "rf": P}), reports=np.column_stack([A, P])),
    "long with signs": Case(long({"gbm": signed(A), "rf": signed(P)}), reports=np.column_stack([A, P])),
    "long in two units": Case(long({"gbm": A, "rf": 100 * P}), {"percent": "rf"},
                              reports=np.column_stack([A, P])),
    "classes": Case(CLASSES | {"level": LEVELS}, reports=CUBE),
    "classes joined otherwise": Case({k.replace(":", "_"): v for k, v in CLASSES.items()} | {"level": LEVELS},
                                     reports=CUBE),
    "classes in percent": Case({k: 100 * v for k, v in CLASSES.items()} | {"level": LEVELS},
                               {"percent": True}, reports=CUBE),

    # one cell is wrong
    "a report of 1.2": table(changed(P, {7: 1.2}), codes="report-outside"),
    "two reports of -0.1": table(changed(P, {7: -0.1, 9: -0.1}), codes="report-outside"),
    "infinity": table(changed(P, {7: np.inf}), codes="report-outside"),
    "a word": table(changed(map(str, P), {7: "n/d"}), codes="report-not-number"),
    "a number that only Python reads": table(changed(map(str, P), {7: "1_0"}), codes="report-not-number"),
    "a sign among probabilities": table(changed(map(str, P), {7: "61%"}), codes="percent-signs-mixed"),
    "a sign missing": table(changed(signed(P), {7: "61"}), codes="percent-signs-mixed"),
    "150 percent": table(changed(100 * P, {7: 150.0}), percent="rf", codes="number-outside"),
    "140.5 %": table(changed(signed(P), {7: "140.5%"}), codes="number-outside"),
    "a score above the range": table(changed(999 * P, {7: 1200.0}), scores={"rf": "0-999"}, codes="number-outside"),
    "two decimal marks": table(changed([str(p).replace(".", ",") for p in P], {7: "0.61"}),
                               codes="report-not-number"),
    "a class above 1": Case(CLASSES | {"rf:top": changed(1 - P, {7: 1.9}), "level": LEVELS}, {},
                            ("report-outside", "class-sum"), ("report-outside", "class-sum")),
    "a class missing": Case(CLASSES | {"rf:top": changed(1 - P, {7: None}), "level": LEVELS}, {},
                            ("class-missing",), ("class-missing",)),
    "long with 1.2": Case(long({"gbm": A, "rf": changed(P, {7: 1.2})}), {}, ("report-outside",), ("report-outside",)),
    "long with a word": Case(long({"gbm": [*map(str, A)], "rf": changed(map(str, P), {7: "huh"})}), {},
                             ("report-not-number",), ("report-not-number",)),
    "everything at once": Case(
        {"rf": changed(map(str, P), {7: "huh"}), "gbm": changed(A, {3: 1.2}), "mlp": changed(signed(B), {9: "61"}), "y": Y},
        {}, ("report-not-number", "report-outside", "percent-signs-mixed"),
        ("report-not-number", "report-outside", "percent-signs-mixed"),
    ),

    # read in the wrong unit, these would give a confident wrong answer
    "one agent in percent": asked(SOUND | {"rf": PERCENT}, "unit", outside=1),
    "several agents in percent": asked({"a": PERCENT, "b": PERCENT[::-1], "c": A}, "unit", "unit", outside=2),
    "all agents in percent": asked({"a": PERCENT, "b": PERCENT[::-1]}, "unit", outside=2),
    "whole percents": asked({"a": PERCENT.round(), "b": PERCENT[::-1].round()}, "unit", outside=2),
    "stars": asked(SOUND | {"rf": STARS[0]}, "unit", outside=1),
    "half stars": asked(SOUND | {"rf": np.round(2 + 8 * P) / 2}, "unit", outside=1),
    "stars of all": asked(dict(zip("abc", STARS, strict=True)), "unit", outside=3),
    "numbers a little above 1": asked(SOUND | {"rf": 5 * P}, "unit", outside=1),
    "a quality that falls": asked(SOUND | {"rf": (99 - 60 * P).round(1)}, "unit", outside=1),
    "ages": asked(SOUND | {"rf": np.arange(T) % 57 + 18}, "unit", outside=1),
    "percent beside signs": asked({"a": signed(P), "b": PERCENT}, "unit", outside=1),
    "half stars beside signs": asked({"a": signed(P), "b": np.round(2 + 8 * A) / 2}, "unit", outside=1),
    "long, one agent in percent": Case(long({"gbm": A, "rf": PERCENT, "sun": B}), {}, ("unit",), OUTSIDE),
    "long, most agents in percent": Case(
        long({"gbm": A, "rf": PERCENT, "sun": PERCENT}), {}, ("unit", "unit"), OUTSIDE * 2),
    "long, all agents in whole percents": Case(
        long({"gbm": PERCENT.round(), "rf": PERCENT[::-1].round()}), {}, ("unit",), OUTSIDE * 2),
    "long, stars": Case(long(dict(zip("abc", STARS, strict=True))), {}, ("unit",), OUTSIDE * 3),
    "classes, one agent in percent": Case(
        CLASSES | {f"gbm:{k}": 100 * CLASSES[f"gbm:{k}"] for k in ("low", "mid", "top")} | {"level": LEVELS},
        {}, ("unit",), (*OUTSIDE, "class-sum")),
    "an agent that mixes units": table(MIXED, codes="report-outside"),
    "another agent is declared percent": Case(
        {"a": PERCENT, "b": PERCENT[::-1], "c": A, "y": Y}, {"percent": "a"}, OUTSIDE, OUTSIDE),
    "probabilities that are declared percent": table(P, percent="rf", codes="percent-up-to-one"),
    "long, probabilities that are declared percent": Case(
        long({"gbm": A, "rf": P}), {"percent": True}, ("percent-up-to-one",) * 2, ("percent-up-to-one",) * 2),
    # only the outcomes, or all agents together, show these
    "an agent that mixes units, declared percent": table(
        MIXED, percent="rf", codes="units-mixed", new=(), reports=every(MIXED / 100)),
    "stars that are declared percent": Case(
        dict(zip("abc", STARS, strict=True)) | {"y": Y}, {"percent": True}, ("percent-or-scores",) * 3,
        reports=STARS.T / 100),
    "stars beside a vendor, all declared percent": Case(
        {"stars": STARS[0] / 2, "vendor": PERCENT, "y": Y}, {"percent": True}, ("percent-or-scores",),
        reports=np.column_stack([STARS[0] / 200, PERCENT / 100])),
    "long, stars that are declared percent": Case(
        long(dict(zip("abc", STARS, strict=True))), {"percent": True}, ("percent-or-scores",) * 3,
        reports=STARS.T / 100),

    # what the rows cannot say
    "labels without a positive one": asked(SOUND | {"y": np.where(Y, "ja", "nein")}, "which-positive"),
    "two columns with 0 and 1": asked(SOUND | {"seen": Y, "kept": Y[::-1]}, "which-outcome", y=False),
    "no outcome": asked(SOUND, "no-outcome", y=False),
    "day or month": asked(SOUND | {"day": DAYS}, "which-format"),
    "three labels": asked(SOUND | {"y": np.resize(["ja", "nein", "offen"], T)}, "which-labels"),
    "many labels": asked(SOUND | {"y": np.resize([*"abcdef"], T)}, "three-labels"),
    "labels in two spellings": asked(
        SOUND | {"y": changed(np.where(Y, "ja", "nein"), {3: "Ja", 5: "?"})}, "which-labels"),
    "a column of scores that nobody named": asked(SOUND | {"bureau": 850 - 550 * P}, "maybe-scores"),
    "31 February": asked(SOUND | {"day": ["31.02.2026", *(f"{15 + t % 9}.03.2026" for t in range(1, T))]}, "time-odd"),
    "one label": asked(SOUND | {"y": ["ja"] * T}, "one-label"),
    "everything asked at once": asked(
        SOUND | {"rf": PERCENT, "y": np.where(Y, "ja", "nein"), "day": DAYS},
        "which-format", "unit", "which-positive", outside=1),
    "a question and a fault": asked(
        SOUND | {"rf": changed(P, {7: 1.2}), "y": np.where(Y, "ja", "nein")},
        "report-outside", "which-positive", outside=1),
}  # fmt: skip


# Readers: each returns the reports of a table as they were given, in the order of the rows


def frame(case):
    """A table as pyarrow has it."""
    columns = {n: v.tolist() if isinstance(v, np.ndarray) else [*v]
               for n, v in case.columns.items()}  # fmt: skip
    return pa.table(columns)


def write(case, path):
    """Write a table to a file, by its name; return the path."""
    rows = frame(case).to_pandas()
    if path.suffix == ".parquet":
        parquet.write_table(frame(case), path)
    elif path.suffix == ".jsonl":
        lines = map(json.dumps, frame(case).to_pylist())
        path.write_text("\n".join(lines) + "\n")
    elif path.suffix == ".xlsx":
        rows.to_excel(path, index=False)
    elif path.suffix == ".tsv":
        rows.to_csv(path, index=False, sep="\t")
    else:
        rows.to_csv(path, index=False, sep=";" if path.stem == "semicolons" else ",")
    return path


def panel_of(source, case):
    """Read a table whole; cases without an outcome are put back to their places."""
    panel, _ = load_panel(source, Declared.of(case.keys), allow_empty_cases=True)
    if panel.pending is None:
        return panel.reports
    return np.insert(
        panel.reports, panel.pending.position, panel.pending.reports, axis=0
    )


def parts_of(case, folder):
    """Read a folder of Parquet files as a stream."""
    rows = frame(case)
    for n in range(3):
        part = rows.slice(n * len(rows) // 3, len(rows) // 3)
        parquet.write_table(part, folder / f"{n}.parquet")
    stream = open_panels(open_dataset(folder), Declared.of(case.keys))
    return np.concatenate([panel.reports for panel in stream.in_order()])


def new_keys(case):
    """What is declared of new cases: nothing about an outcome."""
    return {k: v for k, v in case.keys.items() if k not in ("outcome", "positive")}


def blocks_of(source, case):
    """Read new cases some thousand at a time."""
    declared = Declared.of(new_keys(case))
    found = match(source, case.known, declared)
    values = [block.values for block in read_blocks(found, declared=declared)]
    values = np.concatenate(values)
    return values[:, :, 0] if values.shape[2] == 1 else values


def reports_of(source, case):
    """Read new cases whole, by the names of the agents."""
    keys = new_keys(case) | ({"long": LONG} if case.known.long else {})
    return read_reports(source, case.known.agents, **keys).values


def outcome_of(read, *arguments):
    """Codes of what is wrong, or the reports."""
    try:
        return read(*arguments)
    except TableFaults as faults:
        return faults.codes


def check(found, codes, reports):
    """Compare codes, or reports, with those that there should be."""
    if codes or isinstance(found, tuple):
        assert found == codes
    else:
        assert_allclose(found, reports, atol=1e-12)


def refusal(source, read=read_panel, **keys):
    """The faults for which a table is refused."""
    with pytest.raises(TableFaults) as refused:
        read(source, **keys)
    return refused.value


def read_table(source, **keys):
    """A panel, and how its table was read."""
    return load_panel(source, Declared.of(keys))
