"""Agents at the edge: a team of five, and the ways to ask it from another process."""

from truepool.core.errors import TruepoolError


class UnavailableError(TruepoolError, RuntimeError):
    """Something that this machine does not have or does not allow; the row says so."""


class CallError(TruepoolError, RuntimeError):
    """A call to an agent, or a command around it, that failed."""
