"""Whether agents report the opposite of what happens, and since when."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.check import Check
from truepool.audits.discrimination import auc_interval
from truepool.audits.evidence import Evidence
from truepool.audits.kinds import LIKELY, SURE
from truepool.audits.timeline import dates
from truepool.audits.values import PER_THOUSAND
from truepool.comparison import Estimate
from truepool.core.arrays import FloatArray, IntArray, case_mean, to_classes
from truepool.measures.groups import describe_shortage, enough_cases
from truepool.measures.inference import holm, independent_units, paired_p_values
from truepool.measures.losses import Loss
from truepool.measures.scores import auc
from truepool.online.alarms.change_point import Change, change
from truepool.panel.panel import Panel
from truepool.panel.sparse import DENSE_CELLS

REVERSED = 0.45
"""AUC below which an agent is reversed and not just uninformative."""
NEARLY_ALL = 0.8
"""Where at least this share of the agents that can be judged is reversed, as is the
mean of all, the labels are in doubt."""
MOST_CASES = 100_000
"""Cases by which commands other than the audit judge whether agents are reversed."""
CHANCE = 0.575
"""Where the AUC of the agents' mean is below this for sure, the outcome is in doubt."""


@dataclass(frozen=True, eq=False)
class LabelDoubt:
    """Why the other of two labels may be the positive one.

    Of the agents that can be ``judged``, so many rank cases the ``wrong`` way round.
    """

    wrong: int
    judged: int
    agents: int
    positive: str
    other: str
    test: "_Test"

    @property
    def facts(self) -> dict[str, Any]:
        """What a sentence about it needs."""
        form = "all" if self.wrong == self.judged else "most"
        form = form if self.judged else "mean"
        counts = {"wrong": self.wrong, "judged": self.judged, "agents": self.agents}
        return {"form": form, "positive": self.positive, "label": self.other} | counts


@dataclass(frozen=True)
class ReversedAgent:
    """An agent that reports the opposite of what happens, by its AUC on its cases."""

    agent: str
    cases: int
    area: float


def check(evidence: Evidence) -> Iterator[Candidate]:
    """One test per agent."""
    yield from (_agent(evidence, i) for i in range(len(evidence.panel.agents)))


def check_outcome(evidence: Evidence) -> Iterator[Candidate]:
    """Whether the labels are the wrong way round, or the outcome is another column."""
    doubt = doubt_labels(evidence.panel)
    if doubt is not None:
        yield Candidate(
            "reversed-labels",
            facts=doubt.facts,
            p_value=doubt.test.p_value,
            number=auc_interval(doubt.test.area, doubt.test.outcomes, evidence.level),
            unit="auc-of-mean",
        )
    if evidence.compute(is_outcome_unrelated):
        decision, cost = best_constant(evidence.panel, evidence.loss)
        labels = evidence.panel.labels
        yield Candidate(
            "unrelated-outcome",
            facts={
                "positive": str(labels.positive),
                "negative": str(labels.negative),
                "decision": str(decision),
                "cost": PER_THOUSAND * cost,
            },
            least="error",
        )


def reversed_agents(panel: Panel) -> list[ReversedAgent]:
    """Agents that report the opposite of what happens, where the labels are right.

    By the test of the audit, at its level for errors, divided by the number of agents;
    of many cases, by some that are spread evenly. Nobody is judged by too few cases.
    """
    if panel.sparse is not None:  # thousands of agents who report now and then
        return []
    panel = panel.unsplit()
    if len(panel) > MOST_CASES:
        panel = panel.take(np.linspace(0, len(panel) - 1, MOST_CASES).astype(np.int64))
    level = SURE / len(panel.agents)
    return [
        ReversedAgent(agent, len(test.outcomes), test.area)
        for i, agent in enumerate(panel.agents)
        if _is_wrong(test := _test_agent(panel, i), level)
        and not _is_short(panel, test)
    ]


def _is_short(panel: Panel, test: "_Test") -> bool:
    """Whether an agent reported on too few cases to be judged."""
    groups = None if panel.groups is None else panel.groups[panel.order[test.places]]
    return describe_shortage(test.outcomes, groups=groups) is not None


def is_outcome_unrelated(evidence: Evidence) -> bool:
    """Whether the outcome of the evidence may be the wrong one."""
    return is_unrelated(evidence.panel)


