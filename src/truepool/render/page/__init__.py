"""An audit as one HTML file that needs nothing else: no network, no other file."""

from pathlib import Path

from truepool.audit.values import Audit
from truepool.files import write_text
from truepool.render.markup import Markup, joined
from truepool.render.page import cards, evidence, method
from truepool.render.page.frame import framed
from truepool.render.verdict import sentence

__all__ = ["fragment", "html", "write"]


def html(audit: Audit) -> str:
    """Return the whole page: verdict, findings, evidence, how it was computed."""
    shown = list(evidence.sections(audit))
    there = {anchor for section in shown for anchor in section.anchors}
    sections = [cards.section(audit, there), *shown, method.section(audit)]
    return framed(cards.header(audit), sections, sentence(audit))


def write(audit: Audit, path: str | Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, html(audit))


def fragment(audit: Audit) -> Markup:
    """Return verdict and findings alone, for a notebook."""
    return joined(cards.told(audit), cards.listed(audit))
