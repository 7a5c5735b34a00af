"""What got better and worse since an earlier audit: the effects, not their grades."""

from collections.abc import Mapping
from math import hypot
from typing import Any

from truepool.audits.values import SCHEMA, SEVERITIES, Audit, Changes, Severity
from truepool.comparison import Estimate
from truepool.core.errors import SourceError

REQUIRED_KEYS = {
    *("findings", "recommendation", "source", "date"),
    *("agents", "pool", "costs", "threshold", "outcome_labels"),
}
SLOPE, BIAS = "calibration slope", "bias"
"""Units of effects that the table of calibration has, whether they are found or not."""
SEGMENTS = ("biased-segment", "fails-in-segment")
"""Findings that are gone only where every segment judged then is judged now."""
POOL = (("pool",),)
"""Stands for the pool among agents, which may have any name."""
SEVERE: tuple[Severity, ...] = ("error", "warning")
PER_CASE = "per case"
"""In the unit of every effect that is a cost, and so depends on the pool."""
TRIFLE = 0.01
"""A fault that changed by less than this share of it is the same, however precisely it
is known: correlations near 1 are known to the fifth decimal."""


READ = (4, SCHEMA)
"""Versions of the JSON form that have what is compared."""


def check_earlier(earlier: Mapping[str, Any]) -> None:
    """Refuse what is not the JSON form of an audit."""
    if earlier.get("schema") not in READ or not REQUIRED_KEYS <= earlier.keys():
        raise SourceError(
            f"an earlier audit must be the JSON form of one, of schema {SCHEMA}; got "
            f"schema {earlier.get('schema')!r}. Write one with truepool audit "
            "--json FILE."
        )


def compare_audits(earlier: Mapping[str, Any], audit: Audit) -> Changes:
    """Compare an audit with an earlier one in its JSON form.

    Of what is graded otherwise than before, the effects are compared where both are
    known: more cases make a fault more certain, not larger. What was found about agents
    that are not audited any more is neither better nor worse. Nor, where the pools
    differ, is what both audits found and only costs, as in grades, tell apart.
    """
    plain = audit.to_dict()
    then, now = _findings(earlier), _findings(plain)
    left_out = tuple(a for a in earlier["agents"] if a not in audit.agents)
    judged, other_pool = _judged(plain), _pool(earlier) != _pool(plain)
    moved: dict[str, list[tuple[str, ...]]] = {"worse": [], "better": [], "same": []}
    for key in {**now, **then}:
        grades = [found.get(key, {}).get("severity") for found in (then, now)]
        before, after = map(_rank, grades)
        severe = grades[after < before] in SEVERE
        if before == after or not severe or set(key[1:]) & set(left_out):
            continue
        way = _movement(earlier, plain, key)
        if way == "better" and key not in then:  # another fault had been named
            way = "worse"
        if way == "better" and after < before:  # smaller, and yet graded higher
            way = "same"
        if way is None and other_pool and key in then and key in now:
            continue
        if way == "same" and after > before:  # fewer cases make it less certain
            continue
        if key[0] in SEGMENTS and after > before and not _judged(earlier) <= judged:
            continue
        moved[way or ("worse" if after < before else "better")].append(key)
    recommendation = earlier["recommendation"]
    told_apart = "weighting" in earlier
    before_settings, settings = (_settings(one, told_apart) for one in (earlier, plain))
    return Changes(
        earlier["source"],
        earlier["date"],
        recommendation["trust"],
        recommendation["cost_in_use"],
        tuple(f for f in audit.findings if f.key in moved["worse"]),
        tuple(moved["better"]),
        left_out,
        tuple(n for n, value in before_settings.items() if settings[n] != value),
        before_settings["currency"],
        tuple(
            f for f in audit.findings if f.key in moved["same"] and f.severity in SEVERE
        ),
        tuple(key for key in moved["worse"] if key not in then),
        earlier["pool"],
        recommendation["pool"],
    )


def _pool(plain: Mapping[str, Any]) -> tuple[str, str]:
    """The pool in use: its name and, if it was fitted before, which one it is."""
    return plain["pool"], plain.get("pool_digest", "")


def _judged(plain: Mapping[str, Any]) -> set[str]:
    """Segments with enough cases to be judged."""
    return {s["group"] for s in plain.get("segments") or () if s["shortage"] is None}


def _findings(plain: Mapping[str, Any]) -> dict[tuple[str, ...], Mapping[str, Any]]:
    return {(f["code"], *f["who"]): f for f in plain["findings"]}


def _movement(
    earlier: Mapping[str, Any], now: Mapping[str, Any], key: tuple[str, ...]
) -> str | None:
    """Say whether a fault got worse or better, or is the same; None: not known."""
    found = (_findings(earlier).get(key), _findings(now).get(key))
    unit = next(f["unit"] for f in reversed(found) if f is not None)
    if PER_CASE in unit and _pool(earlier) != _pool(now):
        return None
    old = _size(earlier, found[0], key, unit)
    new = _size(now, found[1], key, unit)
    if old is None or new is None:
        return None
    reach = hypot(*((one.high - one.low) / 2 for one in (old, new)))
    sound = 1.0 if unit == SLOPE else 0.0
    if not abs(new.value - old.value) > max(reach, TRIFLE * abs(old.value - sound)):
        return "same"
    larger = abs(new.value - sound) > abs(old.value - sound)
    return "worse" if larger else "better"


def _size(
    plain: Mapping[str, Any],
    finding: Mapping[str, Any] | None,
    key: tuple[str, ...],
    unit: str,
) -> Estimate | None:
    """Return how large a fault is in this unit: the finding's number, or calibration's.

    None where that is not known, or has no interval.
    """
    number = finding["number"] if finding and finding["unit"] == unit else None
    if unit in (SLOPE, BIAS):
        rows = dict(zip((*plain["agents"], *POOL), plain["calibration"], strict=False))
        row = rows.get(key[1] if len(key) > 1 else POOL[0], {})
        number = row.get("slope" if unit == SLOPE else "bias")
    elif unit == "AUC":  # sound: 1
        return None
    if number is None or None in number.values():
        return None
    return Estimate(**number)


def _settings(plain: Mapping[str, Any], told_apart: bool) -> dict[str, Any]:
    """What costs and findings depend on beside the cases, by name.

    Weights and propensities are told apart only where both audits say which they had.
    """
    plan, costs = plain["recommendation"], dict(plain["costs"])
    currency = str(costs.pop("currency", ""))
    return {
        "agents": sorted(plain["agents"]),
        "pool": _pool(plain),
        "costs": costs,
        "currency": currency,
        "threshold": plain["threshold"],
        "positive label": plain["outcome_labels"].get("positive"),
        "capacity": (plain.get("capacity") or {}).get("capacity"),
        **_weighting(plain, told_apart),
        "validation": [plan.get(name) for name in ("folds", "forward")],
        "groups": plan.get("grouped"),
        "segments": plain.get("by"),
        "confidence level": plain.get("level"),
        "seed": plain.get("seed"),
    }


def _weighting(plain: Mapping[str, Any], told_apart: bool) -> dict[str, bool]:
    if not told_apart:
        return {"weights": plain.get("weighted_share") is not None}
    counted = plain["weighting"]
    return {"weights": "weight" in counted, "propensity": "propensity" in counted}


def _rank(severity: Any) -> int:
    """Rank of a severity, 0 for the most severe; no finding ranks last."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)
