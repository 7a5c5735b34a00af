"""Every code has words, and every sentence the facts that it quotes."""

import re
import tomllib
from contextlib import suppress
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from checked import candidates, evidence_of
from faults import COSTS, copied, drifted, flipped, over_confident, sound, timed
from panels import random_panel
from simulated_faults import sleeper, temperature

from truepool.audits import audit, comparison, kinds, late_outcomes, leaks
from truepool.audits.candidate import Candidate
from truepool.audits.checks import credit, drift, feeds, selective_labels
from truepool.audits.diagnosis import explain_drift
from truepool.audits.findings import select_findings
from truepool.audits.plan import CURES
from truepool.core.sentences import catalogue, say
from truepool.panel.costs import Costs
from truepool.panel.panel import Panel
from truepool.pools.vcg import VCG

OWN = tomllib.loads(files("truepool.words").joinpath("findings.toml").read_text())
CASES, AT = 1200, 800
LATER = np.arange(CASES) >= AT


def changed(agent, reports, panel=None, **more):
    """A panel with other reports of an agent, dated; nothing else changes."""
    panel = sound(cases=CASES) if panel is None else panel
    values = panel.reports.copy()
    values[:, agent] = reports(values[:, agent])
    return Panel(values, panel.outcomes, times=np.arange(len(panel)), **more)


def since(then):
    return lambda own: np.where(LATER, then(own), own)


def in_between(then):
    return lambda own: np.where(LATER & (np.arange(CASES) < 1000), then, own)


def shifted(by, scale=1.0):
    return lambda p: 1 / (1 + np.exp(-scale * np.log(p / (1 - p)) - by))


def permuted(own):
    return np.random.default_rng(0).permutation(own)


def feeds_of():
    """Feeds with one fault each, and what else their agents show."""
    faults = (
        since(lambda own: 0.05), since(lambda own: np.nan), in_between(0.05), in_between(np.nan),
        since(lambda own: np.roll(own, 300)), since(permuted), since(lambda own: 1 - own),
        since(lambda own: own / 100), since(shifted(3.0)), since(shifted(0.0, 3.0)), lambda own: own * np.nan,
        since(lambda own: 0.5 * own + 0.5 * permuted(own)),
    )  # fmt: skip
    for fault in faults:
        yield from candidates("feeds", changed(1, fault))
    panel = changed(1, since(shifted(3.0)))
    waiting = Panel(panel.reports[:700], panel.outcomes[:700])
    yield from candidates("feeds", waiting.with_pending(panel.reports[700:]))


def agents_of():
    base, rng = sound(cases=CASES), np.random.default_rng(1)
    for panel in (
        flipped(cases=CASES),
        sleeper(timed(sound(cases=CASES)), "agent2", at=0.3),
    ):
        yield from candidates("reversed reports", panel)
    yield from candidates("copies", copied(cases=CASES))
    noisy = Panel(np.c_[base.reports, rng.random(CASES)], base.outcomes)
    silent = Panel(np.c_[base.reports, np.full(CASES, 0.5)], base.outcomes)
    high = changed(4, shifted(3.0))
    low = Panel(
        np.c_[base.reports, np.clip(0.7 + base.reports[:, 0] ** 8, 0, 1)], base.outcomes
    )
    for panel in (noisy, silent, high, low):
        yield from candidates("harm", panel)
    yield from candidates("levels", rare(changed(1, shifted(8.0))))
    mild = temperature(base, "agent2", 2.5)
    for panel in (over_confident(cases=CASES), mild, high):
        yield from candidates("calibration", panel)
    for panel, costs in ((drifted(), COSTS), (drifted(), Costs(fn=1e-3))):
        yield from candidates("drift", panel, costs=costs)


def rare(panel):
    """The panel with few of its positive cases."""
    few = np.flatnonzero((panel.outcomes == 0) | (np.arange(len(panel)) % 20 == 0))
    return panel.take(few)


def many(cases=600):
    """Three classes: the first agent has two columns swapped, and all are too sure."""
    panel = random_panel(1, cases=cases, classes=3, skill=3.0)
    values = panel.reports.copy()
    values[:, 0] = values[:, 0][:, [0, 2, 1]]
    values[:, 1] = values[:, 1] * [3, 1, 1]
    values /= values.sum(axis=2, keepdims=True)
    region = {"region": np.resize(["A", "B"], cases)}
    late = np.where((np.arange(cases) > 300) & (panel.outcomes == 2), 0, panel.outcomes)
    return Panel(values, late, times=np.arange(cases), columns=region)


