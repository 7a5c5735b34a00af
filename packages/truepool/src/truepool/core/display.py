"""Display of values by the renderers, which are looked up by name when needed.

Renderers live in a higher layer, so nothing here imports them.
"""

from importlib import import_module
from typing import Any


def render(module: str, function: str, *values: Any) -> Any:
    """Call a function of a module with the values.

    >>> render("truepool.pages.numbers", "percent", 0.25)
    '25.0 %'
    """
    return getattr(import_module(module), function)(*values)
