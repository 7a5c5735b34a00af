"""From candidates to findings: adjusted for all tests together, then graded."""

import numpy as np
import pytest
from faults import sound

from truepool.audits import findings, kinds
from truepool.audits.candidate import Candidate
from truepool.audits.findings import minor_agents, scaled, select_findings, severity
from truepool.comparison import Estimate
from truepool.panel.panel import Panel

SAVES, MAY = Estimate(0.2, 0.1, 0.3), Estimate(0.01, -0.1, 0.1)
NOTHING, BACKFIRES = Estimate(0.0, 0.0, 0.0), Estimate(-0.2, -0.3, -0.1)
BROKEN = [one.code for one in kinds.TABLE if one.broken and one.subject == "agent"]


def candidate(code="biased", who=("ada",), p=1e-9, price=lambda: SAVES, **more):
    return Candidate(code, who, p_value=p, price=price, **more)


def found(*candidates, **settings):
    return [finding for _, finding in select_findings(candidates, **settings)]


def grades(*candidates, **settings):
    return {(f.code, *f.who): f.severity for f in found(*candidates, **settings)}


# Severity


@pytest.mark.parametrize(
    ("p", "grade"),
    [(0.0099, "error"), (0.01, "warning"), (0.0499, "warning"), (0.05, None)],
)
def test_how_sure_a_test_must_be(p, grade):
    assert severity(p, SAVES) == grade
    assert severity(p, BACKFIRES, broken=True) == grade


def test_without_a_test_there_is_no_severity():
    assert severity(None, SAVES, broken=True) is None


@pytest.mark.parametrize(
    ("saving", "grade"),
    [
        (SAVES, "error"),
        (MAY, "warning"),
        (None, "warning"),
        (NOTHING, "note"),
        (BACKFIRES, "note"),
    ],
)
def test_an_error_saves_money_and_what_costs_nothing_is_a_note(saving, grade):
    assert severity(1e-9, saving) == grade


@pytest.mark.parametrize("saving", [SAVES, MAY, None, NOTHING, BACKFIRES])
def test_a_broken_feed_is_an_error_whatever_it_costs(saving):
    assert severity(1e-9, saving, broken=True) == "error"


@pytest.mark.parametrize(
    ("saving", "grade"), [(SAVES, "warning"), (MAY, "note"), (None, "note")]
)
def test_a_small_fault_is_at_most_a_warning(saving, grade):
    assert severity(1e-9, saving, matters=False) == grade
    assert severity(1e-9, saving, matters=False, broken=True) == grade


@pytest.mark.parametrize("name", ["SURE", "LIKELY"])
def test_at_a_looser_level_chance_alone_finds_faults(monkeypatch, name):
    """Audits of thirty tests, none of which has anything to find."""
    rng = np.random.default_rng(0)

    def share():
        audits = [
            found(*(candidate(who=(f"a{i}",), p=p) for i, p in enumerate(rng.random(30))))
            for _ in range(300)
        ]  # fmt: skip
        grade = "error" if name == "SURE" else "warning"
        return np.mean([any(f.severity == grade for f in one) for one in audits])

    usual = {"SURE": 0.01, "LIKELY": 0.04}[name]
    # Of 300 audits, four standard errors.
    assert share() <= usual + 4 * (usual * (1 - usual) / 300) ** 0.5
    monkeypatch.setattr(findings, name, 0.2 if name == "SURE" else 0.5)
    if name == "SURE":
        monkeypatch.setattr(findings, "LIKELY", 0.2)
    assert share() >= 3 * usual


# Selection


def test_what_is_not_significant_comes_to_nothing():
    assert found(candidate(p=0.06)) == []


def test_every_question_asked_makes_the_others_less_sure():
    one = candidate(p=0.004)
    assert grades(one) == {("biased", "ada"): "error"}
    idle = [candidate("copy", (name,), p=0.9) for name in "bcdefg"]
    (only,) = found(one, *idle)
    assert (only.severity, only.p_value) == ("warning", pytest.approx(7 * 0.004))


def test_facts_need_no_test():
    fact = candidate("correlated", (), p=None, least="note", price=lambda: MAY)
    assert found(fact)[0].saving == scaled(MAY, 1000)
    assert found(Candidate("correlated", least="note"))[0].saving is None
    assert found(candidate("correlated", (), p=None)) == []


