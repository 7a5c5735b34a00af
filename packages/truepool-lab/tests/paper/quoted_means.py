"""A mean with its standard error, as a claim quotes it, against values found."""

import numpy as np

from truepool_lab.paper.claims import every

ROUNDING = 1e-9
"""Means that lie between two quotes may be quoted as either."""


def assert_quoted(claim, quote, values, *, stored=False):
    """The claim has this quote, which is that of the values to the last digit.

    Values that are not stored but computed anew may differ by one in that digit: on
    another machine a decision may fall otherwise.
    """
    assert quote in every()[claim - 1].reason
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    quoted_mean, quoted_error = map(float, quote.split(" ± "))
    digit = 10.0 ** -len(quote.partition(".")[2].partition(" ")[0])
    most = (digit / 2 if stored else digit) + ROUNDING
    found = f"claim {claim} quotes {quote}; found {mean:.6g} ± {error:.6g}"
    assert abs(quoted_mean - mean) <= most, found
    assert abs(quoted_error - error) <= most, found
