"""Which agents repeat another agent, and how many there are in effect."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np
from scipy.special import ndtr
from scipy.stats import kendalltau, rankdata

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.evidence import Evidence
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, log_scale
from truepool.measures.diversity import correlation, effective_agents
from truepool.measures.groups import FEWEST_CASES
from truepool.measures.inference.bootstrap import standard_errors
from truepool.panel.panel import Panel

COPY, DISTINCT = 0.995, 0.99
"""Log-odds that correlate above the first are a copy, tested against the second."""

DECIMALS, COARSE = 3, 2
"""Decimals to which reports are rounded before two agents are compared, and those
where one of the two reports no more."""

MOST_EXTREME = 0.5
"""An agent of whose reports more than this share is 0 or 1 after that is compared as
it is only."""

MOST_RANKED, FEWEST_RANKED, FEWEST_LEVELS = 20_000, 100, 20
"""Cases by which the order of two agents' reports is compared, at most and at least,
and how many different reports each of the two must have."""

WORTH_RANKING = 0.8
"""Rank correlation below which two agents are no copies, whatever they round."""

FEW_EFFECTIVE = 0.5
"""Fewer effective agents than this share of all agents are worth a note."""


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test per agent but the first: do its log-odds repeat an earlier agent's."""
    panel = evidence.panel
    by_value, (by_rank, ranked) = log_odds_correlation(panel), rank_correlation(panel)
    alike = np.nan_to_num(np.fmax(by_value, by_rank))
    higher = np.nan_to_num(by_rank, nan=-1.0) > np.nan_to_num(by_value, nan=-1.0)
    both = np.where(higher, ranked, evidence.shared_cases)
    chance = _p_values(alike, both)
    for j in range(1, len(panel.agents)):
        # Of equal ones the closest: two shared cases always correlate by 1 or -1.
        i = int(np.lexsort((-alike[j, :j], chance[j, :j]))[0])
        p = min(1.0, j * float(chance[j, i]))
        agent, model = panel.agents[j], panel.agents[i]
        yield Candidate(
            "copy",
            (agent, model),
            {"correlation": float(alike[j, i])},
            p_value=p,
            matters=bool(alike[j, i] >= COPY),
            number=_interval(evidence, float(alike[j, i]), both[j, i]),
            unit="correlation",
            price=partial(evidence.saving_without, j),
            broken=_identical(panel.values[:, i], panel.values[:, j]),
        )


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


def rank_correlation(panel: Panel) -> tuple[FloatArray, FloatArray]:
    r"""Correlation (N, N) that the order of two agents' reports shows, and its cases.

    Of two classes.

    A copy that is rounded or bent by a rising function orders cases as its model does.
    With the share :math:`\gamma` by which pairs of cases that neither agent ties are
    ordered alike more often than not (Goodman and Kruskal 1954), a normal pair has the
    correlation :math:`\sin(\pi \gamma / 2)` (Greiner 1909). Cases at an agent's lowest
    or highest report are left out: where both are mostly sure, these alone agree. NaN
    where fewer than `FEWEST_LEVELS` different reports, or `FEWEST_RANKED` cases, are
    left.

    >>> reports = np.random.default_rng(0).beta(0.2, 99, 3000)
    >>> bent = (reports**0.7).round(3)
    >>> panel = Panel(np.c_[reports, bent], np.arange(3000) % 2)
    >>> found, cases = rank_correlation(panel)
    >>> found[0, 1].round(4).item()
    1.0
    """
    N = len(panel.agents)
    found, cases = np.full((N, N), np.nan), np.zeros((N, N))
    if panel.classes > 2 or panel.sparse is not None:
        return found, cases
    step = -(-len(panel) // MOST_RANKED)
    values = panel.values[::step, :, 0]
    lowest = np.where(np.isnan(values), np.inf, values).min(axis=0)
    highest = np.where(np.isnan(values), -np.inf, values).max(axis=0)
    inner = (values > lowest) & (values < highest)
    for i, j in combinations(range(N), 2):
        x, y = values[inner[:, i] & inner[:, j]][:, [i, j]].T
        levels = min(len(np.unique(x)), len(np.unique(y)))
        if len(x) < FEWEST_RANKED or levels < FEWEST_LEVELS:
            continue
        if np.corrcoef(rankdata(x), rankdata(y))[0, 1] >= WORTH_RANKING:
            found[i, j] = found[j, i] = np.sin(np.pi / 2 * _gamma(x, y))
            cases[i, j] = cases[j, i] = len(x)
    return found, cases


def _gamma(x: FloatArray, y: FloatArray) -> float:
    """Goodman and Kruskal's gamma of two series, from Kendall's tau."""

    def tied(series: FloatArray) -> float:
        counts = np.unique(series, return_counts=True, axis=0)[1]
        return float((counts * (counts - 1)).sum() / 2)

    pairs = len(x) * (len(x) - 1) / 2
    of_x, of_y, of_both = tied(x), tied(y), tied(np.stack([x, y], axis=1))
    tau = float(kendalltau(x, y).statistic)
    surplus = tau * np.sqrt((pairs - of_x) * (pairs - of_y))
    return float(surplus / (pairs - of_x - of_y + of_both))


def check_diversity(evidence: Evidence) -> Iterator[Candidate]:
    """Report the number of effective agents, where it is far below their number."""
    N = len(evidence.panel.agents)
    number = effective_agents(evidence.correlation)
    if len(evidence.panel) >= FEWEST_CASES and number < FEW_EFFECTIVE * N:
        yield Candidate(
            "correlated",
            facts={"agents": N, "effective": number},
            least="note",
            number=Estimate(number, float("nan"), float("nan")),
            unit="effective-agents",
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


checks = (
    Check("copies", check, few_cases=True, unsplit=True),
    Check("diversity", check_diversity, about="pool", few_cases=True, unsplit=True),
)
