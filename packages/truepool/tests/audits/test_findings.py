import pytest

from truepool.audits.candidate import Candidate
from truepool.audits.findings import select_findings
from truepool.audits.severity import BROKEN
from truepool.comparison import Estimate

SAVES, MAY = Estimate(0.2, 0.1, 0.3), Estimate(0.01, -0.1, 0.1)
NEGATIVE = Estimate(-0.2, -0.3, -0.1)


def candidate(code="biased", who=("ada",), p=1e-9, price=lambda: SAVES, **more):
    return Candidate(code, who, f"{code}.", "Fix it.", p_value=p, price=price, **more)


def severities(*candidates):
    return [(finding.code, finding.severity) for finding in select_findings(candidates)]


@pytest.mark.parametrize(
    ("p", "matters", "most", "price", "severity"),
    [
        (1e-6, True, "error", SAVES, "error"),
        (1e-6, True, "warning", SAVES, "warning"),
        (0.03, True, "error", SAVES, "warning"),
        (1e-6, False, "error", MAY, "note"),
        (1e-6, False, "error", SAVES, "warning"),
        (1e-6, True, "error", NEGATIVE, "note"),
    ],
)
def test_how_grave_a_finding_is(p, matters, most, price, severity):
    one = candidate(p=p, matters=matters, most=most, price=lambda: price)
    assert severities(one) == [("biased", severity)]


def test_what_is_not_significant_comes_to_nothing():
    assert select_findings([candidate(p=0.06)]) == ()


@pytest.mark.parametrize("code", BROKEN)
def test_a_broken_feed_is_an_error_by_its_code(code):
    assert severities(candidate(code, price=lambda: NEGATIVE)) == [(code, "error")]


def test_a_check_may_say_that_a_feed_is_broken():
    one = candidate("drifted", price=lambda: NEGATIVE, broken=True)
    assert severities(one) == [("drifted", "error")]


def test_every_question_asked_makes_the_others_less_sure():
    one = candidate(p=0.004)
    assert severities(one) == [("biased", "error")]
    idle = [candidate("copy", (name,), p=0.9) for name in "bcdefg"]
    assert severities(one, *idle) == [("biased", "warning")]
    assert select_findings([one, *idle])[0].p_value == pytest.approx(7 * 0.004)


def test_facts_need_no_test():
    fact = candidate("correlated", (), p=None, least="note", price=lambda: MAY)
    assert select_findings([fact])[0].cost == MAY
    assert (
        select_findings([candidate("correlated", (), None, None, least="note")])[0].cost
        is None
    )
    assert select_findings([candidate("correlated", (), p=None)]) == ()


def test_while_the_outcome_is_in_doubt_nothing_is_said_to_save_anything():
    doubt = candidate("reversed-labels", (), price=None)
    feed = candidate("constant-feed", ("ada",))
    copy = candidate("copy", ("bob", "cy"), price=lambda: NEGATIVE, backfires="Do not.")
    found = {f.code: f for f in select_findings([doubt, feed, copy, candidate()])}
    assert set(found) == {"reversed-labels", "constant-feed", "copy"}
    assert {f.cost for f in found.values()} == {None}
    assert found["copy"].advice == "Fix it."
    assert found["constant-feed"].severity == "error"


@pytest.mark.parametrize("price", [NEGATIVE, Estimate(-0.01, -0.1, 0.1)])
def test_what_leaving_a_copy_out_costs_is_not_advice_while_an_agent_is_broken(price):
    words = {"backfires": "Do not.", "indifferent": "Unclear.", "postponed": "Later."}
    copy = candidate("copy", ("bob", "cy"), price=lambda: price, **words)

    def advice(*others):
        found = {f.code: f for f in select_findings([copy, *others])}
        return found["copy"].advice

    assert advice() == advice(candidate("biased")) in ("Do not.", "Unclear.")
    assert advice(candidate("reversed")) == "Later."
    assert advice(candidate("constant-feed", minor=True, price=lambda: MAY)) != "Later."


def test_a_copy_that_is_worth_leaving_out_keeps_its_advice_beside_a_broken_agent():
    copy = candidate("copy", ("bob", "cy"), postponed="Later.")
    found = {f.code: f for f in select_findings([copy, candidate("reversed")])}
    assert found["copy"].advice == "Fix it."


def test_prices_are_asked_only_of_findings():
    def refuse():
        raise AssertionError("asked")

    assert select_findings([candidate(p=0.5, price=refuse)]) == ()


def test_the_gravest_then_feeds_then_what_saves_most_then_the_surest_come_first():
    result = select_findings([
        candidate("a", ("x",), price=lambda: Estimate(0.1, 0.05, 0.2)),
        candidate("b", ("y",)),
        candidate("c", ("z",), p=1e-20, price=None),
        candidate("reversed", ("w",), p=1e-30, price=lambda: NEGATIVE),
        candidate("e", ("v",), most="warning"),
    ])  # fmt: skip
    assert [finding.code for finding in result] == ["reversed", "b", "a", "e", "c"]


