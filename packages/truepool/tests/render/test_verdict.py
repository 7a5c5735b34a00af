import re
from dataclasses import replace
from html import unescape
from io import StringIO

import pytest
from example_audit import agent_summaries, audit, estimate, findings, recommendation
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from truepool.audits.values import Fix
from truepool.comparison import Estimate
from truepool.panel.labels import Labels
from truepool.render.actions import ACTIONS, FAULTS, removal
from truepool.render.html.audit import html as page
from truepool.render.tables.audit import markdown, show
from truepool.render.verdict import costs, rates, saving_label, sentence

NONE = {"withheld": ()}
UNCHANGED = {"pool": "mean", "cost": 0.22, "saving": None, "p_value": None}
OUT = (
    " To take ada out right away, pass `--ignore ada`; "
    "the saving shown is that of mean without its reports since the fault began."
)
BASIS = "in 569 cases with a known outcome from 5 agents"


def fixed(*fixes, **changes):
    """An audit whose recommendation is to fix these."""
    worst = min((f.severity for f in fixes), default=None)  # error before warning
    trust = {"error": "no", "warning": "with care", None: "yes"}[worst]
    text = recommendation(fixes=fixes, trust=trust, **changes)
    return audit(recommendation=text, **NONE)


def advice(text):
    return text.advice


def terminal(result):
    written = StringIO()
    show(result, Console(file=written, width=100))
    return written.getvalue()


def error(code, *who, saving=None, since=None):
    return Fix(code, who, "error", saving, since)


def warning(code, *who, saving=None, since=None):
    return Fix(code, who, "warning", saving, since)


# The verdict

PAIRS = (("ada", "bob"), ("dan", "eve"))


def test_errors_come_first():
    assert sentence(audit()) == (
        f"Do not trust this pool as it is: 2 errors and 3 warnings {BASIS}."
    )


@pytest.mark.parametrize(
    ("fixes", "words"),
    [
        ([error("drifted", "ada")], "until ada is fixed or left out"),
        ([error("biased", "ada")], "until ada is recalibrated"),
        (
            [error("drifted", "ada"), error("biased", "bob"), error("harmful", "cleo")],
            "until ada, bob and cleo are fixed or left out",
        ),
        ([error("drifted", "ada"), error("threshold")], "as it is"),
        ([error("copy", "ada", "bob")], "until ada or bob is left out"),
        (
            [error("copy", "ada", "bob", saving=estimate(-0.05, 0.2))],
            "until it is clear why ada and bob report the same",
        ),
        (
            [
                error("drifted", "cleo"),
                *(error("copy", *two, saving=estimate(-0.05, 0.2)) for two in PAIRS),
            ],
            "until cleo is fixed or left out and it is clear why ada and bob and why "
            "dan and eve report the same",
        ),
    ],
)
def test_the_verdict_names_the_agents_where_they_alone_are_at_fault(fixes, words):
    text = sentence(fixed(*fixes, **UNCHANGED))
    assert text.startswith(f"Do not trust this pool {words}: ")


def test_a_pool_that_is_kept_is_fine_apart_from_the_agent():
    result = fixed(error("constant-feed", "ada"), **UNCHANGED)
    assert "fine" not in sentence(result)  # there are warnings too
    errors = tuple(f for f in result.findings if f.severity == "error")
    bare = replace(result, findings=errors)
    assert sentence(bare).endswith(". Apart from that, mean is fine.")
    assert "fine" not in sentence(fixed(error("constant-feed", "ada")))
    off = replace(recalibration("biased-pool", saves=0.0), cause=("drifted", "ada"))
    assert "fine" not in sentence(replace(bare, findings=(*errors, off)))
    for low, fine in ((0.001, True), (0.0, False)):  # against one decision for all
        plan = replace(bare.recommendation, constant_saving=Estimate(0.06, low, 0.2))
        text = sentence(replace(bare, recommendation=plan))
        assert text.endswith("Apart from that, mean is fine.") == fine
    wary = fixed(error("drifted", "ada"), warning("under-confident-pool"), **UNCHANGED)
    assert "fine" not in sentence(wary)


def test_warnings_ask_for_care():
    one = audit(findings=findings()[3:4])
    assert sentence(one) == (
        f"Use this pool with care: 1 warning {BASIS}. stacked-lr costs "
        "significantly less."
    )
    result = replace(one, recommendation=replace(one.recommendation, **UNCHANGED))
    assert sentence(result) == f"Use this pool with care: 1 warning {BASIS}."


def test_notes_speak_against_nothing():
    quiet = audit(findings=findings()[5:], **NONE)
    result = replace(quiet, recommendation=replace(quiet.recommendation, **UNCHANGED))
    basis = f"no error and no warning {BASIS}."
    finds = "It finds 96.0 % to 99.0 % of the positive cases."
    assert sentence(result) == f"No problems found with this pool: {basis} {finds}"
    assert sentence(quiet) == (
        f"No fault was found, but stacked-lr costs significantly less than mean: {basis}"
    )


def test_no_finding_is_not_praise_where_something_was_withheld():
    assert sentence(audit(findings=())).endswith(
        "5 agents, but not everything could be tested."
    )


