"""NSL-KDD: network connections, each normal or an attack."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from truepool.arrays import Array, FloatArray, IntArray
from truepool.errors import SettingError, SourceError

TRAIN, TEST = "KDDTrain+.txt.gz", "KDDTest+.txt.gz"

FIFTH = 25_192
"""Rows of the published ``KDDTrain+_20Percent``: the first of ``KDDTrain+``."""

CATEGORIES = ("protocol_type", "service", "flag")

NAMES = (
    "duration protocol_type service flag src_bytes dst_bytes land wrong_fragment "
    "urgent hot num_failed_logins logged_in num_compromised root_shell su_attempted "
    "num_root num_file_creations num_shells num_access_files num_outbound_cmds "
    "is_host_login is_guest_login count srv_count serror_rate srv_serror_rate "
    "rerror_rate srv_rerror_rate same_srv_rate diff_srv_rate srv_diff_host_rate "
    "dst_host_count dst_host_srv_count dst_host_same_srv_rate dst_host_diff_srv_rate "
    "dst_host_same_src_port_rate dst_host_srv_diff_host_rate dst_host_serror_rate "
    "dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate"
).split()


@dataclass(frozen=True, eq=False)
class Features:
    """Rows to train agents on: features (T, F), outcomes (T,) and feature names."""

    values: FloatArray
    outcomes: IntArray
    names: tuple[str, ...]


def nsl_kdd(
    rows: int | None = 50_000,
    attacks: float = 0.48,
    seed: int = 0,
    *,
    train: int | None = None,
) -> Features:
    """Connections of NSL-KDD (Tavallaee et al. 2009) in random order; 1 is an attack.

    Both files, ``KDDTrain+.txt.gz`` and ``KDDTest+.txt.gz``, are read from the folder
    that the environment variable ``TRUEPOOL_DATA`` names, and drawn from as one table:
    48.1 % of the two together are attacks, the paper's 48 % (the train file alone has
    46.5 %). Categories are numbered in alphabetical order over both files, so no row
    has a category without a number.

    Parameters
    ----------
    rows : int, optional
        How many to draw without replacement; 50,000 as in the paper. None takes all,
        at whatever share of attacks they have.
    attacks : float
        Share of attacks among the rows drawn.
    seed : int
        For the draw and the order.
    train : int, optional
        Use only this many of the train file's first rows; ``FIFTH`` with ``rows=None``
        gives the 47,736 rows of READINGS 4.
    """
    first, second = _read(TRAIN), _read(TEST)
    table = pa.concat_tables([first, second])
    place = np.arange(len(table))
    kept = place >= len(first)
    kept |= place < (len(first) if train is None else train)
    columns = [_numbers(table[name], name in CATEGORIES) for name in NAMES]
    values = np.stack(columns, axis=1)[kept]
    outcomes = (table["label"].to_numpy() != "normal").astype(np.int64)[kept]
    order = _drawn(outcomes, rows, attacks, np.random.default_rng(seed))
    return Features(values[order], outcomes[order], tuple(NAMES))


def _read(name: str) -> pa.Table:
    folder = os.environ.get("TRUEPOOL_DATA")
    cure = f"Set TRUEPOOL_DATA to the folder that holds {TRAIN} and {TEST}."
    if not folder:
        raise SourceError(
            "NSL-KDD is read from the folder that TRUEPOOL_DATA names; the variable is "
            f"not set. {cure}"
        )
    path = Path(folder) / name
    if not path.is_file():
        raise SourceError(
            "NSL-KDD is read from the folder that TRUEPOOL_DATA names; there is no "
            f"file {str(path)!r}. {cure}"
        )
    columns = [*NAMES, "label", "difficulty"]
    texts = (*CATEGORIES, "label")
    types = {name: pa.string() if name in texts else pa.float64() for name in columns}
    try:
        return csv.read_csv(
            path,
            csv.ReadOptions(column_names=columns),
            convert_options=csv.ConvertOptions(column_types=types),
        )
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise SourceError(
            f"{str(path)!r} must be the original file, 43 columns without a header; "
            f"it cannot be read: {reason}. Fetch it again."
        ) from None


def _numbers(column: pa.ChunkedArray, category: bool) -> FloatArray:
    values: Array = column.to_numpy()
    if category:
        values = np.unique(values.astype(str), return_inverse=True)[1]
    return values.astype(np.float64)


def _drawn(
    outcomes: IntArray, rows: int | None, attacks: float, rng: np.random.Generator
) -> IntArray:
    """Rows at the share of attacks asked for, in random order."""
    if rows is None:
        return rng.permutation(len(outcomes))
    wanted = (rows - round(rows * attacks), round(rows * attacks))
    there = np.bincount(outcomes, minlength=2)
    if not all(0 <= want <= have for want, have in zip(wanted, there, strict=True)):
        raise SettingError(
            f"NSL-KDD has {there[0]} normal rows and {there[1]} attacks to draw from; "
            f"rows={rows} at attacks={attacks} asks for {wanted[0]} and {wanted[1]}"
        )
    parts = [
        rng.choice(np.flatnonzero(outcomes == label), want, replace=False)
        for label, want in enumerate(wanted)
    ]
    return rng.permutation(np.concatenate(parts))
