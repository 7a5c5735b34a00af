"""UNSW-NB15, on a few lines of its kind."""

import pytest

from truepool.core.errors import SourceError
from truepool_lab.datasets.unsw_nb15 import CATEGORIES, NAMES, UNSWNB15, unsw_nb15

HEADER = "\ufeffid," + ",".join(NAMES) + ",attack_cat,label"


def line(number, proto, attack):
    words = [
        proto if n == "proto" else "-" if n in CATEGORIES else str(number)
        for n in NAMES
    ]
    kind = "Generic" if attack else "Normal"
    return ",".join([str(number), *words, kind, str(attack)]) + "\r"


def test_a_byte_order_mark_a_dash_and_carriage_returns_are_no_trouble(given):
    given(UNSWNB15, HEADER + "\r", line(1, "udp", 0), line(2, "arp", 1))
    rows = unsw_nb15(seed=None)
    assert rows.names == tuple(NAMES)
    assert rows.outcomes.tolist() == [0, 1]
    assert rows.levels == {"proto": ("arp", "udp"), "service": ("-",), "state": ("-",)}
    assert rows.values[:, 1].tolist() == [1.0, 0.0]


def test_columns_that_reveal_the_outcome_are_no_features(given):
    given(UNSWNB15, HEADER, line(1, "udp", 0), line(2, "arp", 1))
    assert not {"id", "attack_cat", "label"} & set(unsw_nb15().names)


def test_a_missing_column_is_named(given):
    given(UNSWNB15, HEADER.replace("sttl", "ttl"), line(1, "udp", 0))
    with pytest.raises(SourceError, match=r"must have a column 'sttl' \(did you mean "):
        unsw_nb15()