def test_too_few_cases_are_no_praise_either():
    few = (("calibration", "at least 30 outcomes are needed, got 20"),)
    text = recommendation(fixes=(), trust="unknown", pool=None)
    assert sentence(audit(findings=(), withheld=few, recommendation=text)) == (
        "Too little is known to judge this pool: at least 30 outcomes are needed, got 20."
    )
    assert sentence(audit(withheld=few)).startswith("Do not trust this pool")


# The advice


def test_an_error_is_fixed_before_anything_else():
    text = fixed(
        error("drifted", "ada", saving=estimate(0.09)), error("copy", "a", "b")
    )
    assert advice(text) == (
        "Before anything else, take ada out of the pool or fix its feed (saves 0.0900 "
        "per case, in false alarms); leave out a or b, which report the same."
        f"{OUT} Until then, use "
        "stacked-lr: it costs 0.140 per case, mean 0.220 (569 cases, 5-fold "
        "cross-validation, with all agents as they are). That saves 0.0800 per case, the cost of 80 false alarms per "
        "1,000 cases (95 % interval 50 to 110; adjusted p = 0.004); it is the simplest "
        "of the pools that cost significantly less. Fit it again after the fix, and "
        "compare the pools again."
    )


def recalibration(code, *who, saves):
    found = findings()[0]
    return replace(found, code=code, who=who, cost=estimate(saves), severity="note")


@pytest.mark.parametrize(
    ("finding", "what"),
    [
        (recalibration("biased-pool", saves=0.3), "the pool"),
        (recalibration("over-confident", "ada", saves=0.3), "ada"),
        (recalibration("biased", "bob", saves=0.3), "bob"),
    ],
)
def test_why_a_feed_comes_before_a_larger_saving_is_said_with_both_amounts(
    finding, what
):
    dead = fixed(error("constant-feed", "ada", saving=estimate(0.09)))
    dead = replace(dead, findings=(finding,))
    text = advice(dead)
    assert text.startswith(
        "Before anything else, take ada out of the pool or fix its feed (saves 0.0900 "
        f"per case, in false alarms).{OUT} Recalibrating {what} would save more, 0.300 per "
        "case against 0.0900, but comes second: what is fitted to a broken feed must be "
        "fitted again once it is fixed. Until then, use stacked-lr: "
    )
    assert text.count("Recalibrating") == 1
    for shown in (dead.to_markdown(), page(dead), terminal(dead)):
        assert text.split(". ")[2] in " ".join(unescape(shown).split())


def test_a_feed_that_saves_most_needs_no_reason():
    dead = fixed(error("constant-feed", "ada", saving=estimate(0.09)))
    less = replace(dead, findings=(recalibration("biased-pool", saves=0.08),))
    assert "must be fixed before" not in advice(less)
    words = "Recalibrating mean on the other folds would save 0.0800"
    assert words in advice(less)


def test_recalibration_saves_more_only_than_everything_that_comes_first():
    """It was compared with the feed alone, and 0.3 called more than 0.4."""
    steps = error("unrelated", "bob", saving=estimate(0.4)), error("constant-feed", "a")
    dead = replace(fixed(*steps), findings=(recalibration("biased-pool", saves=0.3),))
    assert "would save more" not in advice(dead)


@pytest.mark.parametrize(
    ("savings", "words"),
    [
        ([estimate(0.005)], "0.300 per case (in false alarms) against 0.00500, but"),
        ([estimate(-0.2)], "0.300 per case, but"),
        ([None], "0.300 per case (in false alarms), but"),
        ([estimate(0.1), estimate(0.2)], "0.300 per case, but"),
    ],
)
def test_the_saving_of_a_feed_is_named_beside_it_where_there_is_one(savings, words):
    feeds = [
        error("constant-feed", who, saving=saving)
        for who, saving in zip(("ada", "bob"), savings, strict=False)
    ]
    dead = replace(fixed(*feeds), findings=(recalibration("biased-pool", saves=0.3),))
    assert f"Recalibrating the pool would save more, {words}" in advice(dead)


def test_the_recommended_pool_is_auto_and_the_alternative_says_why():
    text = advice(fixed(pool="auto", why="it learns how", alternative="best-agent", agent="ada",
                        alternative_cost=0.15, auto_saving=estimate(0.08)))  # fmt: skip
    assert text.startswith(
        "Use auto: it costs 0.140 per case (in false alarms), mean 0.220 ("
    )
    assert "not significantly less" not in text  # nobody tested that
    assert text.endswith(
        "The simplest pool within one standard error of auto is the best agent alone "
        "(ada), at 0.150 per case: use it if you need a rule that is easy to explain."
    )


