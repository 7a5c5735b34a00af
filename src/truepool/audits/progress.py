"""What got better and worse since an earlier audit."""

from collections.abc import Mapping
from typing import Any

from truepool.audits.values import SCHEMA, SEVERITIES, Audit, Changes, Severity
from truepool.core.errors import SourceError

REQUIRED_KEYS = {
    *("findings", "recommendation", "source", "date"),
    *("agents", "pool", "costs", "threshold", "outcome_labels"),
}
SEVERE: tuple[Severity, ...] = ("error", "warning")


def check_earlier(earlier: Mapping[str, Any]) -> None:
    """Refuse what is not the JSON form of an audit."""
    if earlier.get("schema") != SCHEMA or not REQUIRED_KEYS <= earlier.keys():
        raise SourceError(
            f"an earlier audit must be the JSON form of one, of schema {SCHEMA}; got "
            f"schema {earlier.get('schema')!r}. Write one with truepool audit "
            "--json=FILE."
        )


def compare_audits(earlier: Mapping[str, Any], audit: Audit) -> Changes:
    """Compare an audit with an earlier one in its JSON form.

    What was found about agents that are not audited any more is neither better nor
    worse.
    """
    then = {(f["code"], *f["who"]): f["severity"] for f in earlier["findings"]}
    now = {f.key: f.severity for f in audit.findings}
    worse = tuple(
        f
        for f in audit.findings
        if f.severity in SEVERE and _rank(f.severity) < _rank(then.get(f.key))
    )
    left_out = tuple(a for a in earlier["agents"] if a not in audit.agents)
    better = tuple(
        key
        for key, severity in then.items()
        if severity in SEVERE
        and _rank(severity) < _rank(now.get(key))
        and not set(key[1:]) & set(left_out)
    )
    recommendation = earlier["recommendation"]
    before, after = _settings(earlier), _settings(audit.to_dict())
    return Changes(
        earlier["source"],
        earlier["date"],
        recommendation["trust"],
        recommendation["cost_in_use"],
        worse,
        better,
        left_out,
        tuple(name for name, value in before.items() if after[name] != value),
        before["currency"],
    )


def _settings(plain: Mapping[str, Any]) -> dict[str, Any]:
    """What costs and findings depend on beside the cases, by name."""
    plan, costs = plain["recommendation"], dict(plain["costs"])
    currency = str(costs.pop("currency", ""))
    return {
        "agents": sorted(plain["agents"]),
        "pool": plain["pool"],
        "costs": costs,
        "currency": currency,
        "threshold": plain["threshold"],
        "positive label": plain["outcome_labels"].get("positive"),
        "weights": plain.get("weighted_share") is not None,
        "validation": [plan.get(name) for name in ("folds", "forward", "grouped")],
    }


def _rank(severity: Any) -> int:
    """Rank of a severity, 0 for the most severe; no finding ranks last."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)
