"""Printed cells of the paper's tables, found by label, key and column."""

from itertools import pairwise

from truepool_lab.paper.expected import paper_tables


def cell(label, key, column):
    """A printed number; a key of one part may be given bare."""
    key = key if isinstance(key, tuple) else (key,)
    return paper_tables()[label].numbers[key, column].value


def row(label, key, columns):
    return [cell(label, key, column) for column in columns]


def column(label, name):
    """A column by key, bare where it has one part, where it holds a number."""
    table = paper_tables()[label]
    found = {
        key if len(key) > 1 else key[0]: table.numbers[key, name].value
        for key in table.keys
    }
    return {key: value for key, value in found.items() if value is not None}


def unlike(values):
    """No two are the same number rounded differently: they are 5 % apart or more."""
    ordered = sorted(abs(value) for value in values)
    return all(b - a > 0.05 * b for a, b in pairwise(ordered))


def printed_gap(label, one, other):
    """Difference of two printed cells."""
    return cell(label, *one) - cell(label, *other)
