"""Which agents repeat another agent, and how many there are in effect."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.special import ndtr

from truepool.audits.candidate import Candidate
from truepool.audits.evidence import Evidence
from truepool.audits.topic import Topic
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, log_scale
from truepool.data.panel import Panel
from truepool.measures.diversity import correlation, effective_agents
from truepool.measures.groups import FEWEST_CASES
from truepool.measures.inference.bootstrap import standard_errors

COPY, DISTINCT = 0.995, 0.99
"""Log-odds that correlate above the first are a copy, tested against the second."""

DECIMALS, COARSE = 3, 2
"""Decimals to which reports are rounded before two agents are compared, and those
where one of the two reports no more."""

MOST_EXTREME = 0.5
"""An agent of whose reports more than this share is 0 or 1 after that is compared as
it is only."""

FEW_EFFECTIVE = 0.5
"""Fewer effective agents than this share of all agents are worth a note."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test per agent but the first: do its log-odds repeat an earlier agent's."""
    panel = evidence.panel
    alike = np.nan_to_num(log_odds_correlation(panel))
    both = evidence.shared_cases
    chance = _p_values(alike, both)
    for j in range(1, len(panel.agents)):
        # Of equal ones the closest: two shared cases always correlate by 1 or -1.
        i = int(np.lexsort((-alike[j, :j], chance[j, :j]))[0])
        p = min(1.0, j * float(chance[j, i]))
        agent, model = panel.agents[j], panel.agents[i]
        yield Candidate(
            "copy",
            (agent, model),
            f"{agent} repeats {model}: their log-odds correlate by {alike[j, i]:.4f}, "
            "so one opinion is counted twice.",
            f"Leave {agent} or {model} out, or use a pool whose weights account for "
            "the overlap (`convex`, `stacked-lr`).",
            p_value=p,
            matters=bool(alike[j, i] >= COPY),
            number=_interval(evidence, float(alike[j, i]), both[j, i]),
            unit="correlation",
            price=partial(evidence.saving_without, j),
            figure="correlation",
            backfires="Use a pool whose weights account for the overlap (`convex`, "
            f"`stacked-lr`). Do not just leave {agent} out: on these cases that alone "
            "would cost more.",
            indifferent="Use a pool whose weights account for the overlap (`convex`, "
            f"`stacked-lr`), or leave {agent} or {model} out: whether the pool costs "
            f"more or less without {agent} is not clear from these cases.",
            postponed="Use a pool whose weights account for the overlap (`convex`, "
            f"`stacked-lr`), or leave {agent} or {model} out; look again at what that "
            "costs or saves once the broken agents are fixed.",
            broken=_identical(panel.values[:, i], panel.values[:, j]),
        )
    yield from _few(evidence)


def log_odds_correlation(panel: Panel) -> FloatArray:
    """Correlation (N, N) of log-odds: as they are, or as if both had been rounded.

    A copy that is rounded, or differs in the third decimal, has other log-odds where
    reports are near 0 or 1, and infinite ones at 0 and 1. Those are clipped at half a
    step; the larger correlation counts. Agents that are mostly that sure are not
    rounded: it would make them alike.

    >>> reports = np.random.default_rng(0).beta(1, 9, 500)
    >>> panel = Panel(np.c_[reports, reports.round(2)], np.arange(500) % 2)
    >>> log_odds_correlation(panel)[0, 1].round(4).item()
    1.0
    """
    values = panel.values
    known = ~np.isnan(values)
    alike = correlation(panel.with_reports(log_scale(values)))
    for decimals in (DECIMALS, COARSE):
        step = 10.0**-decimals
        rounded = values.round(decimals)
        extreme = ((rounded <= 0) | (rounded >= 1)).sum(axis=(0, 2))
        varied = extreme <= MOST_EXTREME * known.sum(axis=(0, 2))
        use = varied & varied[:, None]
        if decimals == COARSE:
            same = np.abs(rounded - values) < step / 1000
            coarse = np.asarray((same | ~known).all(axis=(0, 2)))
            use &= coarse | coarse[:, None]
        if use.any():
            seen = correlation(panel.with_reports(log_scale(rounded, step / 2)))
            alike = np.fmax(alike, np.where(use, seen, np.nan))
    return alike


def _few(evidence: Evidence) -> Iterator[Candidate]:
    """Report the number of effective agents, where it is far below their number."""
    N = len(evidence.panel.agents)
    number = effective_agents(evidence.correlation)
    if len(evidence.panel) >= FEWEST_CASES and number < FEW_EFFECTIVE * N:
        yield Candidate(
            "correlated",
            (),
            f"The {N} agents are worth {number:.1f} independent ones.",
            "Another agent of the same kind will add little; one that sees other data "
            "adds more.",
            least="note",
            number=Estimate(number, float("nan"), float("nan")),
            unit="effective agents",
            figure="correlation",
        )


def _identical(one: FloatArray, other: FloatArray) -> bool:
    """Whether two agents report identical numbers wherever both report."""
    both = ~np.isnan(one[:, 0]) & ~np.isnan(other[:, 0])
    return bool(both.any() and (one[both] == other[both]).all())


def _p_values(found: FloatArray, cases: FloatArray) -> FloatArray:
    """P-values of correlations if the agents are distinct (Fisher's z)."""
    gap = np.arctanh(np.clip(found, 0.0, 1 - 1e-12)) - np.arctanh(DISTINCT)
    return np.asarray(ndtr(-gap * np.sqrt(np.maximum(cases - 3, 0.0))))


def _interval(evidence: Evidence, found: float, cases: float) -> Estimate:
    """A correlation with the interval of Fisher's z, where the cases support one."""
    if evidence.shortage is not None or cases <= FEWEST_CASES:
        return Estimate(found, float("nan"), float("nan"))
    reach = standard_errors(evidence.level) / np.sqrt(cases - 3)
    if abs(found) >= 1 - 1e-12:
        whole = float(np.sign(found))
        return Estimate(whole, whole, whole)
    low, high = np.tanh(np.arctanh(found) + np.array([-reach, reach]))
    return Estimate(found, float(low), float(high))


topic = Topic("copies", check, few_cases=True, unsplit=True)
