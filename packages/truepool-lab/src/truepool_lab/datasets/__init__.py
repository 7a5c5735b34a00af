"""Data sets of the paper."""

from truepool_lab.datasets.cicids2017 import cicids2017, cicids2017_mix
from truepool_lab.datasets.credit_card import credit_card
from truepool_lab.datasets.heart import heart
from truepool_lab.datasets.intrusion import intrusion
from truepool_lab.datasets.nsl_kdd import nsl_kdd
from truepool_lab.datasets.pima import pima
from truepool_lab.datasets.unsw_nb15 import unsw_nb15

__all__ = [
    "cicids2017",
    "cicids2017_mix",
    "credit_card",
    "heart",
    "intrusion",
    "nsl_kdd",
    "pima",
    "unsw_nb15",
]
