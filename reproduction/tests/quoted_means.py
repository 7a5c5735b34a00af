"""A mean with its standard error, as a claim quotes it, against values found."""

import numpy as np

from truepool_paper.claims import every


def assert_quoted(claim, quote, values):
    """The claim has this quote, and the values agree with it.

    A quoted mean may be one standard error away from the one found, so that a new run
    with the same conclusion needs no new sentence.
    """
    assert quote in every()[claim - 1].reason
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    quoted_mean, quoted_error = map(float, quote.split(" ± "))
    half = 0.5 * 10.0 ** -len(quote.partition(".")[2].partition(" ")[0])
    assert abs(quoted_mean - mean) <= half + error
    assert abs(quoted_error - error) <= half + 0.3 * error