def classes_of():
    names = (
        "swapped classes",
        "calibration",
        "calibration of the pool",
        "outcome rate",
    )
    for name in (*names, "reversed reports", "harm"):
        yield from candidates(name, many(), costs=Costs())
    yield from candidates("bias within segments", many(), costs=Costs(), by="region")


def segments_of():
    for fault in ("noise", "only", "shift"):
        panel, rng = sound(cases=CASES), np.random.default_rng(0)
        where = np.resize(["A", "A", "B", "C"], CASES)
        values = panel.reports.copy()
        inside = np.flatnonzero(where == "A" if fault == "only" else where == "B")
        values[inside, 1] = values[rng.permutation(inside), 1]
        if fault == "only":
            inside = np.flatnonzero(where == "C")
            values[inside, 1] = values[rng.permutation(inside), 1]
        if fault == "shift":
            values = panel.reports.copy()
            values[inside, 1] = shifted(-3.0)(values[inside, 1])
        panel = Panel(values, panel.outcomes, columns={"region": where})
        for name in ("segments", "bias within segments"):
            yield from candidates(name, panel, by="region")


def pools_of():
    base = sound(cases=CASES)
    for line in (0.5, 0.22):
        yield from candidates("threshold in use", base, threshold=line)
    each = Costs(fn=np.linspace(1, 9, CASES), fp=1)
    for line in (0.5, 0.22):
        yield from candidates("threshold in use", base, costs=each, threshold=line)
    for name in ("thresholds", "comparison", "calibration of the pool"):
        yield from candidates(name, base)
    turned = Panel(np.c_[base.reports[:, 0], 1 - base.reports[:, 1:4]], base.outcomes)
    copies = temperature(base, "agent0", 0.4).reports[:, [0, 0, 0]]
    high = base.with_reports(shifted(2.0)(base.values))
    for panel in (turned, Panel(copies, base.outcomes), high):
        yield from candidates("calibration of the pool", panel)
    for share in ("5%", "100%"):
        yield from candidates("capacity", base, capacity=share)
    yield from candidates("diversity", sound(cases=CASES, correlation=0.95))
    yield from drifts(drifted())
    harder = sound(cases=CASES).reports.copy()
    harder[AT:] = 0.3 + 0.01 * harder[AT:]
    yield from drifts(Panel(harder, base.outcomes, times=np.arange(CASES)))


def drifts(panel):
    tests = candidates("drift", panel) + candidates("drift of the pool", panel)
    return explain_drift(select_findings(tests))


def outcomes_of():
    base = sound(cases=CASES)
    labels = np.where(base.outcomes == 1, "fraud", "legit")
    yield from candidates("outcome", Panel(base.reports, labels, positive="legit"))
    coin = np.random.default_rng(5).integers(0, 2, CASES)
    yield from candidates("outcome", Panel(base.reports, coin))
    alarms = base.reports.mean(axis=1) > COSTS.threshold
    known = np.random.default_rng(0).random(CASES) < np.where(alarms, 1.0, 0.3)
    some = Panel(base.reports[known], base.outcomes[known])
    some = some.with_pending(base.reports[~known])
    yield from candidates("selective labels", some)
    yield from candidates("selective labels", some, threshold=1.0)
    three = many()
    known = np.random.default_rng(0).random(600) < np.where(
        three.outcomes == 0, 0.3, 0.9
    )
    some = Panel(three.reports[known], three.outcomes[known])
    yield from candidates(
        "selective labels", some.with_pending(three.reports[~known]), costs=Costs()
    )
    yield from candidates("outcome rate", timed(base))
    position = evidence_of(timed(base)).position(900)
    yield late_outcomes.question(late_outcomes.LateOutcomes(900, position, 0.1, 0.01))
    for share in (0.0, 0.3):
        knows = np.c_[base.reports, share + (1 - share) * base.outcomes]
        (suspect,) = leaks.find_suspects(Panel(knows, base.outcomes))
        yield leaks.question(suspect, removed=True)
    alone = Panel(np.c_[base.outcomes, 0.2 + 0.6 * base.outcomes], base.outcomes)
    yield leaks.question(leaks.find_suspects(alone)[0], removed=False)


@cache
def made():
    """What checks yield for planted faults, by code and form."""
    found = {}
    for source in (feeds_of, agents_of, classes_of, segments_of, pools_of, outcomes_of):
        for one in source():
            found.setdefault((one.code, one.facts.get("form")), one)
    return found


