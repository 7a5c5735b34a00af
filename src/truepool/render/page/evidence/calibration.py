"""Whether the probabilities mean what they say."""

from truepool.audit.values import Audit, Calibration
from truepool.render import figures
from truepool.render.markup import Markup, joined, tag
from truepool.render.numbers import estimated
from truepool.render.page.frame import Section
from truepool.render.page.pictures import pictured, small_row_of, table
from truepool.render.tables import evidence

DIAGRAMS = 24
"""Diagrams that are drawn; the table has everybody."""


def section(audit: Audit) -> Section:
    """Return a reliability diagram for everybody, and the numbers behind them."""
    shown = _drawn(audit)
    drawn = small_row_of([_diagram(one, place) for place, one in enumerate(shown)])
    inside = joined(
        tag("p", f"Does what was said happen as often as it was said?{_read(shown)}"),
        drawn if shown else None,
        table(evidence.calibration(audit)),
    )
    title = "Do the probabilities mean what they say?"
    return Section("calibration", "Calibration", title, inside)


def _read(shown: list[Calibration]) -> str:
    """How to read the diagrams, where there are any."""
    if not shown:
        return " There are too few cases to draw it."
    more = f" The {len(shown)} worst are drawn." if len(shown) == DIAGRAMS else ""
    return (
        " On the dotted line it does. The grey band is where calibrated reports would "
        f"fall by the luck of the cases; filled points lie outside it.{more}"
    )


def _drawn(audit: Audit) -> list[Calibration]:
    """Everybody if there is room, else the pools and the worst of the agents."""
    drawn = [one for one in audit.calibration if one.reliability is not None]
    if len(drawn) <= DIAGRAMS:
        return drawn
    agents = [one for one in drawn if one.who in audit.agents]
    pools = [one for one in drawn if one.who not in audit.agents]
    agents.sort(key=lambda one: -one.ece)
    return agents[: DIAGRAMS - len(pools)] + pools


def _diagram(one: Calibration, place: int) -> Markup:
    label = f"Reliability diagram of {one.who}. {_slope(one)}"
    return pictured(figures.reliability([one]), f"reliability-{place}", label)


def _slope(one: Calibration) -> str:
    if one.slope is None:
        return "Too little is known for a slope."
    told = f"Calibration slope {estimated(one.slope)}"
    if one.slope.low <= 1 <= one.slope.high:
        return f"{told}: calibrated as far as can be told."
    return f"{told}: {'over' if one.slope.value < 1 else 'under'}-confident."
