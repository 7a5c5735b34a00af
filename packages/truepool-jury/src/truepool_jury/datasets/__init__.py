"""Data sets of judges, who voted on the same cases."""

from truepool_jury.datasets.crowds import duck_crowd, product_crowd
from truepool_jury.datasets.judgebench import judgebench

__all__ = ["duck_crowd", "judgebench", "product_crowd"]