def fields(one):
    return dict(zip(("agent", "other"), one.who, strict=False)) | one.facts


def is_filled(kind, code, known, **more):
    """Whether these facts fill the template of a code."""
    with suppress(KeyError):
        return not re.search(r"[{}]|\b(None|nan)\b", say(kind, code, {**known, **more}))
    return False


def test_every_template_of_a_finding_is_filled_by_what_a_check_found():
    """Of a form that no fault here has, with the facts of another form."""
    assert {code for code, _ in made()} == {*OWN["finding"]}
    for code, template in OWN["finding"].items():
        found = {form: one for (own, form), one in made().items() if own == code}
        for form in template if isinstance(template, dict) else found:
            some = [found[form]] if form in found else found.values()
            filled = [
                is_filled("finding", code, fields(one), form=form) for one in some
            ]
            assert any(filled), (code, form)
    assert {one.unit for one in made().values()} <= {"", *OWN["unit"]}


def noted(evidence, *steps):
    for step in steps:
        step(evidence)
    return evidence.sampling.notes


def notes_of(monkeypatch):
    """What is noted where cases are many, sorted, waiting, or seen before."""
    base, few = sound(cases=CASES), sound(cases=200)
    for module, name, value in (
        (drift, "DRIFT_CASES", 100), (drift, "find_spec", lambda name: None), (comparison, "LEARNING_CASES", 50),
        (credit, "WORK", 0), (credit, "FEWEST", 50),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    yield from noted(evidence_of(timed(few)), drift.drift_over_time)
    yield from noted(evidence_of(few), comparison.try_pools, credit.shapley_credit)
    for panel in (base, base.take(np.argsort(base.outcomes))):
        evidence = evidence_of(panel)
        list(feeds.check(evidence))
        yield from evidence.sampling.notes
    amounts = np.linspace(1, 9, CASES)
    waiting = base.with_pending(few.reports)
    panel, costs = Costs(fn=amounts, fp=1).attach(waiting)
    evidence = evidence_of(panel, costs=costs)
    list(selective_labels.check(evidence))
    yield from evidence.sampling.notes
    chance = Panel(base.reports, base.outcomes, propensity=np.full(CASES, 0.5))
    chance = chance.with_pending(few.reports)
    for settings in ({}, {"capacity": "10%"}):
        yield from audit(chance, costs=COSTS, resamples=20, **settings).notes
    learned = base.take(np.arange(400))
    pool = VCG(costs=COSTS).fit_panel(learned)
    yield from audit(base, pool=pool, resamples=20).notes
    pool.remember(learned)
    yield from audit(base, pool=pool, resamples=20).notes


def test_every_template_of_a_note_is_filled_by_what_was_noted(monkeypatch):
    found = {(one.code, one.facts.get("form")): one for one in notes_of(monkeypatch)}
    assert {code for code, _ in found} == {*OWN["note"]}
    assert {form for code, form in found if code == "pending"} == {
        *OWN["note"]["pending"]
    }
    for note in found.values():
        assert is_filled("note", note.code, note.facts), note


def test_every_template_of_a_dead_feed_is_filled_by_its_facts():
    values = sound(cases=CASES).reports.copy()
    values[AT:, 0], values[AT:, 1], values[:, 2], values[:, 3] = (
        0.05,
        np.nan,
        np.nan,
        0.5,
    )
    found = feeds.dead_feeds(Panel(values, sound(cases=CASES).outcomes))
    assert {feed.code for feed in found} == {*OWN["dead"]}
    for feed in found:
        assert is_filled("dead", feed.code, feed.facts, agent=feed.agent), feed


@pytest.mark.parametrize("kind", kinds.every().values(), ids=lambda kind: kind.code)
def test_every_kind_has_words_a_state_and_a_known_action(kind):
    words = catalogue()
    assert kind.code in words["finding"]
    assert kind.state in words["state"]
    assert kind.action in ("", *words["do"], *CURES)
    if "note" not in (kind.most, kind.at_least):  # a reason of the verdict
        assert kind.state in words[f"clause-{kind.subject}"]


def test_every_check_yields_codes_that_are_kinds_of_its_subject():
    """Those about the pool run on other evidence than those about agents."""
    for one in made().values():
        assert one.code in kinds.every()
        if isinstance(one, Candidate):
            about = kinds.every()[one.code].subject
            assert bool(one.who) == (about == "agent"), one.code
