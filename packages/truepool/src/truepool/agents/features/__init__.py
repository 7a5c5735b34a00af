"""What agents see: rows of features, and how they are made ready for a model."""

from truepool.agents.features.table import Features

__all__ = ["Features"]
