"""Where features and outcomes come from."""

from truepool.datasets.example import example

__all__ = ["example"]
