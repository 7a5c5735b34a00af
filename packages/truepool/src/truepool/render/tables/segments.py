"""How the pool and the agents do within segments of the cases."""

from collections.abc import Iterator, Sequence

from truepool.audits.values import Audit, Segment
from truepool.core.formatting import in_unit
from truepool.render.numbers import format_estimate, percent
from truepool.render.tables.agent_choice import choose_agents
from truepool.render.tables.comparison import POSITIVE, small_groups
from truepool.render.tables.grid import Grid

MOST_SEGMENTS = 8
"""Segments that a terminal shows of many; Markdown, the page and JSON have all."""


def segments(audit: Audit) -> Grid:
    """How the pool does within groups of cases.

    With more than two classes none is the positive one, whose share or recall it has.
    """
    binary = audit.classes == 2
    rows = tuple(
        (
            one.group,
            f"{one.cases:,}",
            *([percent(one.share)] if binary else []),
            format_estimate(one.cost),
            *([format_estimate(one.recall)] if binary else []),
            format_estimate(one.bias, sign=True),
            format_estimate(one.slope),
        )
        for one in audit.segments
    )
    headers = (
        str(audit.by), "cases", *(["positive"] if binary else []),
        in_unit("cost per case", audit.currency), *(["recall"] if binary else []),
        "bias", "slope",
    )  # fmt: skip
    what = (
        "Bias: mean probability of the likeliest class minus the share of cases in "
        "which it was right"
    )
    if binary:
        what = (
            f"{POSITIVE} Recall: share of positives found; bias: mean pooled "
            "probability minus the share of positives"
        )
    notes = (
        f"The pool in use on tested cases{_within(audit)}. {what}; slope: below 1 is "
        "over-confident, above 1 under-confident.",
        *small_groups(audit.segments),
        *_segments_without_slope(audit.segments),
    )
    title = f"The pool within segments of {audit.by}"
    return Grid(title, headers, rows, notes, essential=4 if binary else 3)


def _within(audit: Audit) -> str:
    """Say that costs and recall are within the capacity, where there is one."""
    if audit.capacity is None:
        return ""
    return f", cost and recall within the capacity of {audit.capacity.capacity}"


def agents_by_segment(audit: Audit, most: int | None = None) -> list[Grid]:
    """How well each agent does within each group of cases that was judged.

    With ``most`` agents only some of the groups are shown: those that findings are
    about, then the largest ones.
    """
    named = {name for finding in audit.findings for name in finding.segments}
    judged = [one for one in audit.segments if one.agents]
    if not judged:
        return []
    chosen, more = choose_agents(audit, most)
    shown, first = judged, 0
    if most is not None:
        first = sum(one.group in named for one in judged)
        judged.sort(key=lambda one: one.group not in named)  # the largest stay first
        shown = judged[: max(first, MOST_SEGMENTS)]
    if len(shown) < len(judged):
        before = "those of findings, then " if first else ""
        more = [*more, f"Shown are {len(shown)} of {len(judged)} segments: {before}the "
                "largest; the others are in --json and --markdown."]  # fmt: skip
    binary = audit.classes == 2
    rows = tuple(
        (
            agent,
            *(
                format_estimate(
                    one.agents[i].auc if binary else one.agents[i].brier_skill
                )
                for one in shown
            ),
        )
        for i, agent in enumerate(audit.agents)
        if agent in chosen
    )
    what = (
        "Brier skill: share of the Brier loss of the segment's base rate that the "
        "agent saves; at 0 or below it does no better than the base rate."
    )
    if binary:
        what = (
            "AUC: how often a positive case gets a higher report than a negative one "
            "of the same segment; 0.5 is chance."
        )
    notes = (
        f"{what} On the tested cases that the agent reported on; -: too few of them.",
        *more,
    )
    name = "AUC" if binary else "Brier skill"
    title = f"{name} of every agent within segments of {audit.by}"
    headers = ("agent", *(one.group for one in shown))
    return [Grid(title, headers, rows, notes, essential=1 + max(first, 1))]


def _segments_without_slope(segments: Sequence[Segment]) -> Iterator[str]:
    """Name the groups that were judged, but have no slope, and say why."""
    names = [one.group for one in segments if one.shortage is None and not one.slope]
    if names:
        yield (
            f"No slope ({'; '.join(names)}): the pool separates nearly all positive "
            "from negative cases there, or nearly all its probabilities are the same."
        )
