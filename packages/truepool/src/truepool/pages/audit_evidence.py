"""The evidence behind an audit: calibration, pools, segments, capacity, time."""

from collections.abc import Iterator, Sequence

import numpy as np

from truepool.audits.findings import scaled
from truepool.audits.values import PER_THOUSAND, AtCapacity, Drift, Segment
from truepool.comparison import Comparison
from truepool.core.formatting import (
    format_p_value,
    measured,
    measured_share,
    number,
    percent,
)
from truepool.pages import audit_figures as figures
from truepool.pages import comparison as compared
from truepool.pages.grid import Grid
from truepool.pages.page import Beside, Part, Section, Text
from truepool.pages.wording import Speaker

DIAGRAMS = 12
"""Reliability diagrams that are drawn; the table has everybody."""
MOST_ROWS = 100
"""Rows of a table; JSON has all."""
PAIRS = 8
"""Pairs of agents whose correlation is listed."""


def sections(say: Speaker) -> Iterator[Section]:
    """Yield what there is evidence for."""
    audit = say.audit
    drawn = tuple(figures.threshold(say))
    if drawn:
        yield _section(say, "threshold", drawn)
    yield _section(say, "calibration", _calibration(say))
    if audit.comparison is not None:
        yield _section(say, "pools", _pools(say, audit.comparison))
    if audit.segments:
        yield _section(say, "segments", tuple(_segments(say)))
    if audit.capacity is not None:
        yield _section(say, "capacity", (_capacity(say, audit.capacity),))
    if audit.drift is not None:
        yield _section(say, "time", tuple(_time(say, audit.drift)))
    yield from redundancy(say)


def _section(say: Speaker, name: str, parts: tuple[Part, ...]) -> Section:
    return Section(name, say.text(f"section-{name}"), parts, say.text(f"link-{name}"))


def _calibration(say: Speaker) -> tuple[Part, ...]:
    audit = say.audit
    known = [one for one in audit.calibration if one.reliability is not None]
    pools = [one for one in known if one.who not in audit.names]
    ranked = sorted((o for o in known if o not in pools), key=lambda one: -one.ece)
    drawn = [*ranked[: DIAGRAMS - len(pools)], *pools]
    if len(known) <= DIAGRAMS:
        drawn = known
    axis = figures.reliability_axis(audit)
    lines = [say.text("calibration-text" if audit.classes == 2 else "calibration-many")]
    if audit.threshold is not None:
        lines.append(say.text("calibration-threshold"))
    if axis.log_odds:
        lines.append(say.text("calibration-odds"))
    if len(drawn) < len(known):
        text = say.text("calibration-some", shown=len(drawn), known=len(known))
        lines.append(text)
    diagrams = tuple(figures.reliability(say, one, axis) for one in drawn)
    shown: list[Part] = [Text(tuple(lines)), Beside(diagrams, small=True)]
    others = (one for one in audit.calibration if one not in pools)
    listed = [*pools, *others]
    rows = tuple(
        (
            one.who,
            measured(one.slope),
            measured(one.bias),
            number(one.ece, 0.1),
            format_p_value(one.p_value),
            f"{one.cases:,}",
        )
        for one in listed[:MOST_ROWS]
    )
    headers = tuple(map(say.text, ("who", "slope", "bias", "ece", "p", "cases")))
    notes = (say.text("calibration-note"),)
    grid = Grid(say.text("grid-calibration"), headers, rows, notes, essential=2)
    return (*(shown if drawn else ()), grid)


def _pools(say: Speaker, comparison: Comparison) -> tuple[Part, ...]:
    """Every pool that was tried, and the tests against the one in use."""
    audit = say.audit
    parts: list[Part] = [figures.pools(say, comparison)]
    if audit.significance:
        rows = tuple(
            (one.pool, measured(scaled(one.saved, PER_THOUSAND)),
             format_p_value(one.holm), format_p_value(one.paired_t))
            for one in audit.significance
        )  # fmt: skip
        note = say.text("significance-note", tried=len(rows))
        title = say.text("grid-significance")
        headers = (say.text("pool"), say.cost("saves-case"),
                   say.text("adjusted-p"), say.text("p"))  # fmt: skip
        parts.append(Grid(title, headers, rows, (note,), essential=2))
    return (Beside(tuple(parts)), compared.grid(comparison))


