"""Tables that nobody should have."""

import numpy as np


def sound_table(cases: int = 24) -> bytes:
    """Return a small table that every verb takes: ids, times, agents, outcomes."""
    rng = np.random.default_rng(0)
    outcomes = np.arange(cases) % 2
    reports = np.clip(
        0.5 + 0.25 * (2 * outcomes - 1)[:, None] + rng.normal(0, 0.25, (cases, 3)),
        0.01,
        0.99,
    ).round(3)
    lines = ["id,time,a,b,c,y"]
    for t, (row, y) in enumerate(zip(reports.tolist(), outcomes, strict=True)):
        lines.append(f"c{t},{t},{','.join(map(str, row))},{y}")
    return ("\n".join(lines) + "\n").encode()


SOUND = sound_table()
HEADER, *ROWS = SOUND.splitlines(keepends=True)


def _cell(value: bytes) -> bytes:
    """Replace one report of the sound table."""
    cells = ROWS[3].split(b",")
    cells[3] = value
    return b"".join([HEADER, *ROWS[:3], b",".join(cells), *ROWS[4:]])


def _column(value: bytes) -> bytes:
    """Replace every outcome of the sound table."""
    return HEADER + b"".join(row.rpartition(b",")[0] + b"," + value for row in ROWS)


TABLES: dict[str, bytes] = {
    "header.csv": HEADER,
    "one-row.csv": HEADER + ROWS[0],
    "two-rows.csv": HEADER + ROWS[0] + ROWS[1],
    "no-header.csv": b"".join(ROWS),
    "newlines.csv": b"\n" * 50,
    "nul.csv": SOUND.replace(b"c3", b"c\x003"),
    "latin.csv": SOUND.replace(b"c3", b"c\xe9"),
    "utf16.csv": SOUND.decode().encode("utf-16"),
    "bom.csv": b"\xef\xbb\xbf" + SOUND,
    "quote.csv": SOUND.replace(b"c3", b'"c3'),
    "ragged.csv": HEADER + ROWS[0] + b"1,2\n" + ROWS[1] + b"1,2,3,4,5,6,7,8,9\n",
    "twice.csv": SOUND.replace(b"a,b,c", b"a,a,c"),
    "unnamed.csv": SOUND.replace(b"a,b,c", b",,"),
    "no-outcome.csv": SOUND.replace(b"c,y", b"c,z"),
    "only-outcome.csv": b"y\n" + b"0\n1\n" * 9,
    "markup.csv": SOUND.replace(b"a,b,c", b"[/x],\x1b[31m,<b>"),
    "formula.csv": SOUND.replace(b"c3", b"=1+1"),
    "long-name.csv": SOUND.replace(b"a,b,c", b"a" * 70_000 + b",b,c"),
    "long-cell.csv": _cell(b"9" * 200_000),
    "negative.csv": _cell(b"-0.5"),
    "percent.csv": _cell(b"87"),
    "infinite.csv": _cell(b"inf"),
    "word.csv": _cell(b"maybe"),
    "missing.csv": HEADER + b"".join(b"c,1,,,," + row[-2:] for row in ROWS),
    "one-class.csv": _column(b"1\n"),
    "three-classes.csv": SOUND.replace(b",1\n", b",2\n", 4),
    "fraction.csv": _column(b"0.5\n"),
    "words.csv": SOUND.replace(b",1\n", b",yes\n").replace(b",0\n", b",no\n"),
    "huge-outcome.csv": _column(b"9" * 400 + b"\n"),
    "pending.csv": _column(b"\n"),
    "times.csv": SOUND.replace(b",3,", b",1e400,", 1),
    "dates.csv": SOUND.replace(b",3,", b",99999-13-45,", 1),
    "certain.csv": HEADER + b"".join(b"c,1,1,1,1," + row[-2:] for row in ROWS),
    "tiny.csv": HEADER + b"".join(b"c,1,5e-324,0,1e-300," + row[-2:] for row in ROWS),
    "cut.parquet": b"PAR1" + b"\x15\x04" * 40,
    "empty.parquet": b"",
    "cut.xlsx": b"PK\x03\x04" + b"\x00" * 60,
    "cut.pool": b"PK\x03\x04" + b"\x00" * 60,
    "cut.joblib": b"\x80\x05",
    "cut.onnx": b"\x08\x07",
    "cut.jsonl": b'{"a": 0.1,',
    "odd.tsv": SOUND,
}
"""Hostile tables and files by name. Some are sound to some verbs, which is as well."""
