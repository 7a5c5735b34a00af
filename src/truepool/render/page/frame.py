"""The frame of a page: head, ways through it, and what it may not do."""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

from truepool.render.markup import Markup, joined, tag

ANCHOR = re.compile(r'<figure id="([^"]+)"')
STYLE = re.compile(r' style="([^"]*)"')


@dataclass(frozen=True)
class Section:
    """A part of a page: where links find it, and as what; its heading; what it says."""

    name: str
    short: str
    title: str
    inside: Markup

    @property
    def anchors(self) -> list[str]:
        """What can be linked to."""
        return [self.name, *ANCHOR.findall(self.inside)]


def framed(header: Markup, sections: Sequence[Section], title: str) -> str:
    """Return a document that runs its own script and loads nothing.

    The policy names script and style by their hash, so that nothing that came in with
    the reports could run even if it were not escaped.
    """
    body, classes = _classed(_body(header, sections))
    style, script = _part("page.css") + classes, _part("page.js")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"Audit: {title}"),
        tag("style", Markup(style)),
    )
    whole = tag("body", body, tag("script", Markup(script)))
    return f"<!doctype html>\n{tag('html', head, whole, lang='en')}\n"


def _body(header: Markup, sections: Sequence[Section]) -> Markup:
    links = [
        tag("li", tag("a", section.short, href=f"#{section.name}"))
        for section in sections
    ]
    parts = [
        tag(
            "section",
            tag("h2", section.title, id=f"{section.name}-title"),
            section.inside,
            id=section.name,
            aria_labelledby=f"{section.name}-title",
        )
        for section in sections
    ]
    return joined(
        tag("a", "Skip to the findings", href="#findings", class_="skip"),
        tag("header", header),
        tag("nav", tag("ul", *links), aria_label="Parts of this page"),
        tag("main", *parts),
        tag("footer", tag("p", "Made by truepool. This page loads nothing.")),
    )


def _classed(body: str) -> tuple[Markup, str]:
    """Turn styles of elements into classes, which the policy can name by one hash."""
    names: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        return f' class="{names.setdefault(match[1], f"s{len(names)}")}"'

    classed = STYLE.sub(named, body)
    rules = "".join(f".{name}{{{rule}}}\n" for rule, name in names.items())
    return Markup(classed), rules


def _part(name: str) -> str:
    return (files("truepool.render.page") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
