"""What if an agent fails."""

from truepool.audit.values import Audit, CaseStudy
from truepool.render import figures
from truepool.render.markup import joined
from truepool.render.numbers import estimated
from truepool.render.page.frame import Section
from truepool.render.page.pictures import MOST_ROWS, pictured, row_of, table
from truepool.render.tables import evidence


def section(audit: Audit) -> Section:
    """Return what the pool would cost if something happened to its agents."""
    worst = max(audit.robustness, key=lambda one: one.rise.value)
    drawn = pictured(
        figures.robustness(audit.robustness[:MOST_ROWS]),
        "robustness",
        "Rise of the cost a case if something happens to an agent; most if "
        f"{_told(worst)}, {estimated(worst.rise)}.",
        "How much dearer a case would become.",
    )
    inside = joined(row_of([drawn]), table(evidence.robustness(audit)))
    return Section("robustness", "What if", "What if an agent fails?", inside)


def _told(study: CaseStudy) -> str:
    return f"{study.who} {study.what}".strip()
