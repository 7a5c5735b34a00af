"""Formulas as MathML, which browsers draw by themselves: no script, no network."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml

XML = 'xmlns="http://www.w3.org/1998/Math/MathML"'


def render(formula: str, *, inline: bool) -> str:
    """Return a TeX formula as an element of HTML.

    >>> render("a^2", inline=True)
    '<math><msup><mi>a</mi><mn>2</mn></msup></math>'
    """
    # MathML makes brackets as large as what they hold.
    plain = re.sub(r"\\[Bb]ig[lr]?(?![a-z])", "", formula).replace(r"\dots", r"\ldots")
    text = latex2mathml.tex2mathml(plain, as_block=not inline)
    return "".join(line.strip() for line in text.replace(f" {XML}", "").splitlines())


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    writer.body.append(render(node.astext(), inline=True))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    writer.body.append(f'<div class="math">{render(node.astext(), inline=False)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Make this the way in which Sphinx writes formulas."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
