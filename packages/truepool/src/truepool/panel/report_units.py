"""Units of reports: what numbers outside [0, 1] may be, and how they are read."""

import shlex
from collections.abc import Sequence

import numpy as np

from truepool.core.arrays import FloatArray, IntArray
from truepool.core.formatting import join_names
from truepool.panel.row_names import case_name
from truepool.panel.sparse import SparseReports

SLIP_SHARE, SLIP_HEIGHT = 0.02, 0.1
"""Reports outside [0, 1] are slips up to this share of an agent's; above 1, also only
so far above."""

UNIT_RATIO = 10.0
"""Percentages go so many times as high as fractions, at least."""

SMALL = 0.01
"""Percentages up to here were written as numbers up to 1, as fractions are."""

MIXED_SHARE = 0.05
"""Share of an agent's reports that must be in another unit for it to mix units."""

LARGEST_LOGIT = 40.0
"""Log-odds further from 0 are beyond what a probability can be told from 0 or 1 by."""

MAX_SCORE = 10
"""Whole numbers up to here look like scores of a judge, and not like percentages."""

SMALL_SCORE = 20
"""Whole numbers up to this are scores as often as percentages."""


CODES = frozenset(
    (-1.0, -9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9998.0, 9999.0, 99999.0)
)
"""Numbers that stand for "no report" in many exports."""

FAR_CODE = 2.0
"""Such a number above 0 is at least so many times the largest report."""


LEVELS = np.linspace(0.02, 0.98, 49)
"""Quantiles of an agent's reports before and since a change that are compared."""
STRAIGHT = 0.1
"""A change of scale is a factor where the logarithms of these quantiles have a slope
within this of 1."""
ROUND = 0.05
"""A factor this close to a power of ten, as a share of it, is that power."""

NEAREST, NEAR = 50, 50
"""The jump is looked for within so many reports, or a fiftieth of them."""

CHANCE_OF_NONE = 1e-6
"""Where no report before a case is above 1, and so many since, the unit changed there:
by chance it would be less likely than this."""


def range_cure(outside: FloatArray, cell: str, kind: str) -> str:
    """Say what to do about percentages or scores outside of their range.

    They may mean no report if all are the same number, which is one of the usual codes
    or stands in several cells.

    >>> range_cure(np.array([101.0]), "101", "percentage")
    'Correct it, change --percent'
    >>> range_cure(np.array([9999.0]), "9999", "score")
    'If it means no report, pass --missing 9999; else correct it, change --scores'
    """
    option = "--scores" if kind == "score" else "--percent"
    one = len(np.unique(outside)) == 1
    if one and (len(outside) > 1 or outside[0] in CODES):
        code = f"If it means no report, pass --missing {shlex.quote(cell)}"
        return f"{code}; else correct it, change {option}"
    return f"Correct it, change {option}"


def percent_option(agents: Sequence[str]) -> str:
    """Return the option that says of a table that these agents report percentages.

    >>> percent_option(["vendor_a", "vendor b"])
    "--percent='vendor_a,vendor b'"
    """
    return f"--percent={shlex.quote(join_patterns(agents))}"


def scores_option(agents: Sequence[str], span: str) -> str:
    """Return the option that says of a table from where to where scores of agents go.

    >>> scores_option(["vendor b"], "100-0")
    "--scores 'vendor b=100-0'"
    """
    return f"--scores {shlex.quote(f'{join_patterns(agents)}={span}')}"


def reversing_options(agent: str) -> str:
    """End a sentence with the options that reverse an agent's reports, by their unit.

    >>> reversing_options("rf").partition(".")[0]
    ': pass `--scores rf=1-0`'
    """
    return (
        f": pass `{scores_option([agent], '1-0')}`. If it reports percentages, pass "
        f"`{scores_option([agent], '100-0')}` and name the others that do "
        "(--percent=NAMES); if scores, swap the ends of its range."
    )


def join_patterns(names: Sequence[str]) -> str:
    """Return names in one text that is split at commas.

    A question mark stands for any character, also for a comma in a name.
    """
    return ",".join(name.replace(",", "?") for name in names)


def largest_reports(reports: FloatArray | SparseReports) -> FloatArray:
    """Return the largest number (N,) that each agent reports, 0 where there is none.

    >>> largest_reports(np.array([[[0.2], [np.nan]], [[0.4], [np.nan]]]))
    array([0.4, 0. ])
    """
    if not isinstance(reports, SparseReports):
        return np.asarray(np.nanmax(reports, axis=(0, 2), initial=0.0))
    largest = np.zeros(reports.agents)
    np.maximum.at(largest, reports.agent, reports.values)
    return largest


def report_counts(reports: FloatArray | SparseReports) -> IntArray:
    """Return the number of reports (N,) of each agent.

    >>> report_counts(np.array([[[0.2], [np.nan]], [[0.4], [0.1]]]))
    array([2, 1])
    """
    if isinstance(reports, SparseReports):
        return reports.agent_counts
    return np.asarray((~np.isnan(reports[:, :, 0])).sum(axis=0))


