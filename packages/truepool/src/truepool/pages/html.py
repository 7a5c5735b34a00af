"""A page as one HTML file that needs nothing else, and fragments for a notebook.

Templates are jinja2's and every string in them is escaped. The policy of a page names
its style and its script by their hash, so that nothing from a table could run or
restyle the page even if it were not escaped.
"""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from truepool.core.formatting import printable
from truepool.pages import costs, numbers
from truepool.pages.page import Page

HERE = "truepool.pages"
"""The package whose templates every other may extend, include and import."""


def html(
    page: Page, template: str = "page.html.j2", *, package: str = HERE, **context: Any
) -> str:
    """Return a document that runs its own script and loads nothing.

    ``template`` is looked up in the folder ``templates`` of ``package``, then in the
    one here; it may extend ``page.html.j2`` and use what is in the ``context``.
    """
    found = _environment(package).get_template(template)
    return printable(found.render({"page": page, **context}))


def fragment(template: str, *, package: str = HERE, **context: Any) -> Markup:
    """Return a part of a page, for a notebook."""
    found = _environment(package).get_template(template)
    return Markup(printable(found.render(context)))


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
        "whole": whole,
    }
    return environment


def hash_source(text: str) -> str:
    """Return how a policy names a style or a script.

    >>> hash_source("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


INTERVAL = re.compile(r"-?[\d.,]+(?: %)? \[[^\]]*\]")


def whole(text: str) -> str:
    r"""Return text in which no line ends inside a number with its interval.

    >>> whole("the cost of 38 [24, 52] errors").split(" ")
    ['the', 'cost', 'of', '38\xa0[24,\xa052]', 'errors']
    """
    return INTERVAL.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


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
