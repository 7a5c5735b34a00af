"""A uniform sample of the rows of a data set, whatever its parts are.

Each row gets a random number from the seed and its place in the data set, and those
with the smallest are the sample: every set of so many rows is equally likely, and how
the rows are divided into parts, row groups and batches changes nothing.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from truepool.core.arrays import IntArray
from truepool.core.seeds import check_seed
from truepool.tables.dataset import Dataset

MOST_ROWS = 1_000_000
"""Largest number of rows that are held in memory: of a larger table, a sample is."""
BLOCK = 1 << 20
BLOCKS, BLOCK_ROWS = 20, 5_000
"""Of a data set that is not read into memory, so many blocks of so many rows each are
checked for what the audit would call a fault."""


def sample_rows(total: int, most: int, seed: int) -> IntArray:
    """Places of ``most`` of so many rows, drawn at random, in order.

    >>> sample_rows(10, 3, seed=1)
    array([0, 6, 9])
    """
    check_seed(seed)
    if total <= most:
        return np.arange(total)
    places, numbers = np.empty(0, np.int64), np.empty(0, np.uint64)
    for start in range(0, total, BLOCK):
        block = np.arange(start, min(start + BLOCK, total))
        drawn = _random_numbers(block, seed)
        if len(numbers) == most:
            near = drawn < numbers.max()
            block, drawn = block[near], drawn[near]
        places, numbers = np.append(places, block), np.append(numbers, drawn)
        if len(numbers) > most:
            least = np.argpartition(numbers, most - 1)[:most]
            places, numbers = places[least], numbers[least]
    return np.sort(places)


def read_sample(
    dataset: Dataset,
    most: int = MOST_ROWS,
    seed: int = 0,
    progress: Callable[[int], None] = lambda rows: None,
) -> pa.Table:
    """Read a sample of the rows with all columns; all rows if there are no more."""
    return read_rows(dataset, sample_rows(dataset.rows, most, seed), progress)


def spaced_rows(total: int) -> IntArray:
    """Places of rows in blocks that are spread evenly from the first to the last row.

    Reading these takes as long however many rows there are, and neighbours stay
    together, so that what a feed repeats can be seen.

    >>> spaced_rows(1_000_000)[[0, 4_999, 5_000, -1]].tolist()
    [0, 4999, 52368, 999999]
    """
    if total <= BLOCKS * BLOCK_ROWS:
        return np.arange(total)
    starts = np.linspace(0, total - BLOCK_ROWS, BLOCKS).astype(np.int64)
    return np.concatenate([np.arange(BLOCK_ROWS) + start for start in starts])


def read_rows(
    dataset: Dataset,
    places: IntArray,
    progress: Callable[[int], None] = lambda rows: None,
) -> pa.Table:
    """Read the rows at these places, in order, with all columns."""

    def wanted(first: int, end: int) -> bool:
        return bool(np.diff(np.searchsorted(places, [first, end]))[0])

    dataset.check_columns()
    names, taken = dataset.columns, []
    for batch in dataset.read(names, wanted):
        first, last = np.searchsorted(
            places, [batch.start, batch.start + len(batch.rows)]
        )
        chosen = places[first:last] - batch.start
        rows = batch.rows
        taken.append(rows if len(chosen) == len(rows) else rows.take(pa.array(chosen)))
        progress(len(rows))
    tables = [pa.Table.from_batches([rows]) for rows in taken]
    # A part in which an agent never reports may have the type null.
    whole = pa.concat_tables(tables, promote_options="default")
    return whole.rename_columns([name.strip() for name in whole.column_names])


def _random_numbers(places: IntArray, seed: int) -> NDArray[np.uint64]:
    """Random numbers by place: the generator SplitMix64 of Steele et al. (2014)."""
    start = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    x = (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x += start
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
