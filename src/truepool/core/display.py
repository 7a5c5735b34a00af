"""How values show themselves: the renderers above are named here, not imported.

This is the one arrow that points up. A value knows only that somebody can show it; who,
is looked up when it is asked to.
"""

from importlib import import_module
from typing import Any


def render(renderer: str, way: str, *values: Any) -> Any:
    """Have ``truepool.render.<renderer>.<way>`` show the values.

    >>> render("numbers", "percent", 0.25)
    '25.0 %'
    """
    return getattr(import_module(f"truepool.render.{renderer}"), way)(*values)
