"""Figures as SVG inside a page: small, in the page's colours, with a text label."""

import io
import re
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from markupsafe import Markup

from truepool.core.formatting import printable
from truepool.pages.figures.style import INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINK = "{http://www.w3.org/1999/xlink}href"
DROPPED_TAGS = ("metadata", "style")
COLOURS = {INK: "currentColor"} | {
    light: f"var(--{name}, {light})" for name, (light, _) in PALETTE.items()
}
PIXELS_PER_POINT = 1.4
"""Type of 9 points is then shown with at most 13 pixels."""
REFERENCE = re.compile(r"url\(#([^)]+)\)")
DECIMALS = re.compile(r"(\.\d)\d+")
FAMILY = re.compile(r"font-family:[^;]*;? ?")
COLOUR = re.compile(r"#[0-9a-f]{6}")


@final
class StyleSheet:
    """Styles of elements as classes, which a policy can name by one hash.

    Only styles written by matplotlib are added, and classes are numbered: no name
    given by a user is part of either.
    """

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}

    def class_of(self, style: str) -> str:
        """Return the class that stands for a style."""
        return self._classes.setdefault(style, f"s{len(self._classes)}")

    @property
    def rules(self) -> Markup:
        """The rules that end the style sheet of the page."""
        rules = (f".{name}{{{style}}}\n" for style, name in self._classes.items())
        return Markup("".join(rules))


def inline(
    figure: "Figure", label: str, key: str, *, sheet: StyleSheet | None = None
) -> Markup:
    """Return a figure as an ``svg`` element for a page.

    Colours follow the page (``currentColor``, and variables with the light palette to
    fall back on), text stays text in the page's own type, and every id begins with
    ``key``, so that ids on one page are unique. ``label`` is the text for screen
    readers. With a ``sheet``, styles become its classes.
    """
    root = ElementTree.fromstring(_draw_svg(figure, key))
    _clean(root, key)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    width = root.attrib["viewBox"].split()[2]
    root.attrib |= {
        "role": "img",
        "aria-label": _one_line(label),
        # As wide as its words read well, and never wider than the page.
        "style": f"width: 100%; max-width: {PIXELS_PER_POINT * float(width):.0f}px",
        "fill": "currentColor",
        "stroke-linejoin": "round",
    }
    if sheet is not None:
        _classify(root, sheet)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _one_line(label: str) -> str:
    """Return a label on one line; what a template escaped would be escaped twice."""
    plain = label.unescape() if isinstance(label, Markup) else label
    return " ".join(plain.split())


def _classify(root: Element, sheet: StyleSheet) -> None:
    for element in root.iter():
        if "style" in element.attrib:
            element.attrib["class"] = sheet.class_of(element.attrib.pop("style"))


def _draw_svg(figure: "Figure", key: str) -> str:
    import matplotlib

    page = io.StringIO()
    with (
        matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": key}),
        warnings.catch_warnings(),
    ):
        # The browser has letters for names that the font measured with has not.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure.savefig(page, format="svg", metadata={"Date": None})
    return printable(page.getvalue())


def _clean(root: Element, key: str) -> None:
    """Remove what a page does not need, and rename the ids that are referenced."""
    referenced = set(_references(root))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        _tidy(element, key, referenced)
        for child in list(element):
            if child.tag.rpartition("}")[2] in DROPPED_TAGS:
                element.remove(child)
    _unwrap(root)


def _references(root: Element) -> Iterator[str]:
    for element in root.iter():
        if LINK in element.attrib:
            yield element.attrib[LINK][1:]
        for value in element.attrib.values():
            yield from REFERENCE.findall(value)


def _tidy(element: Element, key: str, referenced: set[str]) -> None:
    attributes = element.attrib
    element.text = (element.text or "").strip() or None
    element.tail = None
    if attributes.get("id") in referenced:
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
    """Remove groups without attributes."""
    for child in list(parent):
        _unwrap(child)
        if child.tag == "g" and not child.attrib:
            place = list(parent).index(child)
            parent.remove(child)
            for step, grandchild in enumerate(child):
                parent.insert(place + step, grandchild)
