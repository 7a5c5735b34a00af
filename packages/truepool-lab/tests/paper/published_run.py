"""Numbers of the published run, found by label, key and column."""

from functools import cache
from math import sqrt
from pathlib import Path

import numpy as np
from scipy.stats import t

from truepool_lab.paper.archive import from_jsonl
from truepool_lab.paper.significance import split_factor

ARCHIVE = Path(__file__).parents[4] / "docs" / "reproduction.jsonl"


@cache
def published():
    """The published run, read once."""
    return from_jsonl(ARCHIVE.read_text(encoding="utf-8"))


def ours(label, key, column):
    """What was measured; a key of one part may be given bare."""
    key = key if isinstance(key, tuple) else (key,)
    return published()[label].cells[key, column].measured


def value(label, key, column):
    return ours(label, key, column).value


def repeats(label, key, column):
    return np.array(ours(label, key, column).values, dtype=float)


def gap(label, one, other):
    """Mean difference of two cells over the repeats, and its standard error."""
    apart = repeats(label, *one) - repeats(label, *other)
    return apart.mean(), apart.std(ddof=1) / sqrt(len(apart))


def p_of_splits(label, one, other):
    """Two-sided p-value of a mean difference over overlapping 70/30 splits."""
    apart = repeats(label, *one) - repeats(label, *other)
    error = apart.std(ddof=1) / sqrt(len(apart)) * split_factor(len(apart))
    return 2 * t.sf(abs(apart.mean()) / error, len(apart) - 1)


def interval_of(values):
    """95 % interval of a mean over the repeats (Student)."""
    half = t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / sqrt(len(values))
    return np.mean(values) - half, np.mean(values) + half


def interval(label, one, other):
    """95 % interval of the mean difference of two cells over the same repeats."""
    return interval_of(repeats(label, *one) - repeats(label, *other))


def above(label, one, other):
    """Whether one cell is significantly above another."""
    return interval(label, one, other)[0] > 0


def covers(bounds, number):
    return bounds[0] <= number <= bounds[1]