def shares_above(reports: FloatArray | SparseReports) -> tuple[float, ...]:
    """Share of each agent's reports that are above `SMALL`, 0 where it has none.

    >>> shares_above(np.array([[[0.2], [np.nan]], [[0.004], [0.1]]]))
    (0.5, 1.0)
    """
    counts = report_counts(reports)
    if isinstance(reports, SparseReports):
        high = np.bincount(reports.agent[reports.values > SMALL], minlength=len(counts))
    else:
        high = (reports > SMALL).any(axis=2).sum(axis=0)
    return tuple((high / np.maximum(counts, 1)).tolist())


def describe_outside(values: FloatArray, names: tuple[str, ...]) -> str:
    """Say which agent left [0, 1] first, and guess its unit."""
    t, i, k = (int(index) for index in np.argwhere((values < 0) | (values > 1))[0])
    given = values[:, i]
    low, high = float(np.nanmin(given)), float(np.nanmax(given))
    if not np.isfinite([low, high]).all():
        cure = "Infinity is no report: leave the cell empty if there is none."
    elif is_slip(given):
        count = int(((given < 0) | (given > 1)).sum())
        cure = (
            f"Correct or empty {'this cell' if count == 1 else f'these {count} cells'}."
        )
    elif low >= 0 and (changed := _unit_change(given, t, names[i])):
        cure = changed
    elif low < 0 and max(-low, high) <= LARGEST_LOGIT:
        cure = "These look like logits (log-odds): apply a sigmoid, 1 / (1 + exp(-x))."
    elif (
        low >= 0
        and high in range(3, MAX_SCORE + 1)
        and not (given[given == given] % 1).any()
    ):
        cure = _score_cure(values, i, names, f"{min(1, int(low))}-{max(5, int(high))}")
    elif 0 <= low and high <= 100:
        cure = _mix(values, i, names) or _percent_cure(
            largest_reports(values), i, names
        )
        cure += _small_score_cure(values, names)
    else:
        cure = _score_cure(values, i, names, "LOW-HIGH")
    value = values[t, i, k].item()
    return (
        f"a report must lie in [0, 1]; agent {names[i]!r} has {value:g} in "
        f"{case_name(t)} "
        f"(all its reports lie between {low:g} and {high:g}). {cure}"
    )


def factor_of(reports: FloatArray, place: int) -> float | None:
    """Factor by which reports (T,) changed at a place; None if it was no factor.

    >>> reports = np.random.default_rng(0).beta(1, 99, 2000)
    >>> factor_of(np.r_[reports[:1000], reports[1000:] / 1000], 1000)
    0.001
    """
    parts = [own[own > 0] for own in (reports[:place], reports[place:])]
    if min(map(len, parts)) < len(LEVELS):
        return None
    x, y = (np.log(np.quantile(own, LEVELS)) for own in parts)
    if np.ptp(x) == 0 or abs(np.polyfit(x, y, 1)[0] - 1) > STRAIGHT:
        return None
    shift = float(np.median(y - x)) / np.log(10)
    if abs(10 ** (shift - round(shift)) - 1) < ROUND:
        shift = float(round(shift))
    return float(10**shift)


