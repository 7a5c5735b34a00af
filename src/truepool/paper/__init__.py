"""The paper, re-run: every printed number beside ours, with a verdict and a reason."""

from truepool.paper.reproducing import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]