def _segments(say: Speaker) -> Iterator[Grid]:
    """How the pool, and then the agents, do within groups of cases."""
    audit, binary = say.audit, say.audit.classes == 2
    listed = audit.segments[:MOST_ROWS]
    rows = tuple(
        (
            one.group,
            f"{one.cases:,}",
            *([percent(one.share)] if binary else []),
            measured(one.cost),
            *([measured_share(one.recall)] if binary else []),
            measured(one.bias),
            measured(one.slope),
        )
        for one in listed
    )
    shares = [say.text("positive-share")] if binary else []
    recall = [say.text("recall")] if binary else []
    notes = (say.text("segments-note"), *_too_small(say, listed))
    headers = (str(audit.by), say.text("cases"), *shares, say.cost("cost"), *recall,
               say.text("bias"), say.text("slope"))  # fmt: skip
    yield Grid(say.text("grid-segments"), headers, rows, notes, essential=4)
    judged = [one for one in listed if one.agents]
    if not judged:
        return
    measure = "auc" if binary else "brier-skill"
    skills = tuple(
        (
            who,
            *(
                measured(one.agents[i].auc if binary else one.agents[i].brier_skill)
                for one in judged
            ),
        )
        for i, who in enumerate(audit.judged[:MOST_ROWS])
    )
    title = say.text("grid-skill", measure=say.text(measure))
    headers = (say.text("agent"), *(one.group for one in judged))
    yield Grid(title, headers, skills, (say.text(f"{measure}-note"),), essential=2)


def _too_small(say: Speaker, segments: Sequence[Segment]) -> Iterator[str]:
    small: dict[str, list[str]] = {}
    for one in segments:
        if one.shortage:
            small.setdefault(one.shortage, []).append(one.group)
    for why, names in small.items():
        yield say.text("too-small", names=names, why=why)


def _capacity(say: Speaker, found: AtCapacity) -> Grid:
    """What the pool costs and finds within a capacity, and without one."""
    cost, rise = found.cost, found.rise
    free = None if cost is None or rise is None else cost.value - rise.value
    shares = {
        "recall": (measured_share(found.recall), percent(found.recall_without_limit)),
        "precision": (percent(found.precision), percent(found.precision_without_limit)),
    }
    rows = (
        (say.text("decided"), f"{found.decided:,}", f"{found.wanted:,}"),
        *((say.text(code), *cells) for code, cells in shares.items()),
        (say.cost("cost"), measured(cost), measured(free)),
        (say.cost("limit-cost"), measured(rise), ""),
    )
    title = say.text("grid-capacity", capacity=found.capacity)
    headers = ("", say.text("within"), say.text("unlimited"))
    return Grid(title, headers, rows, (say.text("capacity-note"),))


def _time(say: Speaker, drift: Drift) -> Iterator[Part]:
    yield Beside((figures.losses(say, drift), figures.weights(say, drift)))
    if not drift.alarms:
        return
    known = {"id": drift.alarm_ids, "date": drift.alarm_dates}
    more = {name: values for name, values in known.items() if values}
    rows = tuple(
        (who, f"{case + 1:,}", *(values[i] for values in more.values()),
         number(before), number(after, before))
        for i, (who, case, before, after) in enumerate(drift.alarms)
    )  # fmt: skip
    headers = (say.text("who"), say.text("case-column"), *more, say.text("before"),
               say.text("after"))  # fmt: skip
    notes = (say.text("alarms-note"),)
    yield Grid(say.text("grid-alarms"), headers, rows, notes)


def redundancy(say: Speaker) -> Iterator[Section]:
    """Which agents report the same; nothing where no correlation is known."""
    audit, names = say.audit, say.audit.judged
    if len(names) < 2 or figures.others_of(audit.correlation).max() == -1.0:
        return
    first, second = np.triu_indices(len(names), 1)
    values = audit.correlation[first, second]
    known = np.flatnonzero(~np.isnan(values))
    closest = known[np.argsort(-values[known], kind="stable")][:PAIRS]
    rows = tuple(
        (f"{names[first[k]]}, {names[second[k]]}", number(values[k])) for k in closest
    )
    headers = (say.text("agents-pair"), say.text("correlation"))
    grid = Grid(say.text("grid-correlation"), headers, rows)
    effective = audit.effective_agents
    text = say.text("redundancy-text", effective=effective)
    parts: list[Part] = [Text((text,))] if effective == effective else []
    parts.append(Beside((figures.correlation(say), grid)))
    yield _section(say, "redundancy", tuple(parts))
