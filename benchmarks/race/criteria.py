"""What `auto` had to reach, and whether it did."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from race.comparison import MEAN, Results, Rows, Verdict, advantage, select
from race.measurement import OLD, OURS
from race.panels import PANELS
from race.tables import signed

TARGET_PEER, TARGET_OLD, TARGET_WORSE = 0.02, 0.06, 0.05
"""What `auto` must reach: savings against the best peer and the old rule; worse cells."""


@dataclass(frozen=True)
class Criterion:
    """Something that `auto` had to reach: what, how much, what was measured."""

    what: str
    target: str
    measured: str
    met: bool


def find_criteria(
    found: Results, best: list[Verdict], judging: Rows
) -> Iterator[Criterion]:
    """Compare what was measured with what had to be reached."""
    ours = found.costs(OURS)
    names = ", ".join(dict.fromkeys(found.best_peer))
    sets = [data_set(panel) for panel in found.panels]
    peers, old = found.best_peer_costs(), found.costs(OLD)
    peer, rule = advantage(ours, peers), advantage(ours, old)
    yield Criterion(
        f"costs less than the best peer ({names})", f"at least {TARGET_PEER:.0%}",
        _both(peer, advantage(ours, peers, sets)), peer[0] >= TARGET_PEER,
    )  # fmt: skip
    yield Criterion(
        f"costs less than the old rule (`{OLD}`)", f"at least {TARGET_OLD:.0%}",
        _both(rule, advantage(ours, old, sets)), rule[0] >= TARGET_OLD,
    )  # fmt: skip
    worse = float(np.mean([verdict.significant(1) for verdict in best]))
    yield Criterion(
        "cells significantly worse than the best peer of the cell",
        f"at most {TARGET_WORSE:.0%}", f"{100 * worse:.1f} %", worse <= TARGET_WORSE,
    )  # fmt: skip
    sparse = {c["panel"] for c in judging if PANELS[c["panel"]].hard == "sparse"}
    if sparse:
        part = Results(select(judging, "race", sparse))
        cheaper = advantage(part.costs(OURS), part.costs(MEAN))
        verdicts = part.against(MEAN)
        lost = sum(verdict.significant(1) for verdict in verdicts)
        yield Criterion(
            "sparse panels (classifiers, 80 % of their reports removed): costs less than "
            "the mean "
            f"(significantly worse in {lost} of {len(verdicts)} cells)",
            "at least 0%", _estimate(cheaper), cheaper[0] >= 0 and not lost,
        )  # fmt: skip


def data_set(panel: str) -> str:
    """Return the data set that a judging panel was trained on.

    >>> data_set("unsw-fuzzers-adv"), data_set("heart")
    ('unsw', 'heart')
    """
    return panel.partition("-")[0]


def _both(panels: tuple[float, float, float], sets: tuple[float, float, float]) -> str:
    """The estimate, its interval over panels and, after a slash, over data sets."""
    _, low, high = sets
    return f"{_estimate(panels)} / [{100 * low:+.1f}, {100 * high:+.1f}]"


def _estimate(found: tuple[float, float, float]) -> str:
    value, low, high = found
    return f"{signed(value)} [{100 * low:+.1f}, {100 * high:+.1f}]"