@pytest.mark.parametrize(
    ("saving", "words"),
    [
        (
            estimate(-0.02),
            "auto would cost more than mean: the cost of 20 false alarms per 1,000 cases "
            "(95 % interval 10 to 30).",
        ),
        (
            estimate(0.005),
            "auto does not cost significantly less than mean (savings per 1,000 cases: "
            "5 false alarms, 95 % interval -5 to 15).",
        ),
        (
            estimate(-0.005),
            "auto does not cost significantly less than mean (savings per 1,000 cases: "
            "-5 false alarms, 95 % interval -15 to 5).",
        ),
        (
            estimate(0.028, 0.022),
            "auto would save the cost of 28 false alarms per 1,000 cases (95 % interval "
            "6 to 50), which is not significant after adjusting for the 9 pools tried "
            "(adjusted p = 0.072).",
        ),
        (estimate(0.0, 0.0), "auto would decide no case at another cost."),
    ],
)
def test_what_is_in_use_is_kept_where_auto_is_no_better(saving, words):
    text = advice(fixed(**UNCHANGED, auto_saving=saving, auto_p_value=0.072))
    assert text == (
        "Keep mean: at 0.220 per case (in false alarms; 569 cases, 5-fold "
        "cross-validation), none of the "
        f"9 other pools tried costs significantly less. {words}"
    )


def test_costs_of_dated_cases_are_on_later_cases_than_were_learned_from():
    text = advice(fixed(forward=True, tested=475))
    assert "(475 cases, 5 folds, each fitted to earlier cases only)" in text


def test_a_pool_is_kept_after_the_fix():
    text = advice(fixed(error("constant-feed", "ada"), **UNCHANGED))
    assert text.startswith("Before anything else, take ada out of the pool or fix its")
    assert (
        "Then keep mean: at 0.220 per case (in false alarms; 569 cases, 5-fold" in text
    )


def test_a_pool_at_fault_is_not_kept():
    text = advice(fixed(error("biased-pool"), **UNCHANGED))
    assert text.startswith(
        "Before anything else, recalibrate the pool, as `platt` does with the mean. None "
    )
    assert "eep mean" not in text


def test_another_pool_is_the_fix_of_a_pool_at_fault():
    text = advice(fixed(error("over-confident-pool")))
    assert text.startswith(
        "Use stacked-lr instead of mean, which is at fault: it costs"
    )


def test_a_saving_is_named_only_where_it_is_sure():
    unsure = fixed(error("reversed", "ada", saving=estimate(0.0)))
    assert "reverse its reports. To take ada out" in advice(unsure)


def test_warnings_come_after_the_pool():
    text = advice(fixed(warning("biased", "ada"), warning("drifted-pool", since=1500)))
    assert text.startswith("Use stacked-lr: ")
    assert " Also ask whoever runs ada to recalibrate it; find out what changed" in text


def test_one_action_is_named_once_with_what_it_saves():
    told = advice(fixed(
        error("constant-feed", "ada", saving=estimate(0.09)),
        error("changed-feed", "ada", saving=estimate(0.05)),
    ))  # fmt: skip
    assert told.count("take ada out of the pool") == 1
    assert f"(saves 0.0900 per case, in false alarms).{OUT} Until then" in told


def test_a_date_stands_beside_the_case():
    fix = Fix("drifted-pool", (), "warning", None, 1500, "2024-03-01")
    assert "around case 1,501 (2024-03-01)." in advice(fixed(fix))


def test_a_code_without_an_action_is_still_named():
    text = advice(fixed(error("odd", "ada"), warning("odder")))
    assert "Before anything else, look into ada (`odd`)." in text
    assert "Also look into the pool (`odder`)." in text


def test_too_few_cases_to_compare_are_said():
    text = advice(fixed(pool=None, usual_cost=None))
    assert text == (
        "Collect more cases with a known outcome: there are too few to compare pools."
    )


def test_the_best_agent_alone_is_named():
    assert "use the best agent alone (ada): " in advice(
        fixed(error("drifted", "bob"), pool="best-agent", agent="ada")
    )


def test_every_fault_that_can_be_grave_has_an_action():
    from truepool.audits.attribution import BECAUSE

    assert set(BECAUSE) <= set(ACTIONS)
    assert set(FAULTS) == set(ACTIONS)


# The same action on several agents, and the unit of the first cost


def test_agents_that_need_the_same_are_named_together():
    text = advice(fixed(
        warning("biased", "vendor_x", saving=estimate(0.05)),
        warning("harmful", "ada"),
        warning("over-confident", "gbm", saving=estimate(0.03)),
        **UNCHANGED,
    ))  # fmt: skip
    assert text.endswith(
        "Also ask whoever runs vendor_x and gbm to recalibrate them (saves per case: "
        "vendor_x 0.0500, gbm 0.0300); take ada out of the pool."
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("constant-feed", "take a, b and {c} out of the pool or fix their feeds"),
        ("stopped-feed", "find out why a, b and {c} stopped reporting"),
        ("rescaled-feed", "ask whether a, b and {c} were retrained or rescaled, and"),
        (
            "fails-in-segment",
            "in the segments where they fail, or fix their feeds there",
        ),
        ("misreport-gain", "pay every agent by a proper score of its own reports."),
    ],
)
def test_what_several_agents_need_is_in_the_plural(code, words):
    text = advice(fixed(*(error(code, who) for who in ("a", "b", "{c}"))))
    assert words in text
    assert text.count("out of the pool") <= 1


def test_pairs_of_copies_are_not_mixed_up():
    text = advice(fixed(error("copy", "a", "c"), error("copy", "b", "c")))
    assert (
        "leave out a or c, which report the same; leave out b or c, which report"
        in text
    )


