"""The record of the corpus, and what of an audit differs from it.

`expected.json` has for every table what was planted and what an audit answered when it
was recorded (`answers`). In it a date is [since, earliest, latest]: what was found, and
between what it may be found without being a difference.
"""

import json
from pathlib import Path

import numpy as np

from audit_corpus.answers import NO_REPORTS, OVER, SOUND
from audit_corpus.tables import NEAR, TABLES

PATH = Path(__file__).parent / "expected.json"


def load():
    return json.loads(PATH.read_text(encoding="utf-8"))


def save(tables, meant):
    """Write the record, one line per answer, in the order of `TABLES`."""
    blocks = []
    for name in (name for name in TABLES if name in tables):
        lines = (f"{_json(k)}: {_json(v)}" for k, v in tables[name].items())
        blocks.append(f"  {_json(name)}: {{\n   " + ",\n   ".join(lines) + "\n  }")
    excuses = ",\n  ".join(map(_json, meant))
    PATH.write_text(
        '{\n "tables": {\n' + ",\n".join(blocks) + "\n },\n"
        f' "meant": [{excuses}]\n}}\n',
        encoding="utf-8",
    )


def _json(value):
    return json.dumps(value, ensure_ascii=False)


def drawn(table):
    """Mean report and number of cases of each outcome, to see that a table is as it was."""
    counts = np.bincount(table.panel.outcomes, minlength=table.classes)
    return [round(float(np.nanmean(table.panel.reports)), 6), *counts.tolist()]


def record(table, found, between=lambda code, who: None):
    """What to keep of the answers of an audit.

    ``between`` gives the dates, of a code and its agents, between which the audit itself
    says that the change lies; a date may also be `NEAR` to what was found or planted.
    """

    def dated(code, who, since):
        if since is None:
            return None
        return _span(table, code, who, since, between(code, tuple(who)))

    def finding(code, severity, who, since):
        return [code, severity, who, dated(code, who, since)]

    def diagnosis(name, code, since):
        own = (w for c, _, w, s in found["findings"] if (c, w[:1]) == (code, [name]))
        return [code, dated(code, next(own, [name]), since)]

    return {
        "drawn": drawn(table),
        "planted": [
            [one.code, one.who, one.since and [one.since, *_around(table, one)]]
            for one in table.planted
        ],
        "trust": found["trust"],
        "pool": found["pool"],
        "first": found["first"] and finding(*found["first"]),
        "findings": [finding(*one) for one in found["findings"]],
        "agents": {who: diagnosis(who, *one) for who, one in found["agents"].items()},
        "over": {who: diagnosis(who, *one) for who, one in found["over"].items()},
        "outcome": found["outcome"]
        and [found["outcome"][0], dated(found["outcome"][0], [], found["outcome"][1])],
    }


def _around(table, planted):
    near = round(planted.near * table.cases)
    return max(planted.since - near, 0), planted.since + near


def _span(table, code, who, since, between):
    """A date and its limits: those of what was planted, of the audit, and `NEAR` it."""
    own = [
        one for one in table.planted
        if one.since is not None and [one.who] == (list(who[:1]) or [None])
    ]  # fmt: skip
    planted = min(own, key=lambda one: abs(one.since - since), default=None)
    if planted is None:
        near = round(NEAR * table.cases)
        limits = [(max(since - near, 0), since + near)]
    else:
        limits = [_around(table, planted)]
    limits += [(since, since)] if between is None else [between]
    low, high = zip(*limits, strict=True)
    return [since, min(low), max(high)]


def differences(expected, found):
    """What an audit answers otherwise: (field, key, what was, what is now).

    Codes and severities are compared exactly; a date must lie within its limits.
    Findings are compared only where the answers have any.
    """
    yield from _plain(expected, found, ("trust", "pool"))
    was, now = expected["first"], found["first"]
    if _key(was) != _key(now):
        yield ("first", "", _key(was), _key(now))
    elif was is not None and not _within(was[3], now[3]):
        yield ("first", "since", was[3], now[3])
    for field in ("agents", "over"):
        for who in {**expected[field], **found[field]}:
            was, now = expected[field].get(who), found[field].get(who)
            yield from _diagnosis(field, who, was, now)
    yield from _diagnosis("outcome", "", expected["outcome"], found["outcome"])
    if found["findings"] is not None:
        yield from _findings(expected["findings"], found["findings"])


def _plain(expected, found, fields):
    for field in fields:
        if expected[field] != found[field]:
            yield (field, "", expected[field], found[field])


def _key(finding):
    """Code and agents of a finding, in one word."""
    return None if finding is None else " ".join([finding[0], *finding[2]])


def _diagnosis(field, who, was, now):
    codes = was and was[0], now and now[0]
    if codes[0] != codes[1]:
        yield (field, who, *codes)
    elif was is not None and not _within(was[1], now[1]):
        yield (field, f"{who} since".strip(), was[1], now[1])


def _findings(expected, found):
    was = {_key(one): one for one in expected}
    now = {_key(one): one for one in found}
    for key in {**was, **now}:
        before, after = was.get(key), now.get(key)
        grades = before and before[1], after and after[1]
        if grades[0] != grades[1]:
            yield ("findings", key, *grades)
        elif not _within(before[3], after[3]):
            yield ("findings", f"{key} since", before[3], after[3])


def _within(limits, since):
    if limits is None or since is None:
        return limits is None and since is None
    return limits[1] <= since <= limits[2]


ANY = "*"


def is_meant(difference, table, meant):
    """Whether a difference is one that was decided on.

    ``meant`` are objects with "table", "field", "key", "was", "now" and "why"; each of
    the first five may be "*" for any.
    """
    field, key, was, now = difference
    given = {"table": table, "field": field, "key": key, "was": was, "now": now}
    return any(
        all(one[name] in (ANY, value) for name, value in given.items()) for one in meant
    )


def names_fault(planted, answered):
    """Whether an audit gives a planted fault its name: of the agent, or the outcomes."""
    if planted.who is None:
        own = answered["outcome"]
    else:
        part = "over" if planted.code in OVER else "agents"
        own = answered[part].get(planted.who)
    return own is not None and own[0] == planted.code


def falsely_blamed(planted, answered):
    """Agents with a diagnosis in whom nothing was planted."""
    guilty = {one.who for one in planted}
    return [
        who
        for who, (code, _) in answered["agents"].items()
        if code not in (SOUND, NO_REPORTS) and who not in guilty
    ]
