"""Whether anybody got worse."""

from truepool.audit.values import Audit, Drift
from truepool.render import figures
from truepool.render.markup import Markup, joined, tag
from truepool.render.numbers import number, percent
from truepool.render.page.frame import Section
from truepool.render.page.pictures import listed, pictured, row_of, table
from truepool.render.tables.grid import Grid


def section(audit: Audit, drift: Drift) -> Section:
    """Return losses and weights over time, and the alarms."""
    if drift.alarms:
        alarms = table(_grid(drift))
    else:
        alarms = tag("p", "No alarm: nobody got clearly worse.")
    inside = joined(row_of([_losses(drift), _paths(audit, drift)]), alarms)
    return Section("time", "Over time", "Did anybody get worse?", inside)


def _losses(drift: Drift) -> Markup:
    told = listed((who, f"at case {case:,}") for who, case, _, _ in drift.alarms)
    return pictured(
        figures.losses(drift),
        "losses",
        f"Losses over time. Alarms: {told or 'none'}.",
        "Loss of the pool, and of those who set off an alarm or err most.",
    )


def _paths(audit: Audit, drift: Drift) -> Markup:
    last = zip(audit.agents, drift.weights[-1].tolist(), strict=True)
    told = listed((agent, percent(weight)) for agent, weight in last)
    return pictured(
        figures.paths(drift, audit.agents),
        "paths",
        f"Weights by {drift.learner}, case by case; in the end: {told}.",
        f"How weights that follow ({drift.learner}) would have moved.",
    )


def _grid(drift: Drift) -> Grid:
    rows = tuple(
        (who, f"{case:,}", number(before), number(after, before))
        for who, case, before, after in drift.alarms
    )
    return Grid("Alarms", ("who", "case", "loss before", "loss after"), rows)