def jump_of(reports: FloatArray, place: int) -> int:
    """Place of the first report (T,) in the new unit, near where a change was found.

    Where the logarithms of the reports around it are likeliest if those before have one
    normal distribution and those since have the other.

    >>> reports = np.random.default_rng(0).beta(1, 99, 2000)
    >>> jump_of(np.r_[reports[:1000], reports[1000:] / 1000], 1008)
    1000
    """
    reach = max(NEAREST, len(reports) // NEAR)
    x = np.log(np.where(reports > 0, reports, np.nan))
    before, since = x[: max(place - reach, 1)], x[place + reach :]
    if min(np.isfinite(before).sum(), np.isfinite(since).sum()) < NEAREST:
        return place
    first = max(place - reach, 0)
    near = x[first : place + reach]
    fits = [
        -np.square((near - np.nanmean(part)) / np.nanstd(part)) / 2
        - np.log(np.nanstd(part))
        for part in (before, since)
    ]
    gain = np.nan_to_num(fits[0] - fits[1])
    return first + int(np.argmax(np.concatenate([[0.0], np.cumsum(gain)])))


def _unit_change(given: FloatArray, t: int, name: str) -> str:
    """Say that an agent's unit changed at case t, its first report above 1; or "".

    ``given`` are its reports (T, K).
    """
    own = given.max(axis=1)
    before, since = (part[~np.isnan(part)] for part in (own[:t], own[t:]))
    share = float((since > 1).mean())
    if share == 1 or not len(before) * np.log1p(-share) < np.log(CHANCE_OF_NONE):
        return ""
    factor = factor_of(own, t)
    by = "" if factor is None else f" by {factor:g}"
    return (
        f"No report of {name!r} before {case_name(t)} is above 1, and "
        f"{100 * share:.0f} % since are: its unit changed there. Divide its reports "
        f"from there on{by}, or leave them empty."
    )


def _score_cure(values: FloatArray, i: int, names: tuple[str, ...], span: str) -> str:
    """Say how numbers of agent i that are no percentages are read, or left out."""
    high = np.flatnonzero(largest_reports(values) > 1)
    own = join_patterns([names[i]])
    option = shlex.quote(span if len(high) == len(names) else f"{own}={span}")
    return (
        f"If these are scores, pass their lowest and highest (--scores {option}); if "
        f"{names[i]!r} is not an agent, leave that column out (--ignore "
        f"{shlex.quote(names[i])}; of a saved pool, in its fit)."
    )


def is_slip(given: FloatArray) -> bool:
    """Whether so few reports of an agent leave [0, 1] that no unit explains them.

    Percentages that are small in most cases reach far above 1 in the others.
    """
    known = given[np.isfinite(given)]
    outside = (known < 0) | (known > 1)
    near = known.min() < 0 or known.max() <= 1 + SLIP_HEIGHT
    return bool(near and outside.sum() <= SLIP_SHARE * known.size)


def _others(tops: FloatArray, i: int) -> list[int]:
    """Agents that report fractions, if agent i goes much higher than they do."""
    others = np.flatnonzero((0 < tops) & (tops <= 1)).tolist()
    if not others or tops[i] < UNIT_RATIO * tops[others].max():
        return []
    return others


def option_of(tops: FloatArray, i: int, names: tuple[str, ...]) -> str:
    """Return the option for percentages of agent i: of all agents, or of some."""
    if not _others(tops, i):
        return "--percent"
    return percent_option([n for n, top in zip(names, tops, strict=True) if top > 1])


def _percent_cure(tops: FloatArray, i: int, names: tuple[str, ...]) -> str:
    """Say how percentages of agent i are read, alone or beside probabilities."""
    option = option_of(tops, i, names)
    if not _others(tops, i):
        return f"These look like percentages: divide by 100 ({option})."
    percent = [name for name, top in zip(names, tops, strict=True) if top > 1]
    one = len(percent) == 1
    those = join_names([repr(name) for name in percent])
    return (
        f"Only {those} {'is' if one else 'are'} in percent: divide "
        f"{'it' if one else 'them'} by 100 ({option})."
    )


def _small_score_cure(values: FloatArray, names: tuple[str, ...]) -> str:
    """Say how small whole numbers are read if they are scores; "" for others."""
    above = np.flatnonzero(largest_reports(values) > 1)
    span = small_scale(values[:, above])
    if not span:
        return ""
    if len(above) < len(names):
        span = f"{join_patterns([names[i] for i in above])}={span}"
    scores = f"--scores {shlex.quote(span)}"
    return f" If they are scores, pass {scores} (lowest-highest) instead."


def small_scale(values: FloatArray) -> str:
    """Return the scale of whole numbers up to `SMALL_SCORE`; "" for other numbers.

    >>> small_scale(np.array([3.0, 14.0, np.nan])), small_scale(np.array([3.5, 14.0]))
    ('1-14', '')
    """
    known = values[~np.isnan(values)]
    if known.max() > SMALL_SCORE or (known % 1).any():
        return ""
    return f"{min(1, int(known.min()))}-{known.max():g}"


def _mix(values: FloatArray, i: int, names: tuple[str, ...]) -> str | None:
    """Say that agent i mixes percentages and probabilities, if it does."""
    tops = largest_reports(values)
    others = _others(tops, i)
    if not others or values.shape[2] > 1:
        return None
    column, cure = values[:, i, 0], f"pass {option_of(tops, i, names)}."
    mixed = mixed_units(column, values[:, others, 0])
    said = mixed and describe_mix(names[i], column, mixed)
    return said and f"{said} If all of it is in percent, {cure}"


def mixed_units(column: FloatArray, others: FloatArray) -> tuple[int, int] | None:
    """Return a case with a percentage and one with a probability of one agent (T,).

    None where it has one unit. ``others`` (T, M) are probabilities of other agents: its
    numbers up to 1 are probabilities if, as such, most of them lie closer to the
    reports of most of the others. One of these may report the opposite, which small
    percentages are far from. Cases are counted, since few large numbers would decide a
    mean where events are rare.
    """
    below = (column > 0) & (column <= 1) & np.isfinite(others).any(axis=1)
    above = column > 1
    if not above.any() or below.sum() < MIXED_SHARE * np.isfinite(column).sum():
        return None
    x, reports = column[below, None], others[below]
    reports = reports[:, np.isfinite(reports).any(axis=0)]
    closer = abs(x - reports) < abs(x / 100 - reports)
    mostly = 2 * closer.sum(axis=0) > np.isfinite(reports).sum(axis=0)
    if 2 * mostly.sum() <= reports.shape[1]:
        return None
    return int(np.argmax(above)), int(np.argmax(below))


def describe_mix(name: str, column: FloatArray, cases: tuple[int, int]) -> str:
    """Say that an agent mixes percentages and probabilities, with a case of each."""
    percent, share = (f"{column[t]:g} in {case_name(t)}" for t in cases)
    return (
        f"{name!r} mixes percentages and probabilities ({percent}, {share}); write it "
        "in one unit."
    )
