"""Scoring: a fitted pool on a table of new cases, whole, in batches or in parts."""

from truepool.scoring.table import Scored, Scoring, doubts, score

__all__ = ["Scored", "Scoring", "doubts", "score"]
