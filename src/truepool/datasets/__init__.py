"""Where features and outcomes come from."""

from truepool.datasets.example import example
from truepool.datasets.nsl_kdd import Features, nsl_kdd

__all__ = ["Features", "example", "nsl_kdd"]