def is_unrelated(panel: Panel) -> bool:
    """Whether no agent ranks the outcome beyond chance, so that it may be another one.

    Neither the mean of the agents nor one of them ranks the cases significantly better
    or worse than chance (Holm), and the AUC of the mean is below `CHANCE` for sure.
    """
    large = panel.sparse is not None and panel.sparse.cells > DENSE_CELLS
    if panel.classes > 2 or large or not enough_cases(panel.outcomes):
        return False
    mean = _mean(panel)
    known = np.flatnonzero(~np.isnan(mean[:, 0]))
    weights = panel.case_weights()
    own = None if weights is None else weights[known]
    area = auc(to_classes(mean[known]), panel.outcomes[known], sample_weight=own)
    if auc_interval(area, panel.outcomes[known], 1 - LIKELY).high >= CHANCE:
        return False
    everyone = [mean, *panel.values.swapaxes(0, 1)]
    p_values = [relation_p_value(panel, reports) for reports in everyone]
    return bool(min(holm(np.array(p_values))) >= LIKELY)


def relation_p_value(panel: Panel, reports: FloatArray) -> float:
    """Test whether reports (T, 1) rank cases other than by chance, or turned round."""
    test = _test(panel, _ranks(reports))
    own = panel.order[test.places]
    if len(own) < 2 or np.ptp(reports[own]) == 0:
        return 1.0
    weights, groups = panel.case_weights(), panel.groups
    parts = independent_units(
        test.excess[:, None],
        None if weights is None else weights[own],
        None if groups is None else groups[own],
    )
    turned = change(test.excess).p_value if panel.times is not None else 1.0
    return min(float(paired_p_values(parts)[0]), turned)


def best_constant(panel: Panel, loss: Loss) -> tuple[Any, float]:
    """Return the label that costs least if it is always decided, and that cost."""
    y = panel.outcomes
    costs = [
        case_mean(
            loss.costs.cost_per_case(y, np.full(len(y), k), panel.classes),
            panel.case_weights(),
        )
        for k in range(panel.classes)
    ]
    best = int(np.argmin(costs))
    return panel.labels.names[best], float(costs[best])


def doubt_labels(panel: Panel) -> LabelDoubt | None:
    """Ask whether the other label is the positive one, by tests of ranks.

    Where events are rare a few large reports decide a test of the reports themselves.
    Agents that turned round at some date are no reason to doubt the labels.
    """
    if panel.classes > 2:
        return None
    test = _test(panel, _ranks(_mean(panel)))
    if not _is_wrong(test):
        return None
    labels = panel.labels
    wrong, judged = _count_wrong(panel)
    if wrong < NEARLY_ALL * judged:
        return None
    names = str(labels.positive), str(labels.negative)
    return LabelDoubt(wrong, judged, len(panel.agents), *names, test)


