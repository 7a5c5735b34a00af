"""Which finding is the cause of which: close in time, and large enough."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truepool.audits.candidate import Candidate
from truepool.audits.severity import (
    BROKEN,
    CALIBRATION,
    FEEDS,
    LATE,
    NO_PROBABILITY,
    RUN,
    SELECTION,
    SWAPPED,
    UNIT,
)
from truepool.audits.values import SEVERITIES, Finding
from truepool.core.arrays import FloatArray
from truepool.core.formatting import join_names
from truepool.measures.inference.hypothesis_tests import long_run_variance

CAUSES = (
    *FEEDS,
    RUN,
    UNIT,
    SWAPPED,
    "reversed",
    NO_PROBABILITY,
    "drifted",
    "copy",
    "fails-in-segment",
    "uninformative",
    "over-confident",
    "under-confident",
    "biased",
)
"""Faults that explain others of the same agents; the first explains the later ones."""

AGENT_FAULTS = (
    *BROKEN,
    RUN,
    NO_PROBABILITY,
    "drifted",
    "uninformative",
    "over-confident",
    "under-confident",
    "biased",
)
"""Faults of agents that explain a miscalibrated pool."""

OWN = (
    *FEEDS,
    SWAPPED,
    "reversed",
    "drifted",
    UNIT,
    NO_PROBABILITY,
    "over-confident",
    "under-confident",
    "biased",
    "harmful",
    "uninformative",
    "needs-recalibration",
    "misreport-gain",
    "fails-in-segment",
)
"""Findings about an agent that a deeper fault of the same agent explains. Being a copy,
or the best of all, is explained by none of its faults."""

WAITING = (
    *(code for code in OWN if code not in (*FEEDS, "misreport-gain")),
    "worse-than-best",
)
"""Faults that can only be judged, and fixed, once the agent's feed works; until then
nobody should rely on it alone. What an agent could gain by misreporting depends on how
it is paid."""

STOPPED = "stopped-feed"
"""A feed that explains no fault without a date: what was sent was sent before it."""

DIRECTED = "difference between the shares of missing outcomes"
"""Unit of a selection by two decisions, which moves reports one way; with more, what
it does to an agent depends on the class, and either way may come from it."""
SELECTED = (
    *CALIBRATION,
    "under-confident-pool",
    "over-confident-pool",
    "biased-pool",
)
"""Findings that outcomes known mostly in cases of one decision may cause alone: if it
is yes, events are more frequent among the cases with an outcome than at the same
reports; if it is no, they are rarer."""
COMPARED = ("worse-than-best",)
"""Findings that compare decisions: where outcomes are known of what the pool in use
decided, whoever decides less often so seems to cost less."""
DOUBTFUL = "This is doubtful: it may come from which cases have an outcome."
DOUBTFUL_CAUSE = (
    " It is doubtful whether {}: that may come from which cases have an outcome."
)
"""What is said of them, and of others that they may explain."""

BECAUSE = {
    "constant-feed": "{who} {sends} one and the same report",
    "stopped-feed": "{who} stopped reporting",
    RUN: "{who} sent one and the same report for a while",
    "repeated-feed": "{who} {sends} old reports",
    "changed-feed": "the feed of {who} changed",
    UNIT: "the reports of {who} changed level or scale",
    SWAPPED: "two class columns of {who} are swapped",
    "reversed": "{who} {is_} reversed",
    "drifted": "{who} got worse",
    "copy": "{who} {is_a_copy}",
    "uninformative": "{who} {shows} no relation to the outcome",
    "over-confident": "{who} {is_} over-confident",
    "under-confident": "{who} {is_} under-confident",
    "biased": "{who} {is_} biased",
    NO_PROBABILITY: "{who} {reports} no probabilities",
    "fails-in-segment": "{who} {fails} in some segments",
    "under-confident-pool": "the pool is under-confident",
    "over-confident-pool": "the pool is over-confident",
    "biased-pool": "the pool is biased",
    "reversed-pool": "the pool is reversed",
    "threshold": "the threshold is not the one that the costs imply",
}
"""How a cause is named in the findings that it explains."""

ONE = {
    "is_": "is",
    "is_a_copy": "is a copy",
    "sends": "sends",
    "fails": "fails",
    "shows": "shows",
    "reports": "reports",
}
SEVERAL = {"is_": "are", "is_a_copy": "are copies", "sends": "send", "fails": "fail",
           "shows": "show", "reports": "report"}  # fmt: skip
"""Verbs of a cause, for one agent and for several."""

FITTING = 0.25
"""A cause must explain at least this share of an effect."""

MOSTLY = 0.5
"""So must a run that is over: what is there without it is there today."""

NEAR = 0.02
"""Changes closer than this share of the cases count as simultaneous, however precisely
each is dated."""

CRITICAL = 7.35
r"""Likelihood ratio beyond which a date is ruled out at the 5 % level,
:math:`-2 \log(1 - \sqrt{.95})` (Hansen 2000)."""


def dates(series: FloatArray, place: int) -> tuple[int, int]:
    r"""Earliest and latest place at which a mean may have changed, at the 95 % level.

    A split at k explains :math:`W_k^2\, T / (k (T - k))` of the sum of squares, where
    W is the CUSUM; a date is ruled out where that is `CRITICAL` long-run variances less
    than the split at ``place`` explains. Where the mean rose twice the CUSUM may peak
    anywhere between; these dates still reach one of the two. Never narrower than
    `NEAR` on either side.

    >>> dates(np.r_[np.tile([0.0, 1.0], 500), np.tile([2.0, 3.0], 500)], 1000)
    (960, 1040)
    """
    T = len(series)
    k = np.arange(1, T)
    gained = np.cumsum(series - series.mean())[:-1] ** 2 * T / (k * (T - k))
    means = series[:place].mean(), series[place:].mean()
    rest = series - np.where(np.arange(T) < place, *means)
    variance = max(long_run_variance(rest, int(np.cbrt(T))), 0.0)
    possible = k[gained >= gained[place - 1] - CRITICAL * variance]
    near = int(np.ceil(NEAR * T))
    first, last = min(possible[0], place - near), max(possible[-1], place + near)
    return max(int(first), 0), min(int(last), T - 1)


def share_of_cost(cost: float, causes: Sequence[Finding]) -> float:
    """Share of a cost per case that fixing these causes saves."""
    saved = sum(max(c.cost.value, 0.0) for c in causes if c.cost is not None)
    return saved / cost if cost > 0 else 0.0


def attribute_causes(graded: Sequence[tuple[Candidate, Finding]]) -> list[Finding]:
    """Name the cause of each finding; what a warning or error explains is a note."""
    findings = []
    for candidate, finding in graded:
        causes = _causes(candidate, finding, graded)
        labels = _selection(finding, graded)
        if labels and not finding.who:  # no fault of an agent removes the doubt
            sound = [cause for cause in causes if not _selection(cause, graded)]
            part = f" Another finding may explain part of it: {_because(sound)}."
            finding = _note_under(finding, labels, DOUBTFUL + (part if sound else ""))
        elif causes:
            if causes[0].code in (*FEEDS, RUN) and causes[0].who == finding.who:
                finding = _follow(candidate, finding, causes[0])
            because = _because(causes)
            sentence = f"{finding.sentence} Another finding may explain it: {because}."
            if doubtful := [cause for cause in causes if _selection(cause, graded)]:
                sentence += DOUBTFUL_CAUSE.format(_because(doubtful))
            if any(cause.severity != "note" for cause in causes):
                finding = replace(finding, severity="note")
            # What several agents cause together belongs under none of them.
            shared = candidate.joint and len({cause.who for cause in causes}) > 1
            cause = () if shared else causes[0].key
            finding = replace(finding, sentence=sentence, cause=cause)
        elif feed := _broken_feed(finding, graded):
            why = f"Its feed must be fixed first: {_because([feed])}."
            finding = _note_under(finding, feed, why)
        elif segments := _failing_segments(finding, graded):
            why = f"Another finding may explain it: {_because([segments])}."
            finding = _note_under(finding, segments, why)
        elif labels:
            finding = _note_under(finding, labels, DOUBTFUL)
        elif candidate.unexplained:
            sentence = f"{finding.sentence} {candidate.unexplained}"
            finding = replace(finding, sentence=sentence)
        findings.append(finding)
    return findings


def _follow(candidate: Candidate, finding: Finding, feed: Finding) -> Finding:
    """Return what follows from the broken feed of the same agent.

    One feed has one date, and leaving its agent out one price. A reversal keeps its
    advice: to take the agent out as well, and not to reverse its sound reports.
    """
    sentence = finding.sentence.replace(candidate.when, "", 1)
    if finding.since is not None:
        finding = replace(finding, since=feed.since, date=feed.date)
    advice = finding.advice if finding.code == "reversed" else feed.advice
    return replace(finding, sentence=sentence, cost=None, advice=advice)


def _broken_feed(
    finding: Finding, graded: Sequence[tuple[Candidate, Finding]]
) -> Finding | None:
    """Find the broken feed of the same agent, unless the fault began before it broke.

    One whose unit changed is broken from there on. A fault without a date is measured
    on all reports, those of the broken feed too.
    """
    if finding.code not in WAITING:
        return None
    feeds = [
        other
        for _, other in graded
        if other.code in (*FEEDS, UNIT)
        and other is not finding
        and other.severity == "error"
        and other.who == finding.who[:1]
        and (finding.since is None or finding.since >= (other.since or 0))
        and (other.code != STOPPED or finding.code == "worse-than-best")
    ]
    return min(feeds, key=_depth, default=None)


def _failing_segments(
    finding: Finding, graded: Sequence[tuple[Candidate, Finding]]
) -> Finding | None:
    """Find the segments in which an agent fails that is miscalibrated over all."""
    if finding.code not in CALIBRATION:
        return None
    found = (
        other
        for _, other in graded
        if other.code == "fails-in-segment"
        and other.severity != "note"
        and other.who[:1] == finding.who[:1]
    )
    return next(found, None)


def _selection(
    finding: Finding, graded: Sequence[tuple[Candidate, Finding]]
) -> Finding | None:
    """Find the selection of labels that may explain a miscalibration.

    Outcomes that are missing where the pool says no make reports seem too low, and
    those that are missing where it says yes too high; the reverse is not explained.
    With more than two classes there is no reverse.
    """
    found = [
        f for _, f in graded if f.code in (SELECTION, LATE) and f.severity != "note"
    ]
    if found and found[0].code == SELECTION and finding.code in COMPARED:
        return found[0]
    if finding.code not in SELECTED or not found:
        return None
    if found[0].code == LATE:  # reports seem too high
        low = finding.unit == "bias" and (
            finding.number is None or finding.number.value < 0
        )
        return None if low else found[0]
    bias, missing = finding.number, found[0].number
    directed = finding.unit == "bias" and found[0].unit == DIRECTED
    if directed and bias is not None and missing is not None:
        return found[0] if bias.value * missing.value < 0 else None
    return found[0]


def _note_under(finding: Finding, cause: Finding, why: str) -> Finding:
    """Return a finding as a note under another one, of which the advice is taken."""
    return replace(
        finding,
        severity="note",
        sentence=f"{finding.sentence} {why}",
        advice=cause.advice,
        cause=cause.key,
    )


def _causes(
    candidate: Candidate,
    finding: Finding,
    graded: Sequence[tuple[Candidate, Finding]],
) -> tuple[Finding, ...]:
    """Find what explains a finding: one cause if one is enough, else all near ones.

    Among changes whose dates overlap, the one that explains most is the cause. Notes
    need no cause, unless they are a change over time.
    """
    if finding.severity == "note" and finding.since is None:
        return ()
    near = [
        other
        for cause, other in graded
        if other is not finding
        and _explains(candidate, finding, other)
        and _near(candidate, cause)
    ]
    measure = candidate.share
    if measure is None:
        return tuple(sorted(near, key=lambda o: _order(finding, o, 0.0))[:1])
    ranked = sorted(
        ((other, measure((other,))) for other in near),
        key=lambda pair: _order(finding, *pair),
    )
    ranked = [(o, share) for o, share in ranked if o.code != RUN or share >= MOSTLY]
    fitting = [other for other, share in ranked if share >= FITTING]
    if fitting:
        if candidate.joint:
            most = max(share for _, share in ranked)
            fitting = [other for other, share in ranked if share >= FITTING * most]
        # Several findings may describe one fault of an agent: the deepest is the cause.
        agents = list(dict.fromkeys(other.who[:1] for other in fitting))
        return tuple(
            min((o for o in fitting if o.who[:1] == agent), key=_depth)
            for agent in (agents if candidate.joint else agents[:1])
        )
    together = tuple(other for other, share in ranked if share > 0)
    return together if len(together) > 1 and measure(together) >= FITTING else ()


def _explains(candidate: Candidate, finding: Finding, other: Finding) -> bool:
    """Whether a finding is of a kind that can explain another.

    A change over time may be explained by any change of an agent, however slight;
    anything else only by more than a note. A run that is over explains nothing but
    what is measured without it.
    """
    if other.severity == "note" and (candidate.since is None or other.since is None):
        return False
    if other.code in candidate.explained_by:
        return True
    same = other.who[:1] == finding.who[:1] != ()
    if other.code == RUN:
        return same and finding.code in OWN and candidate.share is not None
    if other.code == STOPPED and finding.since is None:
        return False
    as_severe = SEVERITIES.index(other.severity) <= SEVERITIES.index(finding.severity)
    deeper = finding.code in OWN and _depth(other) < _depth(finding)
    return same and deeper and as_severe


def _near(effect: Candidate, cause: Candidate) -> bool:
    """Whether two changes may have happened at the same time.

    A cause without a date cannot be measured against a change that has one.
    """
    if effect.since is None:
        return True
    if cause.since is None:
        return effect.share is None
    first, last = effect.between or (effect.since, effect.since)
    early, late = cause.between or (cause.since, cause.since)
    return first <= late and early <= last


def _order(
    finding: Finding, other: Finding, share: float
) -> tuple[bool, float, int, float, float]:
    """Same agent first, then what explains most, then the deepest and most certain.

    Nothing here depends on the order or the names of the agents.
    """
    chance = 1.0 if other.p_value is None else other.p_value
    cost = 0.0 if other.cost is None else other.cost.value
    return other.who[:1] != finding.who[:1], -share, _depth(other), chance, -cost


def _depth(finding: Finding) -> int:
    return CAUSES.index(finding.code) if finding.code in CAUSES else len(CAUSES)


def _because(causes: Sequence[Finding]) -> str:
    """Name the causes, agents with the same fault together."""
    agents: dict[str, list[str]] = {}
    for cause in causes:
        agents.setdefault(cause.code, []).extend(cause.who[:1])
    return " and ".join(_fault(code, who) for code, who in agents.items())


def _fault(code: str, agents: Sequence[str]) -> str:
    verbs = SEVERAL if len(agents) > 1 else ONE
    return BECAUSE[code].format(who=join_names(agents), **verbs)