def test_advice_that_would_cost_more_is_not_given():
    warned = {"backfires": "It costs more."}
    bad = candidate(price=lambda: NEGATIVE, **warned)
    assert select_findings([bad])[0].advice == "It costs more."
    doubtful = candidate(price=lambda: Estimate(-0.1, -0.4, 0.2), **warned)
    assert select_findings([doubtful])[0].advice == "Fix it."
    assert (
        select_findings([candidate(price=lambda: MAY, **warned)])[0].advice == "Fix it."
    )
    assert select_findings([candidate(price=lambda: NEGATIVE)])[0].advice == "Fix it."


@pytest.mark.parametrize("code", ["constant-feed", "changed-feed", "drifted"])
def test_a_report_that_says_nothing_is_kept_only_where_leaving_it_out_costs_more(code):
    warned = {"backfires": "It costs more."}
    doubtful = candidate(code, price=lambda: Estimate(-0.1, -0.4, 0.2), **warned)
    assert select_findings([doubtful])[0].advice == "Fix it."
    sure = candidate(code, price=lambda: NEGATIVE, **warned)
    assert select_findings([sure])[0].advice == "It costs more."


def test_a_finding_keeps_the_date_of_its_change():
    assert select_findings([candidate("drifted", since=228)])[0].since == 228


def test_what_another_finding_explains_names_it_as_its_cause():
    result = select_findings(
        [candidate("biased"), candidate("drifted"), candidate("biased", ("bob",))]
    )
    assert {f.key: f.cause for f in result} == {
        ("drifted", "ada"): (),
        ("biased", "ada"): ("drifted", "ada"),
        ("biased", "bob"): (),
    }


@pytest.mark.parametrize(
    ("price", "words"),
    [
        (Estimate(0.02, 0.01, 0.03), "Do it."),
        (Estimate(0.01, -0.01, 0.03), "No difference."),
        (Estimate(0.0, -0.02, 0.02), "No difference."),
        (Estimate(-0.01, -0.03, 0.01), "No difference."),
        (Estimate(-0.02, -0.03, -0.01), "Do not."),
    ],
)
def test_a_fix_is_said_to_cost_more_only_where_its_whole_interval_does(price, words):
    advice = {"backfires": "Do not.", "indifferent": "No difference."}
    doubtful = Candidate(
        "biased", ("ada",), "ada is biased.", "Do it.", p_value=1e-6,
        price=lambda: price, **advice,
    )  # fmt: skip
    (found,) = select_findings([doubtful])
    assert found.advice == words
    assert (found.severity == "note") == (price.high < 0)


@pytest.mark.parametrize("code", ["copy", "reversed", "fails-in-segment"])
def test_without_words_for_doubt_the_plain_advice_stands(code):
    def advice(price):
        one = Candidate(code, ("ada", "bob"), "It is so.", "Do it.", p_value=1e-6,
                        price=lambda: price, backfires="Do not.")  # fmt: skip
        (found,) = select_findings([one])
        return found.advice

    assert advice(Estimate(-0.01, -0.03, 0.01)) == "Do it."
    assert advice(Estimate(-0.02, -0.03, -0.01)) == "Do not."


def test_recalibration_that_makes_no_significant_difference_is_not_called_harmful():
    from truepool.audits.miscalibration import BACKFIRES, INDIFFERENT

    assert "makes no significant difference" in INDIFFERENT
    assert "relies on it" not in BACKFIRES + INDIFFERENT


def test_which_outcomes_are_known_comes_before_agents_and_these_before_the_pool():
    pool = candidate("worse-than-best", most="warning")
    agent = candidate("fails-in-segment", ("bob",), price=lambda: MAY)
    outcomes = candidate("selective-labels", (), price=lambda: None, most="warning")
    found = [f.code for f in select_findings([pool, agent])]
    assert found == ["fails-in-segment", "worse-than-best"]
    assert select_findings([pool, agent, outcomes])[0].code == "selective-labels"


def test_where_outcomes_are_selective_no_pool_is_said_to_cost_more_for_sure():
    pool = candidate("worse-than-best", ("ada",), 1e-9)
    outcomes = candidate("selective-labels", (), 1e-9, lambda: None)
    found = {f.code: f for f in select_findings([pool, outcomes])}
    assert found["worse-than-best"].severity == "note"
    assert found["worse-than-best"].cause == ("selective-labels",)


def test_what_follows_a_change_of_unit_waits_for_the_unit():
    """The agent's later reports are in another unit: nothing else can be said of them."""
    unit = candidate("rescaled-feed", ("ada",), since=100, between=(95, 105))
    worse = candidate("drifted", ("ada",), since=300, between=(250, 350))
    earlier = candidate("drifted", ("bob",), since=50, between=(40, 60))
    other = candidate("rescaled-feed", ("bob",), since=300, between=(290, 310))
    found = {
        (f.code, *f.who): f for f in select_findings([unit, worse, earlier, other])
    }
    assert found["drifted", "ada"].severity == "note"
    assert found["drifted", "ada"].cause == ("rescaled-feed", "ada")
    assert found["drifted", "bob"].severity == "error"
