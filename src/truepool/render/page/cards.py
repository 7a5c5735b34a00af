"""The verdict, and the findings as cards, the gravest and dearest first."""

from collections.abc import Collection

from truepool.audit.values import Audit, Finding
from truepool.render.markup import Markup, joined, prose, tag
from truepool.render.numbers import estimated, number, percent
from truepool.render.page.anchors import ANCHORS
from truepool.render.page.frame import Section
from truepool.render.verdict import FIXED, sentence, withheld


def header(audit: Audit) -> Markup:
    """Return the question, its answer in one sentence, and the facts at a glance."""
    return joined(tag("h1", "Can this pool be trusted?"), told(audit), _facts(audit))


def told(audit: Audit) -> Markup:
    """Return the verdict."""
    worst = audit.worst()
    if worst in (None, "note"):  # nothing said is praise only where all was asked
        worst = None if audit.withheld else "note"
    return tag("p", sentence(audit), class_=f"verdict {worst or 'unsure'}")


def section(audit: Audit, there: Collection[str]) -> Section:
    """Return all findings, linked to what evidence is there, and what is not told."""
    inside = joined(listed(audit, there), _untold(audit))
    return Section("findings", "Findings", "Findings", inside)


def _untold(audit: Audit) -> Markup | None:
    """Return what is not said, and why."""
    left = [
        tag("li", tag("strong", what), f": {why}.")
        for why, what in withheld(audit).items()
    ]
    return joined(tag("h3", "Not told, and why"), tag("ul", *left)) if left else None


def listed(audit: Audit, there: Collection[str] = ()) -> Markup:
    """Return the findings as a list of cards."""
    if not audit.findings:
        return tag("p", "Nothing was found.")
    cards = [tag("li", _card(finding, there)) for finding in audit.findings]
    return tag("ol", *cards, class_="findings")


def _card(finding: Finding, there: Collection[str]) -> Markup:
    numbers: dict[str, str] = {}
    if finding.number is not None:
        numbers[finding.unit or "estimate"] = estimated(finding.number)
    if finding.cost is not None:
        numbers[FIXED] = estimated(finding.cost, sign=True)
    anchor = ANCHORS.get(finding.figure or "")
    linked = anchor in there
    return tag(
        "article",
        tag("span", finding.severity.capitalize(), class_=f"badge {finding.severity}"),
        tag("h3", prose(finding.sentence)),
        _pairs(numbers) if numbers else None,
        tag(
            "p",
            tag("strong", "What to do: "),
            prose(finding.advice),
            joined(" ", tag("a", "See the evidence", href=f"#{anchor}"))
            if linked
            else None,
        ),
        class_=f"finding {finding.severity}",
    )


def _facts(audit: Audit) -> Markup:
    facts = {
        "cases with a known outcome": f"{audit.cases:,}",
        "agents": f"{len(audit.agents)} (worth {audit.effective_agents:.1f})",
        "pooled by": audit.mechanism,
    }
    if audit.classes == 2:
        share = percent(audit.positives / audit.cases)
        facts["positive"] = f"{audit.positives:,} ({share})"
    else:
        facts["classes"] = str(audit.classes)
    if audit.threshold is not None:
        facts["decides 1 above"] = number(audit.threshold)
    if audit.silent:
        facts["missing reports"] = percent(audit.silent)
    return _pairs(facts, "facts")


def _pairs(facts: dict[str, str], class_: str | None = None) -> Markup:
    pairs = [
        tag("div", tag("dt", what), tag("dd", value)) for what, value in facts.items()
    ]
    return tag("dl", *pairs, class_=class_)