def _mean(panel: Panel) -> FloatArray:
    """Mean of the agents (T, 1), NaN where nobody reports."""
    if panel.sparse is not None:
        total, count = panel.sparse.by_case(panel.sparse.values), panel.sparse.counts
    else:
        known = ~np.isnan(panel.values)
        total = np.where(known, panel.values, 0.0).sum(axis=1)
        count = known.sum(axis=1)
    total, count = total.reshape(-1, 1), count.reshape(-1, 1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _count_wrong(panel: Panel) -> tuple[int, int]:
    """How many agents are reversed, and how many can be judged at all.

    That takes enough cases, or few that leave no doubt either way. Nobody is judged
    where there are too many to look at each.
    """
    if panel.sparse is not None and panel.sparse.cells > DENSE_CELLS:
        return 0, 0
    wrong = judged = 0
    for own in panel.values.swapaxes(0, 1):
        turned = _is_wrong(_test(panel, _ranks(own)))
        known = panel.outcomes[~np.isnan(own[:, 0])]
        sure = turned or _is_wrong(_test(panel, _ranks(-own)))
        judged += sure or enough_cases(known)
        wrong += turned and _always(panel, own)
    return wrong, judged


def _always(panel: Panel, reports: FloatArray) -> bool:
    """Whether an agent with reports (T, 1) did not turn round at some date."""
    test = _test(panel, _testable(reports))
    dated = test.p_value < LIKELY and panel.times is not None
    return not dated or _turn(test.excess) is None


def _is_wrong(test: "_Test", level: float = SURE) -> bool:
    return test.p_value < level and test.area < REVERSED


def _testable(reports: FloatArray) -> FloatArray:
    """Ranks of reports on two classes; those on more as they are, (T, C).

    Where events are rare a few large reports decide a test of the reports themselves.
    """
    return _ranks(reports) if reports.shape[1] == 1 else reports


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks of reports (T, 1) as shares between 0 and 1; NaN without a report."""
    from scipy.stats import rankdata

    ranks = rankdata(values, nan_policy="omit", axis=0)
    return np.asarray((ranks - 0.5) / max(np.count_nonzero(~np.isnan(values)), 1))


@dataclass(frozen=True, eq=False)
class _Test:
    """Whether reports give outcomes less probability than chance would.

    ``places`` are those of the reported cases in time, ``excess`` (T',) is the
    probability that each outcome got beyond chance.
    """

    p_value: float
    area: float
    places: IntArray
    outcomes: IntArray
    excess: FloatArray


def _test(panel: Panel, values: FloatArray) -> _Test:
    r"""Test reports (T, C): do they give outcomes *less* probability than chance would.

    :math:`\sum_k \mathrm{cov}(p_k, 1[y = k])`, by a t-test over the cases; its sign is
    that of AUC - 1/2 for two classes, and K classes need no other.
    """
    order = panel.order
    counted, groups = panel.case_weights(), panel.groups
    weights = np.ones(len(panel)) if counted is None else counted
    share = np.bincount(panel.outcomes, weights, panel.classes) / weights.sum()
    places = np.flatnonzero(~np.isnan(values[order, 0]))
    own = order[places]
    reports, outcomes = values[own], panel.outcomes[own]
    excess = _excess(reports, outcomes, share)
    parts = independent_units(
        excess[:, None],
        None if counted is None else counted[own],
        None if groups is None else groups[own],
    )
    below = len(parts) > 1 and parts.mean() < 0
    p = float(paired_p_values(parts)[0]) if below else 1.0
    area = 0.5
    if p < LIKELY:
        area = auc(to_classes(reports), outcomes, sample_weight=weights[own])
    return _Test(p, area, places, outcomes, excess)


def _test_agent(panel: Panel, i: int) -> _Test:
    return _test(panel, _testable(panel.values[:, i]))


def _agent(evidence: Evidence, i: int) -> Candidate:
    panel = evidence.panel
    agent, test = panel.agents[i], _test_agent(panel, i)
    candidate = Candidate(
        "reversed",
        (agent,),
        {"form": "always", "area": test.area},
        p_value=test.p_value,
        matters=test.area < REVERSED,
        number=auc_interval(test.area, test.outcomes, evidence.level),
        unit="auc",
        price=partial(_saving, evidence, agent),
    )
    if test.p_value < LIKELY and evidence.panel.times is not None:
        candidate = _add_date(candidate, evidence, i, test.places, test.excess)
    return candidate


def _add_date(
    candidate: Candidate,
    evidence: Evidence,
    agent: int,
    places: IntArray,
    excess: FloatArray,
) -> Candidate:
    """Return the candidate with its date, if the agent was sound before.

    Reversing all its reports would then spoil the sound ones.
    """
    found = _turn(excess)
    if found is None:
        return candidate
    since = int(places[found.place])
    first, last = dates(excess, found.place)
    return replace(
        candidate,
        facts={"form": "since", "from": evidence.position(since)},
        price=partial(evidence.saving_without, agent, evidence.panel.order[since:]),
        since=since,
        between=(int(places[first]), int(places[last])),
    )


def _turn(excess: FloatArray) -> Change | None:
    """Where an agent that was sound turned round; None if it did not."""
    found = change(excess)
    return found if found.p_value < SURE and found.before > 0 else None


def _excess(reports: FloatArray, outcomes: IntArray, share: FloatArray) -> FloatArray:
    """Probability given to the outcome, minus what it would get by chance, (T,)."""
    probabilities = to_classes(reports)
    given = np.take_along_axis(probabilities, outcomes[:, None], axis=1)[:, 0]
    return np.asarray(given - probabilities @ share)


def _saving(evidence: Evidence, agent: str) -> Estimate | None:
    """What reversing the agent's reports would save per case."""
    panel = evidence.panel
    i = panel.agents.index(agent)
    changed = evidence.with_reports(i, turn_round(panel.values[:, i]))
    return evidence.saving(evidence.cost - evidence.cost_of(changed))


def turn_round(reports: FloatArray) -> FloatArray:
    """Reports (T, C) of the opposite."""
    return 1.0 - reports if reports.shape[1] == 1 else reports[:, ::-1]


checks = (
    Check("reversed reports", check, unsplit=True),
    Check("outcome", check_outcome, about="outcome", unsplit=True),
)
