"""The paper, re-run: every printed number beside ours, with a verdict and its cause.

Names are imported when they are first used, so that ``truepool --help`` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truepool_lab.paper.answers import Answer, Reproduction
    from truepool_lab.paper.reproduction import reproduce

__all__ = ["Answer", "Reproduction", "reproduce"]

_NAMES = {
    "Answer": "answers",
    "Reproduction": "answers",
    "reproduce": "reproduction",
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"truepool_lab.paper.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'truepool_lab.paper' has no attribute {name!r}")
