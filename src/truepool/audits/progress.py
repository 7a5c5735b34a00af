"""What got better and worse since an earlier audit."""

from collections.abc import Mapping
from typing import Any

from truepool.audits.values import SCHEMA, SEVERITIES, Changes, Finding, Severity
from truepool.core.errors import SourceError

REQUIRED_KEYS = {"findings", "recommendation", "source", "date"}
SEVERE: tuple[Severity, ...] = ("error", "warning")


def compare_audits(
    earlier: Mapping[str, Any], findings: tuple[Finding, ...]
) -> Changes:
    """Compare findings with those of an earlier audit in its JSON form."""
    if earlier.get("schema") != SCHEMA or not REQUIRED_KEYS <= earlier.keys():
        raise SourceError(
            f"an earlier audit must be the JSON form of one, of schema {SCHEMA}; got "
            f"schema {earlier.get('schema')!r}. Write one with truepool audit "
            "--json=FILE."
        )
    then = {(f["code"], *f["who"]): f["severity"] for f in earlier["findings"]}
    now = {f.key: f.severity for f in findings}
    worse = tuple(
        f
        for f in findings
        if f.severity in SEVERE and _rank(f.severity) < _rank(then.get(f.key))
    )
    better = tuple(
        key
        for key, severity in then.items()
        if severity in SEVERE and _rank(severity) < _rank(now.get(key))
    )
    recommendation = earlier["recommendation"]
    return Changes(
        earlier["source"],
        earlier["date"],
        recommendation["trust"],
        recommendation["cost_in_use"],
        worse,
        better,
    )


def _rank(severity: Any) -> int:
    """Rank of a severity, 0 for the most severe; no finding ranks last."""
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)
