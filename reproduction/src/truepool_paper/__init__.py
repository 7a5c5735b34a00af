"""The paper, re-run: every printed number beside ours, with a verdict and a reason."""

from truepool.paper.answers import Answer, Reproduction
from truepool.paper.reproducing import reproduce

__all__ = ["Answer", "Reproduction", "reproduce"]