@pytest.mark.parametrize("code", BROKEN)
def test_a_broken_feed_is_an_error_by_its_code_unless_that_is_capped(code):
    most = kinds.every()[code].most
    assert grades(candidate(code, price=lambda: BACKFIRES)) == {(code, "ada"): most}


def test_a_check_may_say_that_a_feed_is_broken():
    one = candidate("drifted", price=lambda: BACKFIRES, broken=True)
    assert grades(one) == {("drifted", "ada"): "error"}


def test_a_check_and_the_kind_may_cap_it():
    assert grades(candidate(most="warning")) == {("biased", "ada"): "warning"}
    assert grades(candidate("no-reports")) == {("no-reports", "ada"): "warning"}


def test_prices_are_asked_only_of_findings():
    def refuse():
        raise AssertionError("asked")

    assert found(candidate(p=0.5, price=refuse)) == []


def test_savings_are_per_thousand_cases():
    assert found(candidate())[0].saving == Estimate(200.0, 100.0, 300.0)


def test_while_the_outcome_is_in_doubt_only_what_needs_none_is_said_and_no_saving():
    doubt = candidate("reversed-labels", (), price=None)
    feed = candidate("constant-feed")
    copy = candidate("copy", ("bob", "cy"), price=lambda: BACKFIRES)
    every = found(doubt, feed, copy, candidate())
    assert {f.code for f in every} == {"reversed-labels", "constant-feed", "copy"}
    assert {f.saving for f in every} == {None}
    assert grades(doubt, feed)["constant-feed", "ada"] == "error"
    # So it is while an agent may know the outcome.
    assert {f.code for f in found(feed, candidate(), doubt=True)} == {"constant-feed"}
    unsure = candidate("reversed-labels", (), p=0.2, price=None)
    assert {f.code for f in found(unsure, candidate())} == {"biased"}


def test_the_gravest_then_what_saves_most_then_the_surest_come_first():
    every = found(
        candidate("biased", ("x",), price=lambda: Estimate(0.1, 0.05, 0.2)),
        candidate("biased", ("y",)),
        candidate("biased", ("z",), p=1e-20, price=lambda: Estimate(0.1, 0.05, 0.2)),
        candidate("reversed", ("w",), p=1e-30, price=lambda: BACKFIRES),
        candidate("biased", ("v",), most="warning"),
    )
    assert [f.who[0] for f in every] == ["y", "z", "x", "w", "v"]


def test_a_finding_keeps_the_date_of_its_change():
    one = found(candidate("drifted", since=228, date="2026-03-01"))[0]
    assert (one.since, one.date) == (228, "2026-03-01")


# One of very many agents


def crowd(cases=400, agents=60):
    """One agent reports on every case, the others on one in a hundred."""
    panel = sound(1, cases, skills=[1.0] * 3)
    rng = np.random.default_rng(0)
    reports = np.full((cases, agents), np.nan)
    reports[:, 0] = panel.reports[:, 0]
    rare = rng.random((cases, agents - 1)) < 0.01
    reports[:, 1:][rare] = rng.random(rare.sum())
    return Panel(reports, panel.outcomes)


def test_who_gives_few_of_the_reports_is_graded_by_what_its_fault_costs():
    panel = crowd()
    minor = minor_agents(panel)
    assert minor == set(panel.agents[1:])
    dead = candidate("constant-feed", ("agent5",), price=lambda: MAY)
    major = candidate("constant-feed", ("agent0",), price=lambda: MAY)
    assert grades(dead, major, minor=minor) == {
        ("constant-feed", "agent0"): "error", ("constant-feed", "agent5"): "warning",
    }  # fmt: skip
    silent = Candidate("no-reports", ("agent5",), least="warning")
    assert grades(silent, minor=minor) == {("no-reports", "agent5"): "warning"}


def test_at_a_larger_share_one_of_five_equal_agents_would_not_count(monkeypatch):
    five = sound(0, 100)
    assert minor_agents(five) == set()
    monkeypatch.setattr(findings, "MINOR", 0.25)
    assert minor_agents(five) == set(five.agents)
