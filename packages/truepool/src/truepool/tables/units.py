"""Units: what agents report that are no probabilities; the unknown are asked for."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from scipy.stats import rankdata

from truepool.core.arrays import FloatArray
from truepool.tables.columns import Inference, Look
from truepool.tables.faults import Cure, Note
from truepool.tables.schema import EVERY, PERCENT, PROBABILITY, Unit, is_chosen
from truepool.tables.source import column_fault

MOST_SCORE, FEWEST_SCORES = 10, 5
"""Whole numbers and halves up to the first are more often scores than percentages, if
there are as many as the second."""
SCALES = tuple(map(Unit.of_scores, ("1-5", "0-5", "1-10", "0-10")))
"""Usual ranges of small scores."""
ALIKE, SURELY, COMPARED = 0.5, 4.0, 2_000
"""A column that nobody named may be scores if its ranks correlate so much with those of
an agent, by so many standard errors, in so many cases at most."""


OTHER, NONE = Note("as-other-scores"), Note("as-none")
"""What a range of one's own means as an answer, and what leaving a column out does."""


def agent_units(found: Inference) -> tuple[dict[str, Unit], tuple[str, ...]]:
    """Units of agents that report no probabilities, and who has percent signs.

    Units that nobody says are asked for.
    """
    declared = found.declared
    _check_named(found)
    units: dict[str, Unit] = {}
    unknown: dict[str, FloatArray] = {}
    signed = []
    for agent, looks in _reports(found).items():
        signs = any(look.signed for look in looks)
        signed += [agent] if signs else []
        unit = declared.unit(agent, signed=signs)
        if unit not in (None, PROBABILITY):
            units[agent] = unit
        known = looks[0].known
        if len(looks) > 1:
            known = np.concatenate([look.known for look in looks])
        if unit is None and any(look.has_unit for look in looks):
            if known.min() >= 0 and known.max() <= PERCENT.one:
                unknown[agent] = known
        if declared.in_percent(agent) and not signs:
            _check_percent(found, agent, known)
    _ask(found, unknown)
    return units, tuple(signed)


def _reports(found: Inference) -> dict[str, list[Look]]:
    """What each agent reports: its columns, or its rows of the one of a long table."""
    if found.long is None:
        own = {a: [n for n in names if n in found.looks]
               for a, names in found.reports.items()}  # fmt: skip
        return {a: [found.looks[n] for n in names] for a, names in own.items() if names}
    _, agent, report = found.long
    owner, numbers = found.looks[agent], found.looks[report].numbers
    if numbers is None:
        return {}
    place = {str(name): code for code, name in enumerate(owner.distinct)}
    order = np.argsort(owner.codes, kind="stable")
    ends = np.searchsorted(owner.codes[order], np.arange(owner.count + 1))
    rows = {a: order[ends[place[a]] : ends[place[a] + 1]] for a in found.agents}
    return {
        a: [Look(a, pa.nulls(len(own)), numbers.take(own))] for a, own in rows.items()
    }


def _check_percent(found: Inference, agent: str, known: FloatArray) -> None:
    """Refuse declared percentages that look like probabilities, or like scores."""
    if len(known) < 2:
        return
    key, most = f"scores.{agent}", float(known.max())
    real = Cure("real-percent", key, PERCENT.span)
    if 0 < most <= 1:
        cure = Cure("leave-out-percent")
        found.refuse("percent-up-to-one", cure, real, agent=agent, found=most)
    elif found.declared.percent is True and _like_scores(known):
        cure = Cure("scores", key, _scales(known)[0].span)
        span = f"{known.min():g}-{most:g}"
        found.refuse("percent-or-scores", cure, real, agent=agent, found=span)


def _like_scores(numbers: FloatArray) -> bool:
    """Whether numbers are rather scores than percentages: small, whole or halves."""
    small = len(numbers) >= FEWEST_SCORES and 1 < numbers.max() <= MOST_SCORE
    return bool(small and numbers.min() >= 0 and (numbers % 0.5 == 0).all())


def _scales(numbers: FloatArray) -> list[Unit]:
    """Return the smallest usual ranges of scores that have all of these numbers."""
    low, high = numbers.min(), numbers.max()
    fit = [scale for scale in SCALES if scale.low <= low and high <= scale.high]
    return [scale for scale in fit if scale.high == fit[0].high]


def _ask(found: Inference, unknown: Mapping[str, FloatArray]) -> None:
    """Ask for the unit of each agent; of all at once, where they look alike.

    The numbers that were seen are no range of scores: the next ones may lie beyond.
    """
    small = {bool(_scales(known)) for known in unknown.values()}
    joint = len(unknown) == len(found.agents) > 1 and len(small) == 1
    for names in [[*unknown]] if joint else [[name] for name in unknown]:
        known = np.concatenate([unknown[name] for name in names])
        scales = [(scale.span, Note("as-scores")) for scale in _scales(known)]
        percent = (PERCENT.span, Note("as-percent"))
        offered = [*scales, percent] if _like_scores(known) else [percent, *scales]
        choices, about = zip(*offered, ("LOW-HIGH", OTHER), strict=True)
        if len(found.agents) - len(names) > 1:
            choices, about = (*choices, {"ignore": names}), (*about, NONE)
        fields = {"names": names, "count": len(names)}
        found.ask(
            "unit",
            "scores" if joint else f"scores.{names[0]}",
            choices,
            about=about,
            free="LOW-HIGH",
            fields=fields | {"low": float(known.min()), "high": float(known.max())},
        )


def ask_unnamed(found: Inference) -> None:
    """Ask about columns in no usual unit that rank the cases as an agent does.

    They may be scores, such as from 300 to 850; an amount or an age rarely is so close.
    """
    reports = [found.looks[n].numbers for n in found.agents if n in found.looks]
    if found.declared.agents or found.long or not reports:
        return
    for name, look in found.open.items():
        if look.numbers is None or look.is_key or look.signed or look.binary:
            continue
        step = -(-look.rows // COMPARED)
        own = look.numbers.values[::step]
        links = [_link(own, each.values[::step]) for each in reports if each]
        link = max(links, key=abs)
        if abs(link) < ALIKE:
            continue
        fields = {"low": float(look.known.min()), "high": float(look.known.max())}
        free = "LOW-HIGH" if link > 0 else "HIGH-LOW"
        found.ask(
            "maybe-scores",
            f"scores.{name}",
            (free, {"ignore": [name]}),
            column=name,
            about=(OTHER, NONE),
            free=free,
            fields=fields | {"link": link},
        )


def _link(one: FloatArray, other: FloatArray) -> float:
    """Rank correlation of two columns; 0 where chance could make it."""
    known = np.isfinite(one) & np.isfinite(other)
    one, other = one[known], other[known]
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    link = float(np.corrcoef(rankdata(one), rankdata(other))[0, 1])
    return link if abs(link) * np.sqrt(len(one) - 1) >= SURELY else 0.0


def _check_named(found: Inference) -> None:
    """Refuse agents with a declared unit that no agent has."""
    declared = found.declared
    percent = declared.percent if isinstance(declared.percent, tuple) else ()
    known = [*found.agents, *declared.ignore, *found.open]
    if not declared.long:
        known += [name for name in found.looks if is_chosen(name, declared.ignore)]
    for key, patterns in (("percent", percent), ("scores", [*declared.scores])):
        for pattern in patterns:
            if pattern != EVERY and not any(is_chosen(n, (pattern,)) for n in known):
                found.faults.add(column_fault(key, pattern, found.agents, several=True))
