#!/usr/bin/env python
"""Check a built site: every link leads somewhere, nothing is fetched from elsewhere.

Run: python scripts/check_site.py build/site. Links to other sites are allowed,
resources of other sites (scripts, styles, fonts, images, frames) are not.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

RESOURCES = {
    ("audio", "src"),
    ("embed", "src"),
    ("iframe", "src"),
    ("image", "href"),
    ("img", "src"),
    ("img", "srcset"),
    ("link", "href"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("source", "srcset"),
    ("use", "href"),
    ("video", "src"),
}
"""Elements and attributes that a browser fetches by itself."""
REMOTE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
FETCHED = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""")
"""What a style sheet fetches."""


class Page(HTMLParser):
    """The anchors, links and resources of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.feed(text)
        self.resources += FETCHED.findall(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element defines, links to and fetches."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ("id", "name"):
                self.anchors.add(value)
            if (tag, name) in RESOURCES:
                self.resources.append(value)
            if (tag, name) == ("a", "href"):
                self.links.append(value)


def problems(site: Path) -> list[str]:
    """Return a sentence for each link or resource that is wrong."""
    paths = [
        path
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.relative_to(site).parts  # templates of the theme
    ]
    pages = {path: Page(path.read_text()) for path in paths}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [
            f"{name} fetches {resource} from elsewhere"
            for resource in page.resources
            if REMOTE.match(resource)
        ]
        local = [link for link in page.links if not urlsplit(link).scheme]
        local += [link for link in page.resources if not urlsplit(link).scheme]
        found += [
            f"{name} links to {link}, which is not there"
            for link in dict.fromkeys(local)
            if not REMOTE.match(link) and not leads_somewhere(path, link, pages)
        ]
    for sheet in sorted(site.rglob("*.css")):
        found += [
            f"{sheet.relative_to(site)} fetches {address} from elsewhere"
            for address in FETCHED.findall(sheet.read_text())
        ]
    return found


def leads_somewhere(path: Path, link: str, pages: dict[Path, Page]) -> bool:
    """Say whether a link of a page has a target, with its anchor."""
    parts = urlsplit(link)
    target = path
    if parts.path:
        target = (path.parent / unquote(parts.path)).resolve()
    if not target.is_file():
        return False
    anchor = unquote(parts.fragment)
    return not anchor or target not in pages or anchor in pages[target].anchors


def main() -> None:
    """Print the problems of a site; exit code 1 if there are any."""
    found = problems(Path(sys.argv[1]).resolve())
    print("\n".join(found) or "Every link leads somewhere; nothing is fetched.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
