"""Which mechanism is best here."""

from truepool.audit.values import Audit
from truepool.comparison import Comparison
from truepool.render import figures
from truepool.render.markup import Markup, joined, prose, tag
from truepool.render.numbers import estimated
from truepool.render.page.frame import Section
from truepool.render.page.pictures import pictured, row_of, table
from truepool.render.tables import comparison as tables
from truepool.render.tables import evidence


def section(audit: Audit, comparison: Comparison) -> Section:
    """Return the advice, and every mechanism behind it."""
    grid = tables.grid(comparison)
    first = comparison.rows[0]
    drawn = pictured(
        figures.compared(comparison, audit.mechanism),
        "comparison",
        f"Loss a case of {len(comparison.rows)} pools with intervals. Least: "
        f"{first.pool}, {estimated(first.loss)}.",
        f"Each on cases it never saw. Filled: in use ({audit.mechanism}).",
    )
    advice = tag("p", tag("strong", prose(audit.advice))) if audit.advice else None
    inside = joined(advice, row_of([drawn]), table(grid), *_tests(audit))
    return Section("mechanisms", "Mechanisms", "Which mechanism is best here?", inside)


def _tests(audit: Audit) -> list[Markup]:
    return [table(evidence.significance(audit))] if audit.significance else []
