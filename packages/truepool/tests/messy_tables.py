"""Six messy tables of different kinds, as people export them, made by seed.

Each needs the answers to what it cannot say, and no other option.
"""

import csv
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np

CASES = 300
AGENTS = ("rf", "gbm", "vendor")


@dataclass(frozen=True)
class MessyTable:
    """A file, the options it needs, and what is in it."""

    name: str
    options: list[str] = field(default_factory=list)
    agents: tuple[str, ...] = AGENTS
    cases: int = CASES


TABLES = {
    "semicolons and decimal commas, in percent": MessyTable(
        "bank.csv", ["--positive", "ja"]
    ),
    "tabs, yes and no, newest outcomes missing": MessyTable(
        "soc.tsv", ["--positive", "yes"], cases=CASES - 30
    ),
    "a sheet of Excel": MessyTable("clinic.xlsx"),
    "long forecasts with updates": MessyTable(
        "forecasts.csv",
        ["--set", "decision-time=closes"],
        ("gbm", "rf", "vendor"),
    ),
    "classes by name, rounded": MessyTable("triage.csv"),
    "ids and other columns, agents by pattern": MessyTable(
        "export.csv",
        ["--outcome", "fraud", "--agents", "score_*", "--set", "id=account"],
        tuple(f"score_{name}" for name in AGENTS),
        CASES - 1,
    ),
}  # fmt: skip


def write(folder, kind, seed=0):
    """Write one of the tables into a folder and return its path."""
    path = folder / TABLES[kind].name
    {
        "bank.csv": _bank,
        "soc.tsv": _soc,
        "clinic.xlsx": _clinic,
        "forecasts.csv": _forecasts,
        "triage.csv": _triage,
        "export.csv": _export,
    }[path.name](path, np.random.default_rng(seed))
    return path


def _reports(rng):
    outcomes = (rng.random(CASES) < 0.3).astype(int)
    signal = 2 * outcomes[:, None] - 1 + rng.normal(0, [1.0, 1.5, 3.0], (CASES, 3))
    return 1 / (1 + np.exp(-signal)), outcomes


def _write(path, rows, sep=","):
    with path.open("w", newline="") as stream:
        csv.writer(stream, delimiter=sep).writerows(rows)


def _bank(path, rng):
    reports, outcomes = _reports(rng)
    rows = [["konto", "datum", *AGENTS, "betrug"]]
    for t in range(CASES):
        cells = [f"{100 * p:.1f}%".replace(".", ",") for p in reports[t]]
        date = f"{t % 28 + 1:02}.{t // 28 + 1:02}.2026"
        rows.append([f"{t:06}", date, *cells, "ja" if outcomes[t] else "nein"])
    _write(path, rows, ";")


def _soc(path, rng):
    reports, outcomes = _reports(rng)
    rows = [["id", *AGENTS, "attack"]]
    for t in range(CASES):
        cells = [
            f"{p:.4f}" if rng.random() > 0.1 or i == 0 else "NA"
            for i, p in enumerate(reports[t])
        ]
        label = "" if t >= CASES - 30 else ("no", "yes")[outcomes[t]]
        rows.append([f"event-{t}", *cells, label])
    _write(path, rows, "\t")


def _clinic(path, rng):
    from openpyxl import Workbook

    reports, outcomes = _reports(rng)
    book = Workbook()
    book.active.append(["id", *AGENTS, "relapse"])
    for t in range(CASES):
        cells = [
            float(p) if rng.random() > 0.05 or i == 0 else None
            for i, p in enumerate(reports[t])
        ]
        book.active.append([f"P{t}", *cells, int(outcomes[t])])
    book.save(path)


def _forecasts(path, rng):
    reports, outcomes = _reports(rng)
    rows = [
        ["question", "forecaster", "simulated", "closes", "probability", "resolved"]
    ]
    for t in range(CASES):
        for i, name in enumerate(AGENTS):
            for day, noise in ((1, 0.5), (5, 0.0), (25, 1.0)):
                p = (1 - noise) * reports[t, i] + noise * 0.5
                opened = date(2026, 1, 1) + timedelta(days=t)
                made, closes = opened + timedelta(days=day), opened + timedelta(days=20)
                rows.append([f"Q{t}", name, made, closes, f"{p:.3f}", outcomes[t]])
    order = rng.permutation(len(rows) - 1) + 1
    _write(path, [rows[0], *(rows[row] for row in order)])


def _triage(path, rng):
    names = ("low", "middle", "high")
    outcomes = rng.integers(0, 3, CASES)
    rows = [["id", *(f"{a}:{k}" for a in AGENTS for k in names), "label"]]
    for t in range(CASES):
        cells = []
        for spread in (1.0, 1.5, 3.0):
            logits = 2 * (np.arange(3) == outcomes[t]) + rng.normal(0, spread, 3)
            p = np.exp(logits) / np.exp(logits).sum()
            cells += [f"{x:.2f}" for x in p]
        rows.append([t, *cells, names[outcomes[t]]])
    _write(path, rows)


def _export(path, rng):
    reports, outcomes = _reports(rng)
    rows = [
        [
            "account",
            "amount",
            "country",
            "reviewed",
            *(f"score_{a}" for a in AGENTS),
            "fraud",
        ]
    ]
    for t in range(CASES):
        cells = [f"{p:.4f}" for p in reports[t]] if t else ["", "", ""]
        amount = f"{rng.lognormal(4):.2f}"
        rows.append([10_000 + t // 2, amount, "DE", t % 2, *cells, outcomes[t]])
    _write(path, rows)