def test_each_feed_that_costs_more_when_left_out_has_its_own_figure():
    dead = [
        error("constant-feed", who, saving=estimate(-0.05, 0.01)) for who in ("a", "b")
    ]
    text = fixed(*dead).steps[0]
    assert text.count("(leaving it out as it is would cost 0.0500 more per case") == 2


UNITS = [
    ({"fn": 10.0, "fp": 1.0}, 2, "in false alarms"),
    ({"fn": 500.0, "fp": 20.0}, 2, "in the unit of your costs"),
    ({"fn": 1.0, "fp": 1.0}, 4, "in errors"),
    ({"matrix": [[0, 1, 1], [4, 0, 1], [9, 1, 0]]}, 3, "in units of the cost matrix"),
]


@pytest.mark.parametrize(("costs_", "classes", "words"), UNITS)
def test_the_first_cost_names_its_unit_once(costs_, classes, words):
    result = replace(fixed(), costs=costs_, classes=classes)
    assert f"it costs 0.140 per case ({words}), mean 0.220 (" in advice(result)
    assert advice(result).count(f"({words}") == 1
    assert saving_label(result) == f"savings per case if fixed ({words})"


def test_a_currency_stands_at_every_cost_and_not_beside_another_unit():
    result = replace(fixed(), costs={"fn": 10.0, "fp": 1.0, "currency": "EUR"})
    assert "it costs 0.140 EUR per case, mean 0.220 EUR (" in advice(result)
    assert saving_label(result) == "savings per case if fixed (EUR)"


def test_a_saving_between_classes_names_its_unit():
    result = replace(fixed(), costs=UNITS[3][0], classes=3)
    assert "80 units of the cost matrix per 1,000 cases (95 % interval" in advice(
        result
    )


@pytest.mark.parametrize(
    ("agents", "words"),
    [(["ada"], "ada is fixed or left out where it fails"),
     (["ada", "bob"], "ada and bob are fixed or left out where they fail")],
)  # fmt: skip
def test_an_agent_that_fails_in_a_group_is_not_left_out_altogether(agents, words):
    faults = [error("fails-in-segment", who) for who in agents]
    assert f"until {words}:" in sentence(fixed(*faults))


def test_an_agent_that_fails_in_a_group_is_left_out_there_and_not_fixed():
    words = "savings per case if left out where it fails (in false alarms)"
    assert saving_label(audit(), "fails-in-segment") == words


@given(
    value=st.floats(-0.2, 0.2), half=st.floats(0, 0.2), p=st.floats(0, 1),
    other=st.booleans(),
)  # fmt: skip
def test_what_is_called_not_significant_beside_an_interval_without_0_is_adjusted(
    value, half, p, other
):
    plan = {} if other else UNCHANGED
    text = advice(fixed(**plan, auto_saving=estimate(value, half), auto_p_value=p))
    for clause in text.split(". "):
        ends = re.search(r"interval (-?[\d.,]+) to (-?[\d.,]+)", clause)
        if "not significant" in clause or "not statistically" in clause:
            low, high = (float(end.replace(",", "")) for end in ends.groups())
            assert low <= 0 <= high or "after adjusting for the 9 pools tried" in clause
        if "about the same" in clause:
            assert value - half <= 0 <= value + half


# Findings under their cause, and the header


def test_findings_stand_under_what_explains_them_at_the_root():
    one, two, three, *_ = findings()
    two = replace(two, cause=one.key)
    three = replace(three, cause=two.key)
    lost = replace(findings()[3], cause=("gone",))
    text = audit(findings=(one, two, three, lost))
    assert text.groups == ((one, (two, three)), (lost, ()))


def test_findings_that_explain_each_other_are_shown_once():
    one, two, *_ = findings()
    one, two = replace(one, cause=two.key), replace(two, cause=one.key)
    shown = [
        f for root, under in audit(findings=(one, two)).groups for f in (root, *under)
    ]
    assert sorted(f.code for f in shown) == sorted([one.code, two.code])


def test_costs_have_a_unit():
    assert costs(audit()).endswith("Costs are in false alarms.")
    assert costs(audit(costs={"fn": 500.0, "fp": 20.0})) == (
        "A missed case costs 500, a false alarm 20."
    )
    three = {"threshold": None, "classes": 3, "labels": Labels(("ok", "spam", "fraud"))}
    assert costs(audit(**three)) == (
        "Ok is the negative class: missing another costs 10, any other error 1."
    )
    matrix = {"fn": 9.0, "fp": 1.0, "matrix": [[0, 1, 1], [4, 0, 1], [9, 1, 0]]}
    assert "deciding ok when it is fraud" in costs(audit(**three, costs=matrix))
    assert "class 0 is the" in costs(audit(threshold=None, classes=3)).lower()


# What to fix first is what saves most


def test_a_pool_that_saves_more_comes_before_agents_to_recalibrate():
    small = error("under-confident", "ada", saving=estimate(0.05, 0.01))
    text = fixed(small)
    assert sentence(text).startswith("Do not trust this pool as it is: ")
    use, then = text.steps[:2]
    assert use.startswith("Use stacked-lr: ")
    assert then == (
        "Then ask whoever runs ada to recalibrate it, and compare the pools again."
    )


