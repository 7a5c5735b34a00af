import pytest

from truepool.audit.suspicion import BACKFIRES, BECAUSE, CAUSES, Suspicion, found
from truepool.comparison import Estimate

DEAR, CHEAP = Estimate(0.2, 0.1, 0.3), Estimate(0.01, -0.1, 0.1)


def suspect(code="biased", who=("ada",), p=1e-9, **more):
    return Suspicion(code, who, f"{code}.", "Mend it.", p_value=p, **more)


def severities(*suspicions):
    return [(finding.code, finding.severity) for finding in found(suspicions)]


@pytest.mark.parametrize(
    ("p", "matters", "most", "severity"),
    [
        (1e-6, True, "error", "error"),
        (1e-6, True, "warning", "warning"),
        (0.03, True, "error", "warning"),
        (1e-6, False, "error", "note"),
    ],
)
def test_how_grave_a_test_is(p, matters, most, severity):
    assert severities(suspect(p=p, matters=matters, most=most)) == [
        ("biased", severity)
    ]


def test_what_is_not_clear_comes_to_nothing():
    assert found([suspect(p=0.06)]) == ()


def test_a_small_fault_that_is_dear_is_a_warning():
    assert severities(suspect(matters=False, price=lambda: DEAR))[0][1] == "warning"
    assert severities(suspect(matters=False, price=lambda: CHEAP))[0][1] == "note"


def test_every_question_asked_makes_the_others_less_sure():
    one = suspect(p=0.004)
    assert severities(one) == [("biased", "error")]
    idle = [suspect("copy", (name,), p=0.9) for name in "bcdefg"]
    assert severities(one, *idle) == [("biased", "warning")]
    assert found([one, *idle])[0].p_value == pytest.approx(7 * 0.004)


def test_facts_need_no_test():
    fact = suspect("alike", (), p=None, least="note", price=lambda: CHEAP)
    assert found([fact])[0].cost == CHEAP
    assert found([suspect("alike", (), p=None, least="note")])[0].cost is None
    assert found([suspect("alike", (), p=None)]) == ()


def test_prices_are_asked_only_of_findings():
    def refuse():
        raise AssertionError("asked")

    assert found([suspect(p=0.5, price=refuse)]) == ()


def test_the_gravest_then_the_dearest_then_the_clearest_come_first():
    told = found([
        suspect("a", ("x",), price=lambda: CHEAP),
        suspect("b", ("y",), price=lambda: DEAR),
        suspect("c", ("z",), p=1e-20),
        suspect("d", ("w",), p=1e-30, price=lambda: Estimate(-0.2, -0.3, -0.1)),
        suspect("e", ("v",), most="warning", price=lambda: DEAR),
    ])  # fmt: skip
    assert [finding.code for finding in told] == ["b", "a", "d", "c", "e"]


@pytest.mark.parametrize("cause", ["upside-down", "drifted", "copy"])
def test_one_cause_makes_one_finding(cause):
    told = found([suspect("biased"), suspect(cause), suspect("biased", ("bob",))])
    grades = {(f.code, f.who): f.severity for f in told}
    assert grades == {
        (cause, ("ada",)): "error",
        ("biased", ("ada",)): "note",
        ("biased", ("bob",)): "error",
    }
    assert told[-1].sentence == (
        f"biased. Another finding may explain it: {BECAUSE[cause].format(who='ada')}."
    )


def test_an_earlier_cause_explains_a_later_one_and_never_itself():
    told = severities(suspect("drifted"), suspect("upside-down"))
    assert told == [("upside-down", "error"), ("drifted", "note")]


def test_who_is_copied_keeps_its_own_faults():
    copy = suspect("copy", ("bob", "ada"))
    told = severities(copy, suspect("biased", ("ada",)), suspect("biased", ("bob",)))
    assert sorted(severity for _, severity in told) == ["error", "error", "note"]


def test_a_fault_of_the_pool_can_explain_an_agents():
    pool = suspect("threshold", ())
    harmed = suspect("harmful", explained_by=("threshold",))
    told = found([harmed, pool])
    assert told[1].sentence == (
        "harmful. Another finding may explain it: "
        "the threshold is not what the costs ask for."
    )
    assert severities(harmed) == [("harmful", "error")]


def test_an_agents_own_fault_explains_better_than_the_pools():
    pool, drift = suspect("threshold", ()), suspect("drifted")
    harmed = suspect("harmful", explained_by=("threshold",))
    whole = suspect("worse-than-best", ("bob",), explained_by=("threshold", "drifted"))
    said = {f.code: f.sentence for f in found([harmed, whole, pool, drift])}
    assert said["harmful"].endswith("may explain it: ada got worse.")
    assert said["worse-than-best"].endswith("may explain it: ada got worse.")


def test_notes_explain_nothing_and_need_no_explanation():
    note = suspect("upside-down", matters=False)
    assert severities(suspect("biased"), note) == [
        ("biased", "error"),
        ("upside-down", "note"),
    ]


def test_advice_that_backfires_says_so():
    bad = suspect(price=lambda: Estimate(-0.2, -0.3, -0.1))
    assert found([bad])[0].advice == "Mend it." + BACKFIRES


def test_every_cause_has_words():
    from truepool.audit.checks.pool_calibrated import AGENTS_FAULTS

    assert {*CAUSES, *AGENTS_FAULTS, "under-confident-pool", "threshold"} == set(
        BECAUSE
    )
