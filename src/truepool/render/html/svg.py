"""Figures as pictures inside a page: small, in the page's colours, named for all."""

import io
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from truepool.render.figures.style import INK, PALETTE
from truepool.render.markup import Markup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINK = "{http://www.w3.org/1999/xlink}href"
DROPPED = ("metadata", "style")
COLOURS = {INK: "currentColor"} | {
    light: f"var(--{name}, {light})" for name, (light, _) in PALETTE.items()
}
GROWN = 1.4
"""Pixels a point: type of 9 points is then shown at most as 13 pixels."""
REFERENCE = re.compile(r"url\(#([^)]+)\)")
DECIMALS = re.compile(r"(\.\d)\d+")
FAMILY = re.compile(r"font-family:[^;]*;? ?")
COLOUR = re.compile(r"#[0-9a-f]{6}")


def inline(figure: "Figure", label: str, key: str) -> Markup:
    """Return a figure as an ``svg`` element that a page can hold.

    Colours follow the page (``currentColor``, and variables with the light palette to
    fall back on), text stays text in the page's own type, and every id begins with
    ``key``, so that figures on one page do not take each other's. ``label`` is what is
    read to those who cannot see it.
    """
    root = ElementTree.fromstring(_drawn(figure, key))
    _clean(root, key)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    width = root.attrib["viewBox"].split()[2]
    root.attrib |= {
        "role": "img",
        "aria-label": label,
        # As wide as its words read well, and never wider than the page.
        "style": f"width: 100%; max-width: {GROWN * float(width):.0f}px",
        "fill": "currentColor",
        "stroke-linejoin": "round",
    }
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _drawn(figure: "Figure", key: str) -> str:
    import matplotlib

    page = io.StringIO()
    with (
        matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": key}),
        warnings.catch_warnings(),
    ):
        # The browser has letters for names that the font measured with has not.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure.savefig(page, format="svg", metadata={"Date": None})
    return page.getvalue()


def _clean(root: Element, key: str) -> None:
    """Drop what a page does not need, and rename what is referred to."""
    asked = set(_references(root))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        _tidy(element, key, asked)
        for child in list(element):
            if child.tag.rpartition("}")[2] in DROPPED:
                element.remove(child)
    _unwrap(root)


def _references(root: Element) -> Iterator[str]:
    for element in root.iter():
        if LINK in element.attrib:
            yield element.attrib[LINK][1:]
        for value in element.attrib.values():
            yield from REFERENCE.findall(value)


def _tidy(element: Element, key: str, asked: set[str]) -> None:
    attributes = element.attrib
    element.text = (element.text or "").strip() or None
    element.tail = None
    if attributes.get("id") in asked:
        attributes["id"] = f"{key}-{attributes['id']}"
    else:
        attributes.pop("id", None)
    if LINK in attributes:
        attributes["href"] = f"#{key}-{attributes.pop(LINK)[1:]}"
    if "clip-path" in attributes:
        attributes["clip-path"] = REFERENCE.sub(
            rf"url(#{key}-\1)", attributes["clip-path"]
        )
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    for name in ("d", "x", "y", "transform"):
        if name in attributes:
            attributes[name] = DECIMALS.sub(r"\1", " ".join(attributes[name].split()))
    if "style" in attributes:
        style = FAMILY.sub("", attributes["style"])
        attributes["style"] = COLOUR.sub(lambda m: COLOURS.get(m[0], m[0]), style)


def _unwrap(parent: Element) -> None:
    """Take out groups that say nothing."""
    for child in list(parent):
        _unwrap(child)
        if child.tag == "g" and not child.attrib:
            place = list(parent).index(child)
            parent.remove(child)
            for step, grandchild in enumerate(child):
                parent.insert(place + step, grandchild)