def test_an_agent_whose_recalibration_saves_more_than_a_pool_comes_first():
    large = error("under-confident", "ada", saving=estimate(0.1, 0.01))
    first, then = fixed(large).steps[:2]
    assert first == (
        "Before anything else, ask whoever runs ada to recalibrate it (saves 0.100 per "
        "case, in false alarms)."
    )
    assert then.startswith("Until then, use stacked-lr")


def test_what_saves_most_comes_first_and_of_equals_a_broken_feed():
    broken = error("drifted", "ada", saving=estimate(0.01, 0.001))
    large = error("over-confident", "bob", saving=estimate(0.2, 0.01))
    whose = OUT.replace("its", "ada's")
    assert fixed(broken, large).steps[0] == (
        "Before anything else, ask whoever runs bob to recalibrate it (saves 0.200 per "
        "case, in false alarms); take ada out of the pool or fix its feed (saves "
        f"0.0100 per case).{OUT}"
    )
    turned = error("reversed", "cleo", saving=estimate(0.3, 0.01))
    first, *_ = fixed(broken, turned).steps
    assert first.index("take cleo out") < first.index("take ada out")
    assert "pass `--ignore cleo --ignore ada`" in first
    assert (
        whose.partition(";")[2] in first
    )  # the saving of cleo is that of reversing it
    unsure = replace(broken, saving=estimate(0.0))
    first, *_ = fixed(error("harmful", "bob", saving=estimate(0.0)), unsure).steps
    assert first.index("take ada out") < first.index("take bob out")
    # What is fitted to a broken feed is fitted again once that is fixed.
    pool = error("threshold", saving=estimate(0.5, 0.01))
    first, *_ = fixed(pool, broken).steps
    assert first.index("take ada out") < first.index("decide at the threshold")


def test_the_verdict_names_three_broken_agents_and_counts_the_others():
    def until(*fixes):
        text = sentence(fixed(*fixes, **UNCHANGED))
        return text.partition("pool ")[2].partition(":")[0]

    dead = [error("constant-feed", name) for name in ("ada", "bob", "cleo", "dan")]
    assert until(*dead) == (
        "until ada, bob, cleo and 1 other agent are fixed or left out"
    )
    costs_more = error("constant-feed", "eve", saving=estimate(-0.1, 0.01))
    assert until(*dead, costs_more) == (
        "until ada, bob and cleo are fixed or left out and 2 other agents are fixed"
    )
    assert until(*dead[:3], costs_more) == (
        "until ada, bob and cleo are fixed or left out and 1 other agent is fixed"
    )
    pairs = [error("copy", *two, saving=estimate(-0.05, 0.2)) for two in PAIRS]
    assert until(*dead[:3], *pairs) == (
        "until ada, bob and cleo are fixed or left out and 1 other fault is dealt with"
    )
    turned = error("reversed", "eve", saving=estimate(0.3, 0.01))
    missed = error("constant-feed", "ada", saving=estimate(-0.1, 0.01))
    assert until(missed, turned) == "until eve is fixed or left out and ada is fixed"


def test_the_verdict_names_who_is_recalibrated_later_beside_a_broken_feed():
    dead = error("constant-feed", "ada")
    off = error("biased", "bob", saving=estimate(0.05, 0.01))  # a pool saves 0.08
    assert sentence(fixed(off, dead)).startswith(
        "Do not trust this pool until ada is fixed or left out and bob is recalibrated:"
    )


def test_who_is_reversed_is_not_recalibrated_and_a_cost_says_of_what():
    turned = error("reversed", "ada", saving=estimate(0.09))
    also = replace(fixed(turned), findings=(recalibration("biased", "ada", saves=0.3),))
    assert "Recalibrating" not in advice(also)
    worse = error("reversed", "ada", saving=estimate(-0.1, 0.01))
    assert (
        "ask which class ada means by 1 (reversing its reports alone would cost 0.100 "
        "more per case"
    ) in advice(fixed(worse))
    since = error("reversed", "ada", saving=estimate(-0.1, 0.01), since=7)
    assert "leaving it out as it is would cost 0.100 more" in advice(fixed(since))


def test_an_agent_comes_before_the_pool_even_where_that_saves_more():
    agent = error("under-confident", "ada", saving=estimate(0.05, 0.01))
    pool = warning("under-confident-pool", saving=estimate(0.2, 0.01))
    first, *others = fixed(agent, pool, **UNCHANGED).steps
    assert first == (
        "Before anything else, ask whoever runs ada to recalibrate it (saves 0.0500 per case, in false "
        "alarms); recalibrate the pool, as `platt` does with the mean (saves 0.200 per case)."
    )
    assert not any("recalibrate" in step for step in others)


