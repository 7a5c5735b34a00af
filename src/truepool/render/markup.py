"""HTML that cannot be broken from inside: text is escaped unless it was made here."""

from html import escape
from typing import final

EMPTY = ("meta", "br", "hr", "link")
"""Elements that have no end."""


@final
class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *inside: str | None, **attributes: object) -> Markup:
    """Return an element; strings inside are escaped, `Markup` is taken as it is.

    An attribute that is None or False is left out; ``_`` becomes ``-``, and one at the
    end is for Python's own words.

    >>> tag("p", "1 < 2, ", tag("b", "so"), class_="told", aria_hidden=None)
    '<p class="told">1 &lt; 2, <b>so</b></p>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in EMPTY:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(*inside)}</{name}>")


def joined(*parts: str | None) -> Markup:
    """Return parts after each other, each escaped unless it is `Markup`.

    >>> joined("a & ", None, tag("i", "b"))
    'a &amp; <i>b</i>'
    """
    return Markup("".join(_safe(part) for part in parts if part is not None))


def prose(text: str) -> Markup:
    """Return a sentence whose `names in backticks` are shown as code.

    >>> prose("use `platt` & wait")
    'use <code>platt</code> &amp; wait'
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick of somebody's name
        return joined(text)
    return joined(*(tag("code", p) if i % 2 else p for i, p in enumerate(parts)))


def _safe(part: str) -> str:
    return part if isinstance(part, Markup) else escape(part)


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
