"""An audit for machines: codes and numbers; sentences are fields of their own.

``audit.schema.json`` beside this file describes it.
"""

from dataclasses import fields, is_dataclass
from typing import Any

from truepool.audits import kinds
from truepool.audits.values import (
    Audit,
    Diagnosis,
    Finding,
    Note,
    Plan,
    Step,
    plain_value,
)
from truepool.comparison import Comparison
from truepool.core.sentences import PYTHON, TERMINAL
from truepool.pages.wording import Speaker

OWN = ("outcome", "agents", "pool", "plan", "findings", "withheld", "notes", "labels",
       "label_cases", "changes")  # fmt: skip
"""Fields of an audit that are written in another form than they have."""


def document(audit: Audit) -> dict[str, Any]:
    """Return plain numbers, codes and sentences."""
    say = Speaker.of(audit)
    plain = {
        field.name: _plain(vars(audit)[field.name])
        for field in fields(audit)
        if field.name not in OWN
    }
    found = {
        "schema": audit.schema,
        "trust": audit.plan.trust,
        "sentence": say.verdict(),
        "worst": audit.worst(),
        "outcome": _diagnosis(say, audit.outcome),
        "agents": [_diagnosis(say, one) for one in audit.agents],
        "pool": _diagnosis(say, audit.pool),
        "plan": _plan(say, audit.plan),
        "findings": [_finding(say, one) for one in audit.findings],
        **plain,
        "share": audit.share,
        "outcome_labels": audit.labels.to_dict(list(audit.label_cases)),
        "withheld": [_note(say, one) for one in audit.withheld],
        "notes": [_note(say, one) for one in audit.notes],
        "changes": None,
    }
    if audit.changes is not None:
        lines = list(say.changes())
        found["changes"] = _plain(audit.changes) | {"sentences": lines}
    return dict(plain_value(found))


def _plain(value: Any) -> Any:
    """Return dataclasses as objects, fields by name."""
    if isinstance(value, Comparison):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(vars(value)[one.name]) for one in fields(value)}
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def _diagnosis(say: Speaker, one: Diagnosis) -> dict[str, Any]:
    kind = kinds.every().get(one.code)
    return {
        "subject": one.subject,
        "who": one.who,
        "code": one.code,
        "state": kind.state if kind else one.code,
        "severity": one.severity,
        "since": one.since,
        "date": one.date,
        "finding": None if one.finding is None else _finding(say, one.finding),
        "evidence": [_finding(say, each) for each in one.evidence],
        "sentence": say.label(one.code),
    }


def _finding(say: Speaker, one: Finding) -> dict[str, Any]:
    details = [{"name": name, "value": _plain(value)} for name, value in one.details]
    return {**_plain(one), "details": details, "sentence": say.finding(one)}


def _plan(say: Speaker, plan: Plan) -> dict[str, Any]:
    return {**_plain(plan), "steps": [_step(say, one) for one in plan.steps]}


def _step(say: Speaker, one: Step) -> dict[str, Any]:
    return {
        **_plain(one),
        "text": say.step(one),
        "terminal": say.command(one, TERMINAL),
        "python": say.command(one, PYTHON),
    }


def _note(say: Speaker, one: Note) -> dict[str, Any]:
    return {**_plain(one), "sentence": say.note(one)}