def test_a_recalibration_that_is_not_significant_among_the_pools_saves_nothing():
    """One step kept the mean against `platt`, and the next said what `platt` saves."""
    fault = warning("under-confident-pool", saving=estimate(0.2, 0.01))
    sure = fixed(fault, **UNCHANGED)
    assert "(saves 0.200 per case" in sure.steps[-1]
    tests = [replace(one, holm=0.336) for one in sure.significance]
    unsure = replace(sure, significance=tuple(tests))
    assert unsure.steps[-1] == (
        "Also recalibrate the pool, as `platt` does with the mean (for its "
        "probabilities; decisions do not get significantly cheaper)."
    )
    also = replace(fixed(), findings=(recalibration("biased-pool", saves=0.2),))
    assert "Recalibrating mean" in advice(also)
    assert "Recalibrating mean" not in advice(replace(also, significance=tuple(tests)))
    dead = error("constant-feed", "ada", saving=estimate(0.01))
    first = replace(also, recommendation=fixed(dead).recommendation)
    assert "would save more" in advice(first)
    assert "would save" not in advice(replace(first, significance=tuple(tests)))


def test_who_is_taken_out_is_not_recalibrated_as_well():
    dead = error("constant-feed", "ada", saving=estimate(0.01, 0.001))
    off = error("over-confident", "ada", saving=estimate(0.05, 0.01))
    text = advice(fixed(off, dead))
    assert "take ada out of the pool" in text
    assert "recalibrate" not in text


def test_what_costs_more_is_not_advised():
    dead = error("constant-feed", "ada", saving=estimate(-0.05, 0.01))
    assert fixed(dead).steps[0] == (
        "Before anything else, have the feed of ada fixed (leaving it out as it is "
        "would cost 0.0500 more per case, in false alarms)."
    )
    copy = error("copy", "ada", "bob", saving=estimate(-0.05, 0.01))
    assert fixed(copy).steps[0] == (
        "Before anything else, find out why ada and bob report the same."
    )


def test_what_may_cost_more_or_less_is_not_said_to_cost_more():
    turned = error("reversed", "ada", saving=estimate(-0.05, 0.2))
    assert fixed(turned).steps[0] == (
        "Before anything else, take ada out of the pool or reverse its reports. To "
        "take ada out right away, pass `--ignore ada`."
    )


def test_a_copy_is_left_out_unless_that_costs_more_on_these_cases():
    copy = error("copy", "ada", "bob", saving=estimate(0.05, 0.2))
    assert fixed(copy).steps[0] == (
        "Before anything else, leave out ada or bob, which report the same."
    )
    copy = error("copy", "ada", "bob", saving=estimate(-0.05, 0.2))
    assert fixed(copy).steps[0] == (
        "Before anything else, find out why ada and bob report the same."
    )


def test_what_recalibrating_the_pool_saves_stands_beside_the_better_pool():
    pool = replace(
        findings()[0], code="under-confident-pool", who=(), cost=estimate(0.2, 0.01)
    )
    words = " Recalibrating mean on the other folds would save 0.200 per case."
    found = replace(fixed(), findings=(pool,))
    assert words in found.advice
    assert words not in fixed().advice
    dated = replace(found, recommendation=replace(found.recommendation, forward=True))
    assert words.replace("the other folds", "earlier cases") in dated.advice


def test_agents_to_recalibrate_are_named_once_and_together():
    large = error("biased", "ada", saving=estimate(0.05, 0.01))
    small = warning("biased", "bob", saving=estimate(0.001, 0.01))
    text = advice(fixed(large, small))
    assert "Then ask whoever runs ada and bob to recalibrate them, and" in text
    assert text.count("recalibrate") == 1


def test_an_alternative_that_costs_less_is_said_to():
    settings = {"pool": "auto", "alternative": "extremized", "alternative_cost": 0.1}
    assert (
        "is extremized, at 0.100 per case, less than auto but not significantly so: use"
        in advice(fixed(**settings))
    )


def test_auto_that_saves_less_than_the_recommended_pool_is_said_to():
    text = advice(fixed(auto_saving=estimate(0.05, 0.01)))
    assert " auto would save less than stacked-lr: the cost of 50 false alarms" in text


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"forward": True, "grouped": True}, "5 folds over time and groups, each "
         "fitted to earlier cases of other groups only"),
        ({"forward": True}, "5 folds, each fitted to earlier cases only"),
        ({"grouped": True}, "5-fold cross-validation, no group in two folds"),
        ({}, "569 cases, 5-fold cross-validation)"),
    ],
)  # fmt: skip
def test_how_costs_were_validated_is_said(settings, words):
    assert words in fixed(**settings).advice


# Every dash has its reason


def test_a_missing_slope_has_its_reason_below_the_table():
    why = "the reports separate nearly all positive from negative cases"
    result = audit()
    rows = [replace(one, slope=None, no_slope=why) for one in result.calibration[-2:]]
    result = replace(result, calibration=(*result.calibration[:-2], *rows))
    names = "; ".join(one.who for one in rows)
    text = f"No slope ({names}): {why}."
    for shown in (result.to_markdown(), page(result), terminal(result)):
        assert text in " ".join(unescape(shown).split())


# Taking an agent out


