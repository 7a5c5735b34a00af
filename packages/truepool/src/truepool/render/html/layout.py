"""The layout of every page, and its templates.

Templates are jinja2's and every string in them is escaped. The policy of a page names
its style and its script by their hash, so that nothing from a table could run or
restyle the page even if it were not escaped.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from truepool.render import costs, numbers
from truepool.render.html.svg import StyleSheet, inline
from truepool.render.tables.grid import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = "truepool.render.html"
"""The package whose templates every other may extend, include and import."""


@dataclass(frozen=True)
class Section:
    """A part of a page: its anchor, link text, heading and template.

    Tables follow the text of the template.
    """

    name: str
    link: str
    title: str
    template: str
    shown: Mapping[str, Any] = field(default_factory=dict)
    figures: "Mapping[str, Figure]" = field(default_factory=dict)
    tables: Sequence[Grid] = ()

    @property
    def anchors(self) -> set[str]:
        """What can be linked to."""
        return {self.name, *(f"figure-{name}" for name in self.figures)}


def page(template: str, *, package: str = HERE, **context: Any) -> str:
    """Return a document that runs its own script and loads nothing.

    ``template`` extends ``page.html.j2``, which shows a ``title`` and ``sections``. It
    is looked up in the folder ``templates`` of ``package``, then in the one here.
    """
    sheet = StyleSheet()
    draw = partial(inline, sheet=sheet)
    return _render(template, package, context | {"svg": draw, "sheet": sheet})


def fragment(template: str, *, package: str = HERE, **context: Any) -> Markup:
    """Return a part of a page, for a notebook."""
    return Markup(_render(template, package, context | {"svg": inline}))


def _render(template: str, package: str, context: Mapping[str, Any]) -> str:
    return _environment(package).get_template(template).render(context)


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(HERE)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "amount": numbers.amount,
        "costs": costs.describe,
        "estimate": numbers.format_estimate,
        "grouped": "{:,}".format,
        "hash_source": hash_source,
        "number": numbers.number,
        "percent": numbers.percent,
        "prose": prose,
    }
    return environment


def hash_source(text: str) -> str:
    """Return how a policy names a style or a script.

    >>> hash_source("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def prose(text: str) -> Markup:
    """Return a sentence whose `names in backticks` are shown as code.

    >>> prose("use `platt` & wait")
    Markup('use <code>platt</code> &amp; wait')
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick in somebody's name
        return escape(text)
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(p) if i % 2 else p for i, p in enumerate(parts))
