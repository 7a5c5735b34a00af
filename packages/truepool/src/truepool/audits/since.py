"""What got better and worse since an earlier audit: diagnoses, and agents' worth."""

from collections.abc import Iterator, Mapping
from math import hypot
from typing import Any, Literal

from truepool.audits import kinds
from truepool.audits.values import (
    SCHEMA,
    SEVERITIES,
    Audit,
    Change,
    Changes,
    Diagnosis,
)
from truepool.comparison import Estimate
from truepool.core.errors import SourceError

REQUIRED_KEYS = {
    *("outcome", "agents", "pool", "plan", "summaries", "source", "date"),
    *("costs", "threshold", "outcome_labels"),
}


def check_earlier(earlier: Mapping[str, Any]) -> None:
    """Refuse what is not the JSON form of an audit."""
    if earlier.get("schema") != SCHEMA or not REQUIRED_KEYS <= earlier.keys():
        raise SourceError(
            f"an earlier audit must be the JSON form of one, of schema {SCHEMA}; got "
            f"schema {earlier.get('schema')!r}. Audit the earlier table again."
        )


def compare_audits(earlier: Mapping[str, Any], audit: Audit) -> Changes:
    """Compare an audit with an earlier one in its JSON form.

    An agent that is not audited any more is neither better nor worse, and nothing is
    compared where settings differ that decide what is measured.
    """
    plan, names = earlier["plan"], {one["who"] for one in earlier["agents"]}
    plain = audit.to_dict()
    before, now = _settings(earlier), _settings(plain)
    settings = tuple(name for name in before if before[name] != now[name])
    found = Changes(
        earlier["source"],
        earlier["date"],
        settings,
        (),
        tuple(name for name in sorted(names) if name not in audit.names),
        _estimate((earlier.get("operations") or [{}])[0].get("cost")),
        earlier["pool"]["who"],
        plan["pool"],
    )
    if not found.comparable:
        return found
    same = _pool_of(earlier) == _pool_of(plain)
    changes = (*_diagnoses(earlier, audit, pool=same), *_worths(earlier, audit))
    return Changes(**{**vars(found), "changes": changes})


def _diagnoses(
    earlier: Mapping[str, Any], audit: Audit, *, pool: bool
) -> Iterator[Change]:
    """Diagnoses that are new, gone, or have become worse or better.

    That of the ``pool`` only if it is the same one.
    """
    agents = {one["who"]: one for one in earlier["agents"]}
    pairs = [(audit.outcome, earlier["outcome"])]
    pairs += [(one, agents[one.who]) for one in audit.agents if one.who in agents]
    if pool:
        pairs.append((audit.pool, earlier["pool"]))
    for now, then in pairs:
        what = _movement(now, then)
        if what is not None:
            yield Change(now.subject, now.who, what, then["code"], now.code)


def _movement(
    now: Diagnosis, then: Mapping[str, Any]
) -> Literal["new", "worse", "better", "gone"] | None:
    """Say how a diagnosis moved; None if it is the same, or only less certain.

    Of the same fault, its number must have left the interval that it had. More cases
    make a fault more certain, not larger.
    """
    sound = (kinds.SOUND, kinds.UNTESTED)
    if then["code"] in sound:
        return None if now.code in sound else "new"
    if now.code in sound:
        return "gone" if now.code == kinds.SOUND else None
    if now.code != then["code"]:
        grades = [
            SEVERITIES.index(s or "note") for s in (now.severity, then["severity"])
        ]
        if grades[0] == grades[1]:
            return (
                "worse" if kinds.rank(now.code) < kinds.rank(then["code"]) else "better"
            )
        return "worse" if grades[0] < grades[1] else "better"
    old = (then["finding"] or {}).get("number")
    if now.finding is None or now.finding.number is None or old is None:
        return None
    if now.finding.unit in kinds.UNSIZED:
        return None
    size = _size(now.finding.unit, now.finding.number) - _size(
        now.finding.unit, before := _known(old)
    )
    reach = hypot(_half(now.finding.number), _half(before))
    if abs(size) <= reach:
        return None
    return "worse" if size > 0 else "better"


def _size(unit: str, number: Estimate) -> float:
    """How far a number is from that of what is sound."""
    return abs(number.value - kinds.SOUND_AT.get(unit, 0.0))


def _half(number: Estimate) -> float:
    """Half the width of an interval; what has none does not move."""
    width = (number.high - number.low) / 2
    return width if width == width else float("inf")


def _worths(earlier: Mapping[str, Any], audit: Audit) -> Iterator[Change]:
    """Agents whose worth is surely another than it was, in the same pool."""
    if earlier["plan"]["pool"] != audit.plan.pool:
        return
    then = {one["agent"]: _estimate(one.get("worth")) for one in earlier["summaries"]}
    for one in audit.summaries:
        old, new = then.get(one.agent), one.worth
        if old is None or new is None:
            continue
        gap, reach = new.value - old.value, hypot(_half(new), _half(old))
        if abs(gap) > reach:
            moved = Estimate(gap, gap - reach, gap + reach)
            yield Change("agent", one.agent, "worth", "", "", moved)


def _known(number: Mapping[str, Any]) -> Estimate:
    nan = float("nan")
    ends = (number[name] for name in ("value", "low", "high"))
    return Estimate(*(nan if end is None else end for end in ends))


def _estimate(number: Mapping[str, Any] | None) -> Estimate | None:
    return None if number is None else _known(number)


def _pool_of(plain: Mapping[str, Any]) -> tuple[str, str]:
    """The pool in use: its name and, if it was fitted before, which one it is."""
    return plain["pool"]["who"], plain.get("pool_digest", "")


def _settings(plain: Mapping[str, Any]) -> dict[str, Any]:
    """What costs and findings depend on beside the cases, by name."""
    plan, costs = plain["plan"], dict(plain["costs"])
    currency = str(costs.pop("currency", ""))
    return {
        "agents": sorted(one["who"] for one in plain["agents"]),
        "pool": _pool_of(plain),
        "costs": costs,
        "currency": currency,
        "threshold": plain["threshold"],
        "positive label": plain["outcome_labels"].get("positive"),
        "capacity": (plain.get("capacity") or {}).get("capacity"),
        "weights": "weight" in plain["weighting"],
        "propensity": "propensity" in plain["weighting"],
        "validation": [plan.get(name) for name in ("folds", "forward")],
        "groups": plan.get("grouped"),
        "segments": plain.get("by"),
        "confidence level": plain.get("level"),
        "seed": plain.get("seed"),
    }