def test_verdict_and_advice_agree_on_whether_a_dead_feed_may_be_left_out():
    unsure = fixed(error("constant-feed", "ada", saving=Estimate(-0.01, -0.05, 0.03)))
    assert "until ada is fixed or left out" in unsure.verdict
    assert "take ada out of the pool or fix its feed" in unsure.advice
    sure = fixed(error("constant-feed", "ada", saving=Estimate(-0.04, -0.05, -0.03)))
    assert "until ada is fixed:" in sure.verdict
    assert "have the feed of ada fixed" in sure.advice


def test_the_option_that_takes_a_broken_feed_out_stands_beside_the_advice():
    sick, *_ = audit().agents
    dead = fixed(error("constant-feed", sick, saving=estimate(0.09)))
    first, second = dead.steps[:2]
    assert first.endswith(
        f" To take {sick} out right away, pass `--ignore {sick}`; the "
        "saving shown is that of mean without its reports since the fault began."
    )
    assert "cross-validation, with all agents as they are)" in second
    assert "as they are" not in fixed().advice


def test_agents_are_taken_out_by_name_and_who_stays_in_has_no_option():
    feeds = [error("constant-feed", "ada"), error("changed-feed", "bob the 2nd")]
    many = [f"agent{i}" for i in range(9)]
    words = (
        " To take ada and bob the 2nd out right away, pass `--ignore ada --ignore "
        "'bob the 2nd'`."
    )
    assert removal(feeds, [*many, "ada"], "mean") == words
    assert removal(feeds, ["a,b", "cy", "ada"], "mean") == words
    assert removal(feeds, ["cy", "ada"], "mean") == ""  # nobody to pool with
    assert removal(feeds, ["ada"], "mean") == ""
    assert removal([error("biased", "ada")], many, "mean") == ""
    kept = error("constant-feed", "ada", saving=estimate(-0.05, 0.01))
    assert removal([kept], many, "mean") == ""


def test_what_is_used_until_a_feed_is_fixed_is_fitted_without_it():
    dead = error("constant-feed", "ada", saving=estimate(0.09))
    part = {"without": ("ada",), "without_cost": 0.1, "without_saving": estimate(0.12)}
    first, second = fixed(dead, **part).steps[:2]
    assert "pass `--ignore ada`" in first
    assert second == (
        "Until then, use stacked-lr, fitted without ada (`--ignore ada`): it costs "
        "0.100 per case, mean of all agents 0.220 (569 cases, 5-fold "
        "cross-validation). That saves 0.120 per case, the cost of 120 false alarms "
        "per 1,000 cases (95 % interval 110 to 130); it is the simplest of the pools "
        "that cost significantly less. Of all agents as they are, stacked-lr costs "
        "0.140 on the same cases. Fit it again after the fix, and compare the pools "
        "again."
    )
    dated = fixed(replace(dead, since=300), **part).steps[1]
    assert "before the fault" not in dated  # it costs less without the agent
    other = {"alternative": "median", "alternative_cost": 0.141}
    assert "median" not in fixed(dead, **part, **other).advice  # measured with ada
    unmeasured = fixed(dead, without=("ada",)).steps[1]
    assert unmeasured.startswith("Until then, use stacked-lr: it costs 0.140 per case")
    assert " Better fit it without ada (`--ignore ada`)." in unmeasured
    costs_more = error("constant-feed", "ada", saving=Estimate(-0.04, -0.05, -0.03))
    first, second = fixed(costs_more).steps[:2]
    assert "pass `" not in first
    assert second.startswith("Until then, use stacked-lr: ")
    assert "before anything is fitted" not in fixed(dead, costs_more).advice


@pytest.mark.parametrize(
    ("saving", "words"),
    [
        (
            Estimate(0.02, -0.01, 0.05),
            "That is not significantly less (savings per 1,000 cases: 20 false alarms, "
            "95 % interval -10 to 50).",
        ),
        (
            Estimate(-0.03, -0.05, -0.01),
            "That is more (savings per 1,000 cases: -30 false alarms, 95 % interval -50 "
            "to -10).",
        ),
    ],
)
def test_what_saves_nothing_for_sure_without_an_agent_is_not_called_a_saving(
    saving, words
):
    """A saving whose interval held 0 stood beside a lower cost with the dead feed."""
    dead = error("constant-feed", "ada", saving=estimate(0.09), since=300)
    part = {"without": ("ada",), "without_cost": 0.2, "without_saving": saving}
    text = fixed(dead, **part).steps[1]
    assert "That saves" not in text
    assert (
        f"{words} Of all agents as they are, stacked-lr costs 0.140 on the same cases, "
        "significantly less than mean, but 52.7 % of the tested cases came before the "
        "fault of ada, and no new case does. Fit it again"
    ) in text


def of_two(*fixes, missing=0.0, **changes):
    """An audit of ada and bob, whose recommendation is to fix these."""
    two = ("ada", "bob")
    whole = fixed(*fixes, **changes)
    summaries = agent_summaries(two)
    return replace(whole, agents=two, agent_summaries=summaries, missing=missing)


def test_where_one_agent_is_left_it_decides_alone():
    """No pool has one agent: `--ignore` refused what the first step said."""
    dead = error("constant-feed", "ada", since=300)
    result = of_two(dead, **UNCHANGED)
    assert sentence(result).startswith("Do not trust this pool until ada is fixed:")
    first, then = result.steps
    assert first == (
        "Before anything else, take ada out of the pool or fix its feed. To take ada "
        "out right away, decide by bob alone, the one agent left: 0.250 per case (in "
        "false alarms) on the 569 tested cases. mean costs 0.220 there, but 52.7 % of "
        "the tested cases came before the fault of ada, and no new case does."
    )
    assert then.startswith("After the fix, keep mean: at 0.220 per case")
    sparse = of_two(replace(dead, who=("bob",)), missing=0.1, **UNCHANGED).steps[0]
    assert "on the 526 tested cases that it reported on. mean costs 0.220 the" in sparse
    assert "before the fault" not in sparse  # ada alone costs less than the pool there


@pytest.mark.parametrize("code", ["copy", "harmful"])
def test_whoever_is_asked_to_leave_may_leave_one_agent(code):
    pair = ("ada", "bob") if code == "copy" else ("ada",)
    first, then = of_two(error(code, *pair), **UNCHANGED).steps
    assert "To take ada out right away, decide by bob alone, the one agent" in first
    assert then.startswith("After the fix, keep mean")
    missed = error(code, *pair, saving=estimate(-0.1))
    assert "alone" not in of_two(missed, **UNCHANGED).advice


def test_an_agent_at_fault_or_beaten_by_a_pool_is_not_said_to_decide_alone():
    dead = error("constant-feed", "ada")
    words = "fix its feed. Without ada only bob is left, which is no pool."
    assert of_two(dead).steps[0].endswith(words)
    leak = warning("leaked-outcome", "bob")
    assert words in of_two(dead, leak, **UNCHANGED).advice
    both = of_two(dead, error("constant-feed", "bob"), **UNCHANGED)
    assert sentence(both).startswith(
        "Do not trust this pool until ada and bob are fixed:"
    )
    assert both.steps[0].endswith(
        "Without ada and bob no agent is left: at least one is needed."
    )


def test_an_agent_without_any_relation_is_taken_out_and_never_recalibrated():
    plan = fixed(error("uninformative", "ada", saving=estimate(0.09)))
    assert plan.steps[0] == (
        "Before anything else, take ada out of the pool, or check its feed and how its "
        "reports are joined to the cases (saves 0.0900 per case, in false alarms). To "
        "take ada out right away, pass `--ignore ada`."
    )
    both = removal(
        [
            error("uninformative", "ada", saving=estimate(0.09)),
            error("constant-feed", "bob", saving=estimate(0.09)),
        ],
        ["ada", "bob", "cy", "di"],
        "mean",
    )
    assert both == (
        " To take bob and ada out right away, pass `--ignore bob --ignore ada`; the "
        "saving shown is that of mean without bob's reports since the fault began."
    )


# What was compared, and the numbers of nested notes


def test_how_many_pools_were_compared_and_where_there_are_more_is_said():
    result = audit()
    count = len(result.significance) + 1
    words = f"{count} pools are compared here, mean included; "
    for shown in (result.to_markdown(), page(result), terminal(result)):
        text = " ".join(unescape(re.sub("<.*?>", "", shown)).split())
        assert words in text
        assert "truepool compare" in text


def test_a_nested_note_has_its_number_on_the_page_too():
    root, other, *_ = findings()
    nested = replace(
        other, severity="note", cause=root.key, number=estimate(1.48, 0.48),
        unit="rise of its cost",
    )  # fmt: skip
    result = audit(findings=(root, nested))
    text = " ".join(unescape(page(result)).split())
    assert "(rise of its cost: 1.48 [1.00, 1.96])" in text


# What the pool finds


def test_recall_and_false_alarms_of_the_pool_in_use_and_the_recommended_one_are_stated():
    result = audit()
    assert result.recommendation.pool == "stacked-lr"
    said = rates(result)
    assert said == (
        "mean finds 96.0 % to 99.0 % (98.0 % seen) of the positive cases and raises a "
        "false alarm in 12.0 % to 18.0 % (15.0 % seen) of the negative ones (569 cases, "
        "none of which it was fitted on). stacked-lr finds 96.0 % to 99.0 % (98.0 % "
        "seen) of the positive cases and raises a false alarm in 12.0 % to 18.0 % "
        "(15.0 % seen) of the negative ones."
    )
    words = " ".join(terminal(result).split())
    assert said in words
    assert said in markdown(result)
    assert said in unescape(page(result))


def test_of_more_than_two_classes_the_recall_of_each_is_stated():
    whole = audit()
    shares = (0.9, 0.5, float("nan"))
    rows = tuple(replace(row, recalls=shares) for row in whole.comparison.rows)
    result = replace(
        whole,
        classes=3,
        labels=Labels(("benign", "scan", "worm")),
        comparison=replace(whole.comparison, classes=3, rows=rows),
        operations=(),
        recommendation=recommendation(**UNCHANGED),
    )
    assert rates(result) == (
        "mean decides correctly 90.0 % of benign and 50.0 % of scan (569 cases, none "
        "of which it was fitted on)."
    )


def test_without_a_comparison_no_recall_is_stated():
    assert rates(replace(audit(), comparison=None)) == ""
